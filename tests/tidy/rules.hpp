// The house rules that a machine can check. Each function takes files as text and returns what is
// wrong.
#pragma once

#include "tidy/source.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::tidy {

struct Violation {
    std::string path;
    std::size_t line = 0;  // The first is 1.
    std::string rule;      // What is wrong, and what to do instead.

    std::string text() const { return path + ":" + std::to_string(line) + ": " + rule; }
};

using Violations = std::vector<Violation>;
using Files = std::vector<SourceFile>;

constexpr std::size_t file_lines_max = 400;
constexpr std::size_t function_lines_max = 70;
constexpr std::size_t columns_max = 100;

// The layer a file of proxy/ or bench/ belongs to; empty when the table does not know it.
std::string_view layer_of(std::string_view path);

// Who may include whom, and which libraries a layer knows.
Violations check_include_edges(const Files& files);

// A library's headers appear in one .cpp/.hpp pair of proxy/; nlohmann's in no header.
Violations check_library_homes(const Files& files);

// Lengths of files, functions (proxy/ only) and lines.
Violations check_file_lengths(const Files& files);
Violations check_function_lengths(const Files& files);
Violations check_line_widths(const Files& files);

// The first line says in a sentence what the file is for; headers are guarded.
Violations check_first_lines(const Files& files);

// Names that must not appear, each with its replacement.
Violations check_banned_names(const Files& files);

// Every proxy/core/X.cpp has a tests/core/X_test.cpp.
Violations check_core_tests(const Files& files);

// Relative links of Markdown files lead to files that exist, and to headings in them.
Violations check_links(const Files& markdown,
                       const std::function<bool(const std::string& path)>& exists);

}  // namespace onceward::tidy
