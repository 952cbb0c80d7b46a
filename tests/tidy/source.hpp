// Source files as text, and what a simple scanner can tell about them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::tidy {

struct SourceFile {
    std::string path;  // From the root of the tree, with slashes: proxy/core/key.cpp.
    std::string text;
};

// Every file under root/folder (or root/folder itself, if it is a file) with one of the extensions,
// by path.
std::vector<SourceFile> read_tree(const std::filesystem::path& root,
                                  const std::vector<std::string>& folders,
                                  const std::vector<std::string>& extensions);

std::vector<std::string_view> lines_of(std::string_view text);

// The code alone: comments and the contents of literals become blanks, so that places stay the
// same.
std::string code_of(std::string_view text);

struct Include {
    std::size_t line = 0;
    std::string target;   // Between the quotes or brackets.
    bool quoted = false;  // "ours", not <theirs>.
};
std::vector<Include> includes_of(std::string_view text);

struct Function {
    std::size_t line = 0;   // Of the opening brace; the first is 1.
    std::size_t lines = 0;  // Between the braces.
};

// Functions whose opening brace has a line of its own, which is every one that our formatting does
// not keep on a single line.
std::vector<Function> functions_of(std::string_view text);

}  // namespace onceward::tidy
