// What request and response heads have in common: lines, fields and framing numbers.
#pragma once

#include "wire/head.hpp"

#include <optional>

namespace onceward::wire {

// Without surrounding blanks and tabs.
std::string_view trimmed(std::string_view text);

// Splits `text` at its first CRLF; the CRLF is dropped. Absent when there is none.
struct Line {
    std::string_view line;
    std::string_view rest;
};
std::optional<Line> take_line(std::string_view text);

// HTTP/1.0 or HTTP/1.1, nothing else: the minor version.
std::optional<int> http_minor(std::string_view version);

// One or more digits that fit into 63 bits; no sign, no list, no blanks (HTP-4).
std::optional<std::uint64_t> decimal(std::string_view text);

enum class FieldSyntax : std::uint8_t {
    strict,  // A request's: a blank before the colon is refused (HTP-7).
    mended,  // A response's: it is removed.
};

// Field lines up to the empty line. Refuses empty or malformed names, folds, control characters,
// bare CR or LF.
std::optional<Violation> read_fields(std::string_view lines, FieldSyntax syntax,
                                     std::size_t fields_max, core::Fields& fields);

// True when Connection lists this option.
bool lists(const std::vector<std::string>& members, std::string_view option);

}  // namespace onceward::wire
