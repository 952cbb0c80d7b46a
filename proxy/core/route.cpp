// Matching requests to routes.
#include "core/route.hpp"

#include <algorithm>

namespace onceward::core {

namespace {

int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string percent_decoded(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                            hex_value(text[i + 2]) >= 0;
        if (escape) {
            out.push_back(static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])));
            i += 2;
        } else {
            out.push_back(text[i]);
        }
    }
    return out;
}

std::string_view raw_path(std::string_view target)
{
    return target.substr(0, target.find_first_of("?#"));
}

// `prefix` and what follows it meet at a segment border: /v1/orders meets /v1/orders and
// /v1/orders/7, not /v1/orders-archive.
bool has_prefix(std::string_view path, std::string_view prefix)
{
    if (!path.starts_with(prefix)) return false;
    return path.size() == prefix.size() || prefix.ends_with('/') || path[prefix.size()] == '/';
}

// RFC 9110 section 9.2.1: asking twice does no harm, so there is nothing to guard (APP-1).
bool is_safe(std::string_view method)
{
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

bool meets_method(const Match& match, std::string_view method)
{
    if (match.methods.empty()) return !is_safe(method);
    return std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
}

}  // namespace

std::string upper(std::string_view method)
{
    std::string out(method);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    });
    return out;
}

std::string normalised_path(std::string_view target)
{
    std::string decoded = percent_decoded(raw_path(target));
    std::replace(decoded.begin(), decoded.end(), '\\', '/');
    std::vector<std::string_view> segments;
    std::string_view rest = decoded;
    while (!rest.empty()) {
        const auto slash = rest.find('/');
        auto segment = rest.substr(0, slash);
        segment = segment.substr(0, segment.find(';'));
        if (segment == "..") {
            if (!segments.empty()) segments.pop_back();
        } else if (!segment.empty() && segment != ".") {
            segments.push_back(segment);
        }
        rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    }
    std::string path;
    for (const auto segment : segments)
        path.append("/").append(segment);
    return path.empty() ? "/" : path;
}

bool meets(const Match& match, std::string_view method, std::string_view path)
{
    if (!meets_method(match, method)) return false;
    switch (match.kind) {
        case PathMatch::any: return true;
        case PathMatch::exact: return path == match.path;
        case PathMatch::prefix: return has_prefix(path, match.path);
        case PathMatch::regex: return match.matches && match.matches(path);
    }
    return false;
}

RouteTable::RouteTable(std::vector<Route> routes)
{
    for (auto& route : routes) {
        Match normal = route.match;
        if (normal.kind == PathMatch::exact || normal.kind == PathMatch::prefix) {
            normal.path = normalised_path(normal.path);
        }
        normal_matches_.push_back(std::move(normal));
        routes_.push_back(std::make_shared<const Route>(std::move(route)));
    }
}

std::shared_ptr<const Route> RouteTable::first(std::string_view method, std::string_view path) const
{
    for (const auto& route : routes_) {
        if (meets(route->match, method, path)) return route;
    }
    return nullptr;
}

std::shared_ptr<const Route> RouteTable::first_normal(std::string_view method,
                                                      std::string_view normal_path) const
{
    for (std::size_t i = 0; i < routes_.size(); ++i) {
        if (meets(normal_matches_[i], method, normal_path)) return routes_[i];
    }
    return nullptr;
}

std::optional<Guarding> RouteTable::guarding(std::string_view method, std::string_view target,
                                             const std::vector<std::string_view>& overrides) const
{
    std::vector<std::string> methods{upper(method)};
    for (const auto override_value : overrides)
        methods.push_back(upper(override_value));
    const auto raw = raw_path(target);
    const auto normal = normalised_path(target);
    for (const auto& candidate : methods) {
        for (const auto& route : {first(candidate, raw), first_normal(candidate, normal)}) {
            if (route && route->mode == Mode::enforce) return Guarding{route, candidate};
        }
    }
    return std::nullopt;
}

}  // namespace onceward::core
