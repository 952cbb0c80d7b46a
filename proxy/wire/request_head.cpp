// The strict check of a request head.
#include "wire/head_lines.hpp"

#include <algorithm>
#include <array>

namespace onceward::wire {

namespace {

using core::ProblemCode;

// Removing one of these on a client's word would change what the request means or who sends it
// (HTP-8).
constexpr std::array<std::string_view, 16> not_nominable{
    "Authorization",    "Content-Length",
    "Content-Type",     "Content-Encoding",
    "Cookie",           "Expect",
    "Forwarded",        "Host",
    "Trailer",          "Transfer-Encoding",
    "X-Forwarded-For",  "X-Forwarded-Proto",
    "X-Forwarded-Host", "X-HTTP-Method-Override",
    "X-HTTP-Method",    "X-Method-Override"};

Violation bad(std::string_view why)
{
    return Violation{.why = why};
}

bool is_visible(std::string_view text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; });
}

bool is_made_of(std::string_view text, std::string_view marks)
{
    return std::all_of(text.begin(), text.end(), [marks](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               marks.find(c) != std::string_view::npos;
    });
}

// What follows the host: nothing, or ":" and digits.
bool is_port(std::string_view text)
{
    return text.empty() ||
           (text.front() == ':' &&
            std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

// uri-host [":" port]: registered name, IPv4 or bracketed IPv6, as far as a routing decision could
// depend on it.
bool is_host(std::string_view host)
{
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        return end != std::string_view::npos && end > 1 &&
               is_made_of(host.substr(1, end - 1), ":.%") && is_port(host.substr(end + 1));
    }
    const auto colon = std::min(host.find(':'), host.size());
    return colon > 0 && is_made_of(host.substr(0, colon), "-._~%!$&'()*+;=") &&
           is_port(host.substr(colon));
}

std::optional<Violation> check_method(std::string_view method)
{
    if (!core::is_token(method) || method.size() > 32) return bad("the method is malformed");
    if (method == "CONNECT")
        return Violation{ProblemCode::not_implemented, "CONNECT is not implemented"};
    if (method == "TRACE")
        return Violation{ProblemCode::method_not_allowed, "TRACE is not allowed"};
    return std::nullopt;
}

// Leaves the origin-form in `target`, and the authority of an absolute-form in `host` (HTP-6).
std::optional<Violation> read_target(std::string_view text, RequestHead& head)
{
    if (!is_visible(text) || text.find('#') != std::string_view::npos) {
        return bad("the request target is malformed");
    }
    if (text.front() == '/' || (text == "*" && head.method == "OPTIONS")) {
        head.target = text;
        return std::nullopt;
    }
    constexpr std::string_view scheme = "http://";
    if (!core::same_name(text.substr(0, scheme.size()), scheme)) {
        return bad("the request target is neither a path nor an http URL");
    }
    const auto rest = text.substr(scheme.size());
    const auto slash = rest.find_first_of("/?");
    const auto authority = rest.substr(0, slash);
    if (!is_host(authority)) return bad("the authority of the request target is malformed");
    head.host = authority;
    const auto path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    head.target = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
    return std::nullopt;
}

std::optional<Violation> read_start_line(std::string_view line, const HeadLimits& limits,
                                         RequestHead& head)
{
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
        return bad("the request line is malformed");
    const auto target = line.substr(first + 1, last - first - 1);
    if (target.empty() || target.find(' ') != std::string_view::npos) {
        return bad("the request line is malformed");
    }
    const auto minor = http_minor(line.substr(last + 1));
    if (!minor) return bad("the HTTP version is not 1.0 or 1.1");
    if (target.size() > limits.target_max) {
        return Violation{ProblemCode::target_too_long, "the request target is too long"};
    }
    head.minor = *minor;
    head.method = line.substr(0, first);
    if (auto violation = check_method(head.method)) return violation;
    return read_target(target, head);
}

std::optional<Violation> read_host(RequestHead& head)
{
    const auto count = head.fields.count("Host");
    if (count > 1) return bad("there is more than one Host field");
    if (count == 0) {
        if (head.minor == 1) return bad("there is no Host field");
        return std::nullopt;
    }
    const auto host = head.fields.find("Host").value_or("");
    if (!is_host(host)) return bad("the Host field is malformed");
    if (head.host.empty()) head.host = host;
    return std::nullopt;
}

// RFC 9112 section 6.1: only `chunked`, alone, is understood here; everything else is somebody's
// trick or a coding that the next hop would read differently (HTP-1..3).
std::optional<Violation> check_transfer_encoding(const RequestHead& head)
{
    if (head.fields.has("Content-Length")) {
        return bad("there are both Transfer-Encoding and Content-Length");
    }
    if (head.minor == 0) return bad("HTTP/1.0 has no Transfer-Encoding");
    if (head.fields.count("Transfer-Encoding") > 1)
        return bad("there is more than one Transfer-Encoding field");
    const auto value = head.fields.find("Transfer-Encoding").value_or("");
    if (core::same_name(value, "chunked")) return std::nullopt;

    const auto codings = list_members(head.fields, "Transfer-Encoding");
    const bool tokens =
        !codings.empty() && std::all_of(codings.begin(), codings.end(),
                                        [](const auto& coding) { return core::is_token(coding); });
    const bool repeats_chunked =
        lists(codings, "chunked") && !core::same_name(codings.back(), "chunked");
    if (!tokens || repeats_chunked ||
        (codings.size() > 1 && core::same_name(codings.front(), "chunked"))) {
        return bad("the transfer coding is malformed");
    }
    if (core::same_name(codings.front(), "chunked")) return bad("the transfer coding is malformed");
    return Violation{ProblemCode::not_implemented, "the transfer coding is not implemented"};
}

std::optional<Violation> read_framing(RequestHead& head)
{
    if (head.fields.has("Transfer-Encoding")) {
        head.framing = Framing::chunked;
        return check_transfer_encoding(head);
    }
    const auto count = head.fields.count("Content-Length");
    if (count == 0) return std::nullopt;
    const auto length = decimal(head.fields.find("Content-Length").value_or(""));
    if (count > 1 || !length) return bad("Content-Length is not one decimal number");
    head.framing = *length == 0 ? Framing::none : Framing::length;
    head.length = *length;
    return std::nullopt;
}

std::optional<Violation> read_connection(RequestHead& head,
                                         const std::vector<std::string>& guarded_names)
{
    head.nominated = list_members(head.fields, "Connection");
    for (const auto& option : head.nominated) {
        const auto same = [&option](std::string_view name) {
            return core::same_name(option, name);
        };
        if (std::any_of(not_nominable.begin(), not_nominable.end(), same) ||
            std::any_of(guarded_names.begin(), guarded_names.end(), same)) {
            return bad("Connection names a field that must reach the upstream");
        }
    }
    const bool close = lists(head.nominated, "close");
    head.keep_alive = head.minor == 1 ? !close : !close && lists(head.nominated, "keep-alive");
    return std::nullopt;
}

std::optional<Violation> read_expectation(RequestHead& head)
{
    if (head.minor == 0) return std::nullopt;  // RFC 9110 section 10.1.1: ignored.
    for (const auto& expectation : list_members(head.fields, "Expect")) {
        if (!core::same_name(expectation, "100-continue")) {
            return Violation{ProblemCode::expectation_failed, "only 100-continue can be expected"};
        }
        head.expects_continue = true;
    }
    return std::nullopt;
}

}  // namespace

std::variant<RequestHead, Violation> check_request_head(
    std::string_view raw, const HeadLimits& limits, const std::vector<std::string>& guarded_names)
{
    RequestHead head;
    if (raw.size() > limits.bytes_max) {
        return Violation{ProblemCode::head_too_large, "the request head is too large"};
    }
    const auto start = take_line(raw);
    if (!start) return bad("the request line does not end with CRLF");
    if (auto violation = read_start_line(start->line, limits, head)) return *violation;
    if (auto violation =
            read_fields(start->rest, FieldSyntax::strict, limits.fields_max, head.fields)) {
        return *violation;
    }
    if (auto violation = read_host(head)) return *violation;
    if (auto violation = read_framing(head)) return *violation;
    if (auto violation = read_connection(head, guarded_names)) return *violation;
    if (auto violation = read_expectation(head)) return *violation;
    return head;
}

}  // namespace onceward::wire
