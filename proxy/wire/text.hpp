// Heads as bytes: the only place where message heads are written.
#pragma once

#include "core/fields.hpp"

#include <string>
#include <string_view>

namespace onceward::wire {

// Appends `name: value CRLF`. A value that could end the line is left out: it never came through
// Fields.
void append_field(std::string& head, std::string_view name, std::string_view value);
void append_fields(std::string& head, const core::Fields& fields);

// `METHOD target HTTP/1.1 CRLF`, and `HTTP/1.1 status reason CRLF`. An empty reason becomes the
// standard one.
void append_request_line(std::string& head, std::string_view method, std::string_view target);
void append_status_line(std::string& head, int status, std::string_view reason);

std::string_view standard_reason(int status);

// The interim answer that asks for the body (RFC 9110 section 15.2.1).
inline constexpr std::string_view continue_answer = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace onceward::wire
