// Escaping: whatever the bytes, one line of valid JSON that a terminal does not act upon.
#include "ops/json_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>

using namespace onceward;

namespace {

std::string escaped(std::string_view text, std::size_t longest = 2'048)
{
    std::string out;
    append_json_string(out, text, longest);
    return out;
}

}  // namespace

TEST_CASE("text that an attacker wrote stays inside its string")
{
    CHECK(escaped("plain") == "\"plain\"");
    CHECK(escaped("a\"b\\c") == "\"a\\\"b\\\\c\"");
    CHECK(escaped("x\",\"level\":\"error\n{\"") == "\"x\\\",\\\"level\\\":\\\"error\\n{\\\"\"");
    CHECK(escaped(std::string_view("\0\x1b[31m\x7f", 7)) == "\"\\u0000\\u001b[31m\\u007f\"");
    CHECK(escaped("\t\r\n") == "\"\\t\\r\\n\"");
}

TEST_CASE("UTF-8 is kept, what is none becomes U+FFFD")
{
    CHECK(escaped("Zoë €😀") == "\"Zoë €😀\"");
    CHECK(escaped("\xff") == "\"\\ufffd\"");
    CHECK(escaped("a\xc3") == "\"a\\ufffd\"");                                 // Cut short.
    CHECK(escaped("\xc0\xaf") == "\"\\ufffd\\ufffd\"");                        // Overlong.
    CHECK(escaped("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");             // A surrogate.
    CHECK(escaped("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");  // Beyond U+10FFFF.
    CHECK(escaped("\xe2\x28\xa1") == "\"\\ufffd(\\ufffd\"");
}

TEST_CASE("invisible code points that reorder or clear a terminal are escaped")
{
    CHECK(escaped("\xc2\x9b"
                  "31m") == "\"\\u009b31m\"");  // C1 CSI.
    CHECK(escaped("\xe2\x80\xa8") == "\"\\u2028\"");
    CHECK(escaped("\xe2\x80\xae") == "\"\\u202e\"");  // Right-to-left override.
}

TEST_CASE("every byte string gives JSON that parses")
{
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; second += 7) {
            const std::string text{static_cast<char>(first), static_cast<char>(second), 'x'};
            const auto out = escaped(text);
            CHECK_NOTHROW((void)nlohmann::json::parse(out));
            CHECK(out.find('\n') == std::string::npos);
        }
    }
}

TEST_CASE("long text is cut")
{
    const auto out = escaped(std::string(100, 'a'), 10);
    CHECK(out == "\"aaaaaaaaaa\\u2026\"");
}

TEST_CASE("numbers that JSON has none for are null")
{
    std::string out;
    append_json_number(out, 0.25);
    out.push_back(' ');
    append_json_number(out, std::numeric_limits<double>::quiet_NaN());
    out.push_back(' ');
    append_json_number(out, std::numeric_limits<double>::infinity());
    CHECK(out == "0.25 null null");
}

TEST_CASE("times are UTC with milliseconds")
{
    std::string out;
    append_time(
        out, std::chrono::system_clock::time_point(std::chrono::milliseconds{1'764'583'331'007}));
    CHECK(out == "2025-12-01T10:02:11.007Z");
    out.clear();
    append_time(out, std::chrono::system_clock::time_point{});
    CHECK(out == "1970-01-01T00:00:00.000Z");
}
