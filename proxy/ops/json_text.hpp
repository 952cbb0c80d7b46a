// JSON and time as text, for lines that are put together by hand.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace onceward {

// Appends `text` as a JSON string, quotes included. Whatever the bytes are, the result is valid
// UTF-8 on one line and harmless to a terminal: control characters (C0, DEL, C1, line separators)
// are escaped, bytes that are not UTF-8 become U+FFFD. More than `longest` bytes are cut and end in
// an ellipsis.
void append_json_string(std::string& out, std::string_view text, std::size_t longest = 2'048);

// Appends a number that JSON can carry; NaN and infinities become null.
void append_json_number(std::string& out, double value);

// Appends the time in UTC as RFC 3339 with milliseconds: 2026-12-01T10:02:11.123Z.
void append_time(std::string& out, std::chrono::system_clock::time_point time);

}  // namespace onceward
