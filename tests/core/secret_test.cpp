// Keyed hashes against published and independently computed values.
#include "core/secret.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

namespace {

using namespace onceward::core;

std::string hex(std::string_view bytes)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text.push_back(digits[byte >> 4]);
        text.push_back(digits[byte & 0xF]);
    }
    return text;
}

std::string hex(const std::array<unsigned char, 16>& bytes)
{
    return hex(std::string(bytes.begin(), bytes.end()));
}

Secret secret_of(std::string_view bytes)
{
    auto secret = Secret::from_bytes(bytes);
    REQUIRE(secret);
    return *secret;
}

std::string counting_bytes()
{
    std::string bytes(32, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    return bytes;
}

}  // namespace

TEST_CASE("HMAC-SHA-256, cut to 16 bytes: RFC 4231 cases 1 and 2")
{
    const KeyedHash first(std::string(20, '\x0B'));
    CHECK(hex(first.sum("Hi There")) == "b0344c61d8db38535ca8afceaf0bf12b");
    const KeyedHash second("Jefe");
    CHECK(hex(second.sum("what do ya want for nothing?")) == "5bdcc146bf60754e6a042426089575c7");
}

TEST_CASE("a keyed hash may be used again and again, and moved")
{
    KeyedHash hash("Jefe");
    const auto expected = hash.sum("what do ya want for nothing?");
    CHECK(hash.sum("something else") != expected);
    CHECK(hash.sum("what do ya want for nothing?") == expected);
    const KeyedHash moved = std::move(hash);
    CHECK(moved.sum("what do ya want for nothing?") == expected);
}

TEST_CASE("HKDF-SHA-256 without salt: RFC 5869 case 3")
{
    const auto secret = secret_of(std::string(22, '\x0B'));
    CHECK(hex(secret.derive("", 42)) ==
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

// Made with Python's hmac and hashlib from RFC 5869, not with this code.
TEST_CASE("decision 9 the secret's children under their labels")
{
    const auto counting = secret_of(counting_bytes());
    CHECK(hex(counting.derive("onceward key digest 1", 32)) ==
          "34561c4886b5f5693880f97c8a53e96eae068aae74a096da33b4a6fcda3c2e36");
    CHECK(hex(counting.derive("onceward fingerprint 1", 32)) ==
          "5005066e242537768f111e1b4b43cb994d1a342d46f5aaac312ab7d220b5c0c4");
    CHECK(hex(counting.canary()) == "0a8fa441508655c9fc4423ed6faef69f");
    CHECK(hex(counting.derive("x", 70)) ==
          "2965d0b8feb239f8e888bae7da728027fe58afcb5c5ba7100ad0fb9dd65c39dc945bc6b1c71f7c1b0081c672"
          "db5feb35e9444e6da0aa18b26786cd51c507e2bf2808d1f08d1f");

    const auto text = secret_of("sixteen bytes!!!");
    CHECK(hex(text.derive("onceward key digest 1", 32)) ==
          "cd96191084bf33153ac4f457b090ea2c79ecdcebd12e9cee8e3ee7aa0e23e546");
    CHECK(hex(text.derive("onceward fingerprint 1", 32)) ==
          "49fb4b0014698f137ed1bb01697aea6e1adf95a205991545af3f59d702bc1651");
    CHECK(hex(text.canary()) == "8f33141feecf196f8ebb1c81ab1fdec2");
}

TEST_CASE("key_hash and fingerprint_hash are keyed with those children")
{
    const auto secret = secret_of(counting_bytes());
    const KeyedHash keys(secret.derive("onceward key digest 1", 32));
    const KeyedHash prints(secret.derive("onceward fingerprint 1", 32));
    CHECK(secret.key_hash().sum("m") == keys.sum("m"));
    CHECK(secret.fingerprint_hash().sum("m") == prints.sum("m"));
    CHECK(secret.key_hash().sum("m") != secret.fingerprint_hash().sum("m"));
}

TEST_CASE("a secret of fewer than 16 bytes is none; its bytes may be any")
{
    CHECK_FALSE(Secret::from_bytes(""));
    CHECK_FALSE(Secret::from_bytes("fifteen bytes!!"));
    const std::string zeros(16, '\0');
    CHECK(secret_of(zeros).bytes() == zeros);
    CHECK(secret_of(zeros).canary() != secret_of(std::string(17, '\0')).canary());
}

TEST_CASE("SCP-8 length prefixes keep fields apart")
{
    LengthPrefixed message;
    message.add("ab").add("").add("c");
    CHECK(hex(message.bytes()) == "000000026162000000000000000163");
    LengthPrefixed shifted;
    shifted.add("a").add("").add("bc");
    CHECK(message.bytes() != shifted.bytes());
    LengthPrefixed large;
    large.add(std::string(0x010203, 'x'));
    CHECK(hex(large.bytes().substr(0, 4)) == "00010203");
}

TEST_CASE("decision 7 no two attempts get the same token, no two installations the same secret")
{
    std::set<Token> tokens;
    for (int i = 0; i < 1'000; ++i)
        CHECK(tokens.insert(random_token()).second);
    CHECK(Secret::random().bytes() != Secret::random().bytes());
    CHECK(Secret::random().bytes().size() == 32);
}

TEST_CASE("short_hash begins like SHA-256")
{
    CHECK(short_hash("abc", 12) == "ba7816bf8f01");
    CHECK(short_hash("", 8) == "e3b0c442");
    CHECK(short_hash("abc", 32) == "ba7816bf8f01cfea414140de5dae2223");
}
