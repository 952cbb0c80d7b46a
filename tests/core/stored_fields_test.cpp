// Which fields of an answer are kept: decision 15, RPL-7, RPL-8.
#include "core/stored_fields.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace onceward::core;

std::string lower(std::string_view text)
{
    std::string made;
    for (char c : text) {
        made.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
    }
    return made;
}

constexpr std::string_view denied[] = {
    // Hop by hop and framing.
    "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Transfer-Encoding",
    "Trailer", "Upgrade", "Content-Length",
    // Of one moment.
    "Date", "Age", "Via", "Retry-After", "Server-Timing", "Alt-Svc", "RateLimit",
    "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
    "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
    // Of one caller.
    "Set-Cookie", "Set-Cookie2", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials",
    "Access-Control-Expose-Headers",
    // Of caches: a replay must not be fed into one (RPL-6).
    "Cache-Control", "Expires",
    // Our own marks (decision 14): only this proxy may say them.
    "Idempotent-Replayed", "Idempotent-Original-Date", "Idempotent-Retryable", "Idempotent-Stored",
    "Idempotency-Status", "Idempotency-Expires", "Proxy-Status"};

constexpr std::string_view kept[] = {"Content-Type",
                                     "Content-Encoding",
                                     "Content-Language",
                                     "Content-Location",
                                     "Content-Disposition",
                                     "Location",
                                     "ETag",
                                     "Last-Modified",
                                     "Link",
                                     "Vary",
                                     "Allow",
                                     "Server",
                                     "X-Request-Id",
                                     "X-Payment-Id",
                                     "WWW-Authenticate",
                                     "Idempotency-Key",
                                     "Dat",
                                     "Dates",
                                     "Rate",
                                     "Access-Controls",
                                     "Set-Cookies",
                                     "X-Age"};

}  // namespace

TEST_CASE("RPL-7 decision 15 fields of one transmission, caller or moment are never stored")
{
    for (const auto name : denied) {
        CAPTURE(name);
        CHECK(is_bound_to_its_moment(name));
        CHECK(is_bound_to_its_moment(lower(name)));
        CHECK(storable(fields_of({{name, "x"}}), {}).empty());
        CHECK(storable(fields_of({{name, "x"}}), {std::string(name)}).empty());
    }
}

TEST_CASE("RPL-8 everything else is stored by default")
{
    for (const auto name : kept) {
        CAPTURE(name);
        CHECK_FALSE(is_bound_to_its_moment(name));
        const Fields fields = fields_of({{name, "x"}});
        CHECK(storable(fields, {}) == fields);
    }
}

TEST_CASE("I01 RPL-1 order, case, repetitions and empty values are stored as received")
{
    const Fields received = fields_of({{"Date", "now"},
                                       {"LINK", "<a>"},
                                       {"Content-Disposition", "attachment; filename=\"a,b.txt\""},
                                       {"Set-Cookie", "s=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"},
                                       {"link", "<b>"},
                                       {"X-Empty", ""}});
    const Fields expected = fields_of({{"LINK", "<a>"},
                                       {"Content-Disposition", "attachment; filename=\"a,b.txt\""},
                                       {"link", "<b>"},
                                       {"X-Empty", ""}});
    CHECK(storable(received, {}) == expected);
}

TEST_CASE("decision 15 replay_headers narrows further, in any case, and allows nothing denied")
{
    const Fields received =
        fields_of({{"Location", "/a"}, {"ETag", "1"}, {"Set-Cookie", "s"}, {"Link", "<b>"}});
    CHECK(storable(received, {"location", "LINK", "Set-Cookie"}) ==
          fields_of({{"Location", "/a"}, {"Link", "<b>"}}));
    CHECK(storable(received, {"X-None"}).empty());
}
