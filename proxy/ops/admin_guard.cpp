// The admin listener's guards.
#include "ops/admin_guard.hpp"

#include "core/fields.hpp"
#include "ops/json_text.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace onceward {

namespace {

// The host of a Host field or of an authority: without its port, and absent when it is none.
std::optional<std::string_view> host_of(std::string_view authority)
{
    std::string_view host = authority;
    std::string_view port;
    if (authority.starts_with('[')) {
        const auto end = authority.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        host = authority.substr(0, end + 1);
        port = authority.substr(end + 1);
    } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
        host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (!port.empty()) {
        const auto digits = port.substr(1);
        const bool number =
            std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (port[0] != ':' || digits.size() > 5 || !number) return std::nullopt;
    }
    return host;
}

// An Origin of ours: the scheme does not matter, host and port must be those that the request
// names.
bool is_same_origin(std::string_view origin, std::string_view host_field)
{
    const auto scheme = origin.find("://");
    return scheme != std::string_view::npos &&
           core::same_name(origin.substr(scheme + 3), host_field);
}

bool is_json(std::string_view content_type)
{
    auto type = content_type.substr(0, content_type.find(';'));
    while (type.ends_with(' '))
        type.remove_suffix(1);
    return core::same_name(type, "application/json");
}

}  // namespace

bool is_loopback_host(std::string_view host)
{
    if (core::same_name(host, "localhost")) return true;
    if (host.size() > 2 && host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(std::string(host), error);
    return !error && address.is_loopback();
}

std::optional<SideResponse> refuse_foreign(const SideRequest& request)
{
    const auto host_field = request.field("Host").value_or("");
    const auto host = host_of(host_field);
    if (request.count("Host") != 1 || !host || !is_loopback_host(*host)) {
        return admin_error(403, "foreign-host", "Host must be localhost or a loopback address");
    }
    for (const auto& [name, value] : request.fields) {
        const bool foreign_origin =
            core::same_name(name, "Origin") && !is_same_origin(value, host_field);
        const bool foreign_site =
            core::same_name(name, "Sec-Fetch-Site") && value != "same-origin" && value != "none";
        if (foreign_origin || foreign_site) {
            return admin_error(403, "foreign-origin", "requests of other sites are refused");
        }
    }
    if (request.method != "GET" && request.method != "POST") {
        auto refused = admin_error(405, "method-not-allowed", "only GET and POST are served");
        refused.fields.emplace_back("Allow", "GET, POST");
        return refused;
    }
    if (request.method == "POST" && (request.count("Content-Type") != 1 ||
                                     !is_json(request.field("Content-Type").value_or("")))) {
        return admin_error(415, "not-json", "send Content-Type: application/json");
    }
    return std::nullopt;
}

SideResponse admin_json(int status, std::string body)
{
    SideResponse response;
    response.status = status;
    response.content_type = "application/json";
    response.body = std::move(body);
    response.fields = {{"Cache-Control", "no-store"},
                       {"X-Content-Type-Options", "nosniff"},
                       {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                       {"Cross-Origin-Resource-Policy", "same-origin"}};
    return response;
}

SideResponse admin_error(int status, std::string_view code, std::string_view message)
{
    std::string body = "{\"error\":";
    append_json_string(body, code);
    body.append(",\"message\":");
    append_json_string(body, message);
    return admin_json(status, body.append("}\n"));
}

}  // namespace onceward
