// Choosing the fields of an answer that are kept.
#include "core/stored_fields.hpp"

#include <algorithm>
#include <array>

namespace onceward::core {

namespace {

constexpr std::array<std::string_view, 25> denied{
    "Age",
    "Alt-Svc",
    "Cache-Control",
    "Connection",
    "Content-Length",
    "Date",
    "Expires",
    "Idempotency-Expires",
    "Idempotency-Status",
    "Idempotent-Original-Date",
    "Idempotent-Replayed",
    "Idempotent-Retryable",
    "Idempotent-Stored",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Connection",
    "Proxy-Status",
    "Retry-After",
    "Server-Timing",
    "Set-Cookie",
    "Set-Cookie2",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Via",
};

constexpr std::array<std::string_view, 3> denied_prefixes{"Access-Control-", "RateLimit",
                                                          "X-RateLimit"};

}  // namespace

bool is_bound_to_its_moment(std::string_view name)
{
    const auto same = [name](std::string_view other) { return same_name(name, other); };
    if (std::any_of(denied.begin(), denied.end(), same)) return true;
    return std::any_of(denied_prefixes.begin(), denied_prefixes.end(),
                       [name](std::string_view prefix) {
                           return same_name(name.substr(0, prefix.size()), prefix);
                       });
}

Fields storable(const Fields& fields, const std::vector<std::string>& only)
{
    Fields kept;
    kept.reserve(fields.encoded().size());
    for (const auto field : fields) {
        if (is_bound_to_its_moment(field.name)) continue;
        const bool wanted =
            only.empty() || std::any_of(only.begin(), only.end(), [&](const auto& name) {
                return same_name(name, field.name);
            });
        if (wanted) kept.add(field.name, field.value);
    }
    return kept;
}

}  // namespace onceward::core
