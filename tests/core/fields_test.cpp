// Header fields: names, values, the stored form and its refusal of what cannot be a header.
#include "core/fields.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace onceward::core;

std::string all_octets()
{
    std::string octets;
    for (int octet = 0; octet < 256; ++octet)
        octets.push_back(static_cast<char>(octet));
    return octets;
}

std::vector<std::string> listed(const Fields& fields)
{
    std::vector<std::string> list;
    for (const auto field : fields) {
        list.push_back(std::string(field.name) + "=" + std::string(field.value));
    }
    return list;
}

}  // namespace

TEST_CASE("field names differ by ASCII case only when they differ at all")
{
    CHECK(same_name("Idempotency-Key", "idempotency-KEY"));
    CHECK_FALSE(same_name("Idempotency-Key", "Idempotency_Key"));
    CHECK_FALSE(same_name("Key", "Keys"));
    CHECK_FALSE(same_name("@", "`"));  // One bit apart, as letters of two cases are.
    CHECK_FALSE(same_name("\xC4", "\xE4"));
    CHECK(same_name("", ""));
}

TEST_CASE("a token is one or more tchar")
{
    const std::string_view tchars =
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    int tokens = 0;
    for (char octet : all_octets()) {
        CAPTURE(static_cast<int>(octet));
        const std::string_view text(&octet, 1);
        const bool expected = tchars.find(octet) != std::string_view::npos;
        CHECK(is_token(text) == expected);
        if (is_token(text)) ++tokens;
    }
    CHECK(tokens == 77);
    CHECK_FALSE(is_token(""));
    CHECK_FALSE(is_token("a b"));
}

TEST_CASE("HTP-18 a value holds no control character but the tab")
{
    for (char octet : all_octets()) {
        CAPTURE(static_cast<int>(octet));
        const auto byte = static_cast<unsigned char>(octet);
        const bool expected = byte == '\t' || (byte >= 0x20 && byte != 0x7F);
        const std::string value = std::string("a") + octet + "b";
        CHECK(is_field_value(value) == expected);
        Fields fields;
        CHECK(fields.add("X", value) == expected);
        CHECK(fields.empty() != expected);
    }
}

TEST_CASE("HTP-18 T13 a value that would become a second header is refused")
{
    Fields fields = fields_of({{"A", "1"}});
    CHECK_FALSE(fields.add("X", "a\r\nInjected: 1"));
    CHECK_FALSE(fields.add("X", std::string_view("a\0b", 3)));
    CHECK(listed(fields) == std::vector<std::string>{"A=1"});
}

TEST_CASE("fields keep their order, case, repetitions and empty values")
{
    const Fields fields = fields_of({{"Location", "/a"}, {"link", "<b>"}, {"LINK", ""}});
    CHECK(listed(fields) == std::vector<std::string>{"Location=/a", "link=<b>", "LINK="});
    CHECK(fields.count("Link") == 2);
    CHECK(fields.find("Link") == "<b>");
    CHECK(fields.has("location"));
    CHECK_FALSE(fields.find("Loc"));
    const Fields none;
    CHECK(none.begin() == none.end());
}

TEST_CASE("remove takes every field of the name and leaves the rest in order")
{
    Fields fields = fields_of({{"A", "1"}, {"b", "2"}, {"C", "3"}, {"B", "4"}});
    CHECK(fields.remove("B") == 2);
    CHECK(listed(fields) == std::vector<std::string>{"A=1", "C=3"});
    CHECK(fields.remove("B") == 0);
    CHECK(fields.remove("a") + fields.remove("c") == 2);
    CHECK(fields.empty());
}

TEST_CASE("decision 8 the stored form is (u16 length, name, u32 length, value)*")
{
    const Fields fields = fields_of({{"Ab", "xyz"}, {"C", ""}});
    const std::string expected("\0\2Ab\0\0\0\3xyz\0\1C\0\0\0\0", 18);
    CHECK(fields.encoded() == expected);
    const auto decoded = Fields::decode(expected);
    REQUIRE(decoded);
    CHECK(*decoded == fields);
    CHECK(Fields::decode("") == Fields());
}

TEST_CASE("lengths of more than one byte survive the stored form")
{
    const std::string name(300, 'n');
    const std::string value(70'000, 'v');
    const Fields fields = fields_of({{name, value}});
    const auto decoded = Fields::decode(fields.encoded());
    REQUIRE(decoded);
    CHECK(decoded->find(name) == value);
}

TEST_CASE("T13 decode refuses every cut of a stored list")
{
    const Fields fields = fields_of({{"Location", "/v1/payments/1"}, {"ETag", "\"7\""}});
    const std::string& whole = fields.encoded();
    const std::size_t first_ends = 2 + 8 + 4 + 14;
    for (std::size_t size = 1; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK(Fields::decode(whole.substr(0, size)).has_value() == (size == first_ends));
    }
}

TEST_CASE("T13 decode refuses bytes that could end the line or are no name, wherever they are")
{
    const std::string whole = fields_of({{"Location", "/v1/payments/1"}}).encoded();
    for (char bad : {'\r', '\n', '\0', '\x7F', '\x01'}) {
        for (std::size_t i = 2; i < whole.size(); ++i) {
            if (i >= 10 && i < 14) continue;  // The value's length.
            std::string changed = whole;
            changed[i] = bad;
            CAPTURE(i);
            CHECK_FALSE(Fields::decode(changed));
        }
    }
    CHECK_FALSE(Fields::decode(std::string("\0\0\0\0\0\1x", 7)));  // No name.
    CHECK_FALSE(
        Fields::decode(std::string("\0\1A\xFF\xFF\xFF\xFF", 7)));  // A length beyond the end.
    CHECK_FALSE(Fields::decode(std::string("\0\1 \0\0\0\0", 7)));  // A blank for a name.
}

TEST_CASE("T13 a flipped bit never makes a stored list into an unsafe one")
{
    const std::string whole = fields_of({{"Location", "/a"}, {"X-Note", "b c"}}).encoded();
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        const auto decoded = Fields::decode(changed);
        if (!decoded) continue;
        for (const auto field : *decoded) {
            CHECK(is_token(field.name));
            CHECK(is_field_value(field.value));
        }
    }
}
