// Fingerprints: what counts, what does not, and values computed elsewhere.
#include "core/fingerprint.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>

namespace {

using namespace onceward::core;

const KeyedHash hash("a key for fingerprints");

Request payment()
{
    return {"POST", "/v1/payments?a=1", fields_of({{"Content-Type", "application/json"}}),
            R"({"amount":990})"};
}

Fingerprint print(const Request& request)
{
    return raw_fingerprint(hash, "POST", request);
}

Request with(Field field)
{
    Request request = payment();
    request.fields.add(field.name, field.value);
    return request;
}

Request of_type(std::string_view content_type)
{
    Request request = payment();
    request.fields = fields_of({{"Content-Type", content_type}});
    return request;
}

}  // namespace

// Made with Python's hmac and hashlib over the length-prefixed fields, first 16 bytes.
TEST_CASE("FPR-1 fingerprints equal independently computed ones")
{
    const Request plain{"POST", "/v1/payments",
                        fields_of({{"content-type", "Application/JSON; charset=utf-8"}}),
                        R"({"amount":990})"};
    const Request coded{
        "POST", "/v1/payments?a=1&b=2",
        fields_of({{"Content-Encoding", "gzip"}, {"Content-Type", "application/json"}}),
        std::string("\0\xFF\r\n", 4)};
    const Request empty{"DELETE", "/", {}, ""};

    std::string counting(32, '\0');
    std::iota(counting.begin(), counting.end(), '\0');
    const auto first = Secret::from_bytes(counting)->fingerprint_hash();
    CHECK(raw_fingerprint(first, "POST", plain).hex() == "80900bacba86e24006d2782286d47380");
    CHECK(raw_fingerprint(first, "POST", coded).hex() == "a7cca9cd7cb2ad286bce97c1802c2f01");
    CHECK(raw_fingerprint(first, "DELETE", empty).hex() == "71feaf6496ddb0a42968d75185cbf257");

    const auto second = Secret::from_bytes("sixteen bytes!!!")->fingerprint_hash();
    CHECK(raw_fingerprint(second, "POST", plain).hex() == "ef2f295a4866ad1a8924d4eb0d88772a");
    CHECK(raw_fingerprint(second, "POST", coded).hex() == "dea1c0ed95e6dd6b2eaa86c1d6e3d25c");
    CHECK(raw_fingerprint(second, "DELETE", empty).hex() == "f424741f5e8f0d2fed68e946e5a20cfd");
}

TEST_CASE("FPR-1 method, path, query, media type, coding and body all count")
{
    std::set<std::string> seen{print(payment()).hex()};
    const auto differs = [&](const Request& request) {
        CHECK(seen.insert(print(request).hex()).second);
    };
    CHECK(seen.insert(raw_fingerprint(hash, "PATCH", payment()).hex()).second);

    for (const std::string_view target :
         {"/v1/payments", "/v1/payments?", "/v1/payments?a=2", "/v1/payments/?a=1",
          "/v1/payment?sa=1", "/V1/payments?a=1", "/v1/payments?a=1&b=2", "/v1/payments?b=2&a=1",
          "/v1/%70ayments?a=1"}) {
        Request request = payment();
        request.target = target;
        differs(request);
    }
    for (const std::string_view body :
         {"", R"({"amount":991})", R"({"amount":990} )", R"({ "amount":990})"}) {
        Request request = payment();
        request.body = body;
        differs(request);
    }
    differs(of_type("text/plain"));
    differs(of_type(""));
    differs(with({"Content-Encoding", "gzip"}));
}

TEST_CASE("FPR-1 what moves from one part into the next changes the fingerprint")
{
    Request one{"POST", "/a?b", fields_of({{"Content-Type", "c"}}), "d"};
    Request two{"POST", "/a", fields_of({{"Content-Type", "?bc"}}), "d"};
    Request three{"POST", "/a?b", {}, "cd"};
    CHECK(print(one) != print(two));
    CHECK(print(one) != print(three));
}

TEST_CASE("FPR-2 the body's bytes count, whatever framed them")
{
    CHECK(print(with({"Content-Length", "14"})) == print(with({"Transfer-Encoding", "chunked"})));
    Request zero = payment();
    zero.body.push_back('\0');
    CHECK(print(zero) != print(payment()));
}

TEST_CASE("FPR-3 parameters, case and blanks of the media type do not count")
{
    CHECK(print(of_type("application/json; charset=utf-8")) == print(payment()));
    CHECK(print(of_type("Application/JSON ;charset=\"utf-8\"")) == print(payment()));
    CHECK(media_type("text/HTML ; x=y") == "text/html");
    CHECK(media_type("") == "");
    CHECK(media_type(";charset=utf-8") == "");
}

TEST_CASE("FPR-8 credentials, dates, traces, forwarding, framing and the key do not count")
{
    for (const std::string_view name :
         {"Authorization", "Cookie", "Date", "User-Agent", "Accept", "Accept-Encoding",
          "Accept-Language", "traceparent", "X-Request-Id", "Forwarded", "X-Forwarded-For",
          "X-Forwarded-Proto", "Via", "Content-Length", "Transfer-Encoding", "Connection", "Expect",
          "Idempotency-Key", "Host"}) {
        CAPTURE(name);
        CHECK(print(with({name, "anything"})) == print(payment()));
    }
}

TEST_CASE("T7 a fingerprint is keyed: nobody without the secret can try bodies against it")
{
    CHECK(raw_fingerprint(KeyedHash("another key"), "POST", payment()) != print(payment()));
}

TEST_CASE("FPR-10 the stored number of the raw rule never changes")
{
    CHECK(static_cast<int>(FingerprintRule::raw) == 1);
}
