// The client's key: KEY-3 to KEY-9 as vectors, and the digest against values computed elsewhere.
#include "core/key.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>

namespace {

using namespace onceward::core;

constexpr std::size_t length_max = 255;

// The key, or "invalid", or "missing"; no vector here is called like that.
std::string said(const KeyResult& result)
{
    if (const auto* key = std::get_if<std::string>(&result)) return *key;
    return std::holds_alternative<KeyMissing>(result) ? "missing" : "invalid";
}

std::string parsed(std::string_view value)
{
    return said(parse_key(value, length_max));
}

std::string read(std::initializer_list<Field> list, const KeySyntax& syntax = {})
{
    return said(read_key(fields_of(list), syntax));
}

// Made with Python's hmac and hashlib: HKDF-SHA-256 without salt, then HMAC-SHA-256 over the
// length-prefixed fields, first 16 bytes.
std::string counting_bytes()
{
    std::string bytes(32, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    return bytes;
}

struct DigestVector {
    std::string secret;
    KeyScope scope;
    std::string_view hex;
};

const KeyScope payment{"default", "Bearer sk_live_4eC39H", "payments", "POST", "7f3a9c1e"};
const KeyScope everyone{"default", "", "default", "POST", "a\"b"};
const KeyScope shop{"shop", "Bearer sk_live_4eC39H", "payments", "PATCH", "!~"};

const DigestVector digest_vectors[] = {
    {counting_bytes(), payment, "b612144421b7d1a167f6d7647c26b6bf"},
    {counting_bytes(), everyone, "c1fa0ed386499990b8cfb44ba6826078"},
    {counting_bytes(), shop, "e4cdfab202fdb5439ecc8697c37403b1"},
    {"sixteen bytes!!!", payment, "410c749a9c7da57b1bbe357fa3ebf3b5"},
    {"sixteen bytes!!!", everyone, "1c71a10b7b0e14492ce5af197739dda5"},
    {"sixteen bytes!!!", shop, "59c29058b4756f04adf06dfc8c219232"},
};

}  // namespace

TEST_CASE("KEY-3 a quoted key that does not parse is invalid, never bare and never absent")
{
    const std::string_view vectors[] = {
        R"("abc)",
        R"("a"b")",
        R"("a\x")",
        R"("a"x)",
        "\"\xC3\xA9\"",
        R"(")",
        R"("a\")",
        R"("a\)",
        "\"a\tb\"",
        "\"a\x7F\"",
        R"("a","b")",
        R"("a", "b")",
        R"("abc" ;v=1)",
        R"("abc" x)",
        R"("abc";)",
        R"("abc";V=1)",
        R"("abc";v=)",
        R"("abc";v="x)",
        R"("abc";v=1,)",
        R"("abc";=1)",
        R"("abc";v=1 )",
        R"("abc";v=?2)",
        R"("abc";v=1.)",
        R"("abc";v=-)",
        R"("abc";v=:a)",
        R"("abc";v=1x)",
        R"("abc";v="a"b)",
        R"("abc";v=\a)",
        R"("abc";1=1)",
        R"("abc";v=@x)",
        R"("abc";v=%"a)",
        R"("abc";v =1)",
        R"("abc";v="\x")",
        R"("abc";;)",
        R"("abc";v=%"%F0")",
        R"("abc";v=1.2345)",
        R"("abc";v=1234567890123456)",
    };
    for (const auto vector : vectors) {
        CAPTURE(vector);
        CHECK(parsed(vector) == "invalid");
    }
}

TEST_CASE("KEY-4 parameters are accepted and are not part of the key")
{
    const std::string_view vectors[] = {
        R"("abc")",
        R"("abc";v=1)",
        R"("abc";v)",
        R"("abc";  v=1;w=?0;x=?1)",
        R"("abc";v="x")",
        R"("abc";v="a;b=\"c\", \\d")",
        R"("abc";v="";w="two")",
        R"("abc";*a-b_c.d=token/with:more)",
        R"("abc";v=*t)",
        R"("abc";v=-15)",
        R"("abc";v=-1.5)",
        R"("abc";v=123456789012.125)",
        R"("abc";v=:YWJjZA==:)",
        R"("abc";v=::)",
        R"("abc";d=@1659578233)",
        R"("abc";d=@-1)",
        R"("abc";s=%"f%c3%bc")",
    };
    for (const auto vector : vectors) {
        CAPTURE(vector);
        CHECK(parsed(vector) == "abc");
    }
}

TEST_CASE("KEY-5 a bare key: every octet 0x21 to 0x7E except four, at every place")
{
    int accepted = 0;
    for (int octet = 0; octet < 256; ++octet) {
        CAPTURE(octet);
        const char c = static_cast<char>(octet);
        const bool allowed =
            octet >= 0x21 && octet <= 0x7E && c != '"' && c != ',' && c != ';' && c != '\\';
        const std::string inside = std::string("a") + c + "b";
        const std::string last = std::string("a") + c;
        CHECK(parsed(inside) == (allowed ? inside : "invalid"));
        CHECK(parsed(last) == (allowed ? last : "invalid"));
        if (c != '"') CHECK(parsed(std::string(1, c)) == (allowed ? std::string(1, c) : "invalid"));
        if (allowed) ++accepted;
    }
    CHECK(accepted == 90);
}

