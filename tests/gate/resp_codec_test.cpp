// The codec against whole, cut and hostile input.
#include "gate/resp_codec.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace onceward;
using Kind = RespReply::Kind;

TEST_CASE("every kind of reply is read, whatever the pieces it comes in")
{
    const std::string input =
        "+OK\r\n-WRONGTYPE of key\r\n:-42\r\n$-1\r\n$5\r\na\r\nbc\r\n"
        "*2\r\n$1\r\nx\r\n*1\r\n:7\r\n";
    for (std::size_t piece = 1; piece <= input.size(); ++piece) {
        RespReader reader;
        std::vector<RespReply> replies;
        for (std::size_t at = 0; at < input.size(); at += piece) {
            reader.feed(std::string_view(input).substr(at, piece));
            while (auto reply = reader.next())
                replies.push_back(std::move(*reply));
        }
        REQUIRE(replies.size() == 6);
        CHECK(replies[0].is(Kind::status));
        CHECK(replies[1].error_code() == "WRONGTYPE");
        CHECK(replies[2].integer == -42);
        CHECK(replies[3].is(Kind::nil));
        CHECK(replies[4].text == "a\r\nbc");
        REQUIRE(replies[5].elements.size() == 2);
        CHECK(replies[5].elements[1].elements[0].integer == 7);
        CHECK_FALSE(reader.failed());
    }
}

TEST_CASE("SEC-1 a command is binary-safe: words cannot become commands")
{
    const std::string word("a\r\nFLUSHALL\r\n\0", 13);
    const std::array<std::string_view, 2> words{"GET", word};
    const auto bytes = encode_command(words);
    CHECK(bytes == "*2\r\n$3\r\nGET\r\n$13\r\n" + word + "\r\n");
}

TEST_CASE("a promised size is not believed, and a reply over the limit ends the reading")
{
    RespReader reader({1'000, 16});
    reader.feed("$99999999999999\r\n");
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.failed());
    reader.feed(std::string(1'000, 'x'));
    CHECK_FALSE(reader.next());
    CHECK(reader.error() == "a reply over the size limit");
    reader.feed("+OK\r\n");
    CHECK_FALSE(reader.next());
}

TEST_CASE("the limit is one reply's: many small ones at once are fine")
{
    RespReader reader({64, 16});
    std::string bytes;
    for (int i = 0; i < 1'000; ++i)
        bytes += "+OK\r\n";
    reader.feed(bytes);
    int replies = 0;
    while (reader.next())
        ++replies;
    CHECK(replies == 1'000);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("arrays are bounded over the whole reply, and in depth")
{
    SUBCASE("a huge array is not made before its elements come")
    {
        RespReader reader({1 << 20, 16});
        reader.feed("*2147483647\r\n");
        CHECK_FALSE(reader.next());
        for (int i = 0; i < 16; ++i)
            reader.feed(":1\r\n");
        CHECK_FALSE(reader.next());
        CHECK(reader.error() == "a reply of too many parts");
    }
    SUBCASE("the count begins anew with each reply")
    {
        RespReader reader({1 << 20, 4});
        for (int i = 0; i < 10; ++i) {
            reader.feed("*3\r\n:1\r\n:2\r\n:3\r\n");
            const auto reply = reader.next();
            REQUIRE(reply);
            CHECK(reply->elements.size() == 3);
        }
    }
    SUBCASE("deep nesting")
    {
        RespReader reader({1 << 20, 1'000});
        for (int i = 0; i < 20; ++i)
            reader.feed("*1\r\n");
        CHECK_FALSE(reader.next());
        CHECK(reader.failed());
    }
}

TEST_CASE(
    "T25 garbage never crashes the reader, and none of it is taken for a reply after a mistake")
{
    std::mt19937 random(20'251'201);
    const std::string alphabet = "+-:$*\r\n0123456789-abc%_#>";
    for (int round = 0; round < 20'000; ++round) {
        RespReader reader({256, 16});
        for (int piece = 0; piece < 4; ++piece) {
            std::string bytes;
            for (auto left = random() % 40; left > 0; --left)
                bytes.push_back(alphabet[random() % alphabet.size()]);
            reader.feed(bytes);
            while (reader.next()) {
            }
            if (!reader.failed()) continue;
            reader.feed("+OK\r\n");
            CHECK_FALSE(reader.next());
        }
    }
}
