// Escaping of text that an attacker may have written.
#include "ops/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace onceward {

namespace {

constexpr char32_t not_utf8 = 0xFFFFFFFF;

struct Decoded {
    char32_t code = not_utf8;
    std::size_t size = 1;  // Bytes to go on by.
};

bool continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

// One code point at the start of `text`, which begins with a byte above 0x7F. Overlong forms,
// surrogates and what is beyond U+10FFFF are not UTF-8.
Decoded decode_multibyte(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) return {};
    char32_t code = first & (0x7F >> size);
    for (std::size_t i = 1; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (!continues(byte)) return {};
        code = (code << 6) | (byte & 0x3F);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
    return {code, size};
}

void append_escape(std::string& out, unsigned code)
{
    static constexpr char digits[] = "0123456789abcdef";
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        out.push_back(digits[(code >> shift) & 0xF]);
}

void append_ascii(std::string& out, char c)
{
    switch (c) {
        case '"': out.append("\\\""); return;
        case '\\': out.append("\\\\"); return;
        case '\n': out.append("\\n"); return;
        case '\r': out.append("\\r"); return;
        case '\t': out.append("\\t"); return;
        default: break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
        append_escape(out, byte);
    } else {
        out.push_back(c);
    }
}

// Code points that some program between here and a reader's eye would act upon.
bool is_hazard(char32_t code)
{
    return code < 0xA0 || code == 0x2028 || code == 0x2029 || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void append_padded(std::string& out, std::int64_t value, int width)
{
    std::array<char, 20> text{};
    auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    const auto size = static_cast<std::size_t>(end - text.data());
    if (size < static_cast<std::size_t>(width))
        out.append(static_cast<std::size_t>(width) - size, '0');
    out.append(text.data(), size);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, std::size_t longest)
{
    const bool cut = text.size() > longest;
    text = text.substr(0, longest);
    out.push_back('"');
    while (!text.empty()) {
        if (static_cast<unsigned char>(text[0]) < 0x80) {
            append_ascii(out, text[0]);
            text.remove_prefix(1);
            continue;
        }
        const auto decoded = decode_multibyte(text);
        if (decoded.code == not_utf8) {
            out.append("\\ufffd");
        } else if (is_hazard(decoded.code)) {
            append_escape(out, static_cast<unsigned>(decoded.code));
        } else {
            out.append(text.substr(0, decoded.size));
        }
        text.remove_prefix(decoded.size);
    }
    if (cut) out.append("\\u2026");
    out.push_back('"');
}

void append_json_number(std::string& out, double value)
{
    if (!std::isfinite(value)) {
        out.append("null");
        return;
    }
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out.append(text.data(), end);
}

void append_time(std::string& out, std::chrono::system_clock::time_point time)
{
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<milliseconds>(time - day)};
    append_padded(out, static_cast<int>(date.year()), 4);
    out.push_back('-');
    append_padded(out, static_cast<unsigned>(date.month()), 2);
    out.push_back('-');
    append_padded(out, static_cast<unsigned>(date.day()), 2);
    out.push_back('T');
    append_padded(out, clock.hours().count(), 2);
    out.push_back(':');
    append_padded(out, clock.minutes().count(), 2);
    out.push_back(':');
    append_padded(out, clock.seconds().count(), 2);
    out.push_back('.');
    append_padded(out, clock.subseconds().count(), 3);
    out.push_back('Z');
}

}  // namespace onceward