TEST_CASE("KEY-6 quoted and bare spellings of a key are one key; case is kept")
{
    CHECK(parsed(R"("abc")") == parsed("abc"));
    CHECK(parsed("ABC") != parsed("abc"));
    CHECK(parsed(R"("a\"b")") == "a\"b");
    CHECK(parsed(R"("a\\b")") == "a\\b");
    CHECK(parsed(R"("a b,c;d")") == "a b,c;d");
    CHECK(parsed("8e03978e-40d5-43e8-bc93-6894a57f9324") == "8e03978e-40d5-43e8-bc93-6894a57f9324");
}

TEST_CASE("KEY-7 the length is counted after decoding")
{
    const std::string longest(255, 'k');
    CHECK(parsed(longest) == longest);
    CHECK(parsed(longest + "k") == "invalid");
    CHECK(parsed("\"" + longest + "\"") == longest);
    CHECK(parsed("\"" + longest + "k\"") == "invalid");
    CHECK(parsed("\"" + longest + "\";v=1") == longest);

    std::string escaped;
    for (int i = 0; i < 255; ++i)
        escaped += "\\\"";
    CHECK(parsed("\"" + escaped + "\"") == std::string(255, '"'));

    const std::string large(1024, 'k');
    CHECK(said(parse_key(large, 1024)) == large);
    CHECK(said(parse_key(large + "k", 1024)) == "invalid");
}

TEST_CASE("KEY-8 a key that is present and empty is invalid, not missing")
{
    CHECK(parsed("") == "invalid");
    CHECK(parsed(R"("")") == "invalid");
    CHECK(parsed(R"("";v=1)") == "invalid");
    CHECK(read({{"Idempotency-Key", ""}}) == "invalid");
    CHECK(read({}) == "missing");
    CHECK(read({{"Host", "a"}}) == "missing");
}

TEST_CASE("KEY-9 two key fields are invalid, even when equal")
{
    CHECK(read({{"Idempotency-Key", "k"}, {"Idempotency-Key", "k"}}) == "invalid");
    CHECK(read({{"Idempotency-Key", "k"}, {"Host", "a"}, {"idempotency-key", "k"}}) == "invalid");
    CHECK(read({{"Idempotency-Key", "k"}, {"Idempotency-Key", ""}}) == "invalid");
    CHECK(read({{"Idempotency-Key", "k, k"}}) == "invalid");

    const KeySyntax syntax{"Idempotency-Key", {"X-Idempotency-Key", "Request-Id"}, length_max};
    CHECK(read({{"Idempotency-Key", "k"}, {"X-Idempotency-Key", "k"}}, syntax) == "invalid");
    CHECK(read({{"X-Idempotency-Key", "k"}, {"Request-Id", "k"}}, syntax) == "invalid");
}

TEST_CASE("KEY-1 the key's field has a configured name and aliases, in any case")
{
    const KeySyntax syntax{"PayPal-Request-Id", {"Request-Id", "PayPal-Request-Id"}, length_max};
    CHECK(read({{"paypal-request-id", "k"}}, syntax) == "k");
    CHECK(read({{"REQUEST-ID", "k"}}, syntax) == "k");
    CHECK(read({{"Idempotency-Key", "k"}}, syntax) == "missing");
    CHECK(read({{"Idempotency_Key", "k"}}) == "missing");
}

TEST_CASE("ERR-4 the reason of a refusal holds nothing of the key")
{
    const std::string secret(300, 'Z');
    for (const auto& value : {secret, "\"" + secret, "\"" + secret + "\"Z", secret + " Z"}) {
        const auto result = parse_key(value, length_max);
        const auto* invalid = std::get_if<KeyInvalid>(&result);
        REQUIRE(invalid);
        CHECK(invalid->why.find('Z') == std::string_view::npos);
        CHECK_FALSE(invalid->why.empty());
    }
}

TEST_CASE("decision 9 key digests equal independently computed ones")
{
    for (const auto& vector : digest_vectors) {
        const auto secret = Secret::from_bytes(vector.secret);
        REQUIRE(secret);
        CHECK(key_digest(secret->key_hash(), vector.scope).hex() == vector.hex);
    }
}

TEST_CASE("SCP-1 SCP-8 every part of the scope counts, and none runs into the next")
{
    const KeyedHash hash("some key of some length");
    const KeyScope base{"v", "subject", "route", "POST", "key"};
    const KeyScope others[] = {
        {"w", "subject", "route", "POST", "key"}, {"v", "subjecs", "route", "POST", "key"},
        {"v", "subject", "routf", "POST", "key"}, {"v", "subject", "route", "PATCH", "key"},
        {"v", "subject", "route", "POST", "Key"}, {"vs", "ubject", "route", "POST", "key"},
        {"v", "subjectr", "oute", "POST", "key"}, {"v", "subject", "routeP", "OST", "key"},
        {"v", "subject", "route", "POSTk", "ey"}, {"", "vsubject", "route", "POST", "key"},
        {"v", "", "subjectroute", "POST", "key"}, {"v", "subject", "route", "", "POSTkey"},
        {"v", "subject", "route", "POST", ""},
    };
    std::set<std::string> seen{key_digest(hash, base).hex()};
    for (const auto& other : others)
        CHECK(seen.insert(key_digest(hash, other).hex()).second);
    CHECK(key_digest(hash, base) == key_digest(hash, base));
    CHECK(key_digest(KeyedHash("another key"), base) != key_digest(hash, base));
}
