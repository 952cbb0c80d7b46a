// Fixed-size identifiers: their text, order and hash.
#include "core/identifiers.hpp"

#include <doctest/doctest.h>

#include <type_traits>

using namespace onceward::core;

TEST_CASE("hex shows every byte as two lower-case digits, in order")
{
    Digest digest;
    CHECK(digest.hex() == "00000000000000000000000000000000");
    for (std::size_t i = 0; i < 16; ++i)
        digest.bytes[i] = static_cast<unsigned char>(i * 17);
    CHECK(digest.hex() == "00112233445566778899aabbccddeeff");
}

TEST_CASE("identifiers are ordered bytewise, as stores sort them")
{
    Digest low;
    Digest high;
    low.bytes[0] = 0x7F;
    high.bytes[0] = 0x80;
    CHECK(low < high);
    CHECK(low != high);
    high = low;
    CHECK(low == high);
    high.bytes[15] = 1;
    CHECK(low < high);
}

TEST_CASE("one kind of identifier is not another")
{
    CHECK_FALSE(std::is_convertible_v<Token, Digest>);
    CHECK_FALSE(std::is_convertible_v<Fingerprint, Digest>);
    CHECK_FALSE(std::is_convertible_v<Fingerprint, Token>);
}

TEST_CASE("a digest's hash is its own first bytes")
{
    Digest a;
    Digest b;
    CHECK(DigestHash()(a) == DigestHash()(b));
    b.bytes[0] = 1;
    CHECK(DigestHash()(a) != DigestHash()(b));
}
