// Reading and scanning source files.
#include "tidy/source.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace onceward::tidy {

namespace fs = std::filesystem;

namespace {

bool has_extension(const fs::path& path, const std::vector<std::string>& extensions)
{
    return std::find(extensions.begin(), extensions.end(), path.extension().string()) !=
           extensions.end();
}

SourceFile read_file(const fs::path& root, const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return {fs::relative(path, root).generic_string(), std::move(text)};
}

bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void blank(std::string& text, std::size_t from, std::size_t to)
{
    for (std::size_t i = from; i < std::min(to, text.size()); ++i) {
        if (text[i] != '\n') text[i] = ' ';
    }
}

// Where the literal that begins at `at` ends: one past its closing quote.
std::size_t end_of_literal(std::string_view text, std::size_t at)
{
    const char quote = text[at];
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == quote || text[i] == '\n') {
            return i + 1;
        }
    }
    return text.size();
}

// R"delimiter( ... )delimiter"; `at` is the quote.
std::size_t end_of_raw_literal(std::string_view text, std::size_t at)
{
    const auto open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    const std::string closing = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    const auto close = text.find(closing, open);
    return close == std::string_view::npos ? text.size() : close + closing.size();
}

std::size_t indent_of(std::string_view line)
{
    const auto first = line.find_first_not_of(' ');
    return first == std::string_view::npos ? line.size() : first;
}

std::string_view trimmed(std::string_view line)
{
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// A brace alone after a statement or another brace opens a block, not a function. The last member
// of an initialiser list ends in a brace too, but stands deeper than the brace that follows.
bool opens_function(std::string_view before, std::size_t indent)
{
    const auto text = trimmed(before);
    if (text.empty() || text.ends_with(';') || text.ends_with('{')) return false;
    return !text.ends_with('}') || indent_of(before) > indent;
}

std::string_view last_filled(const std::vector<std::string_view>& lines, std::size_t before)
{
    while (before > 0) {
        --before;
        if (!trimmed(lines[before]).empty()) return lines[before];
    }
    return {};
}

}  // namespace

std::vector<SourceFile> read_tree(const fs::path& root, const std::vector<std::string>& folders,
                                  const std::vector<std::string>& extensions)
{
    std::vector<SourceFile> files;
    for (const auto& folder : folders) {
        const fs::path path = root / folder;
        if (fs::is_regular_file(path)) files.push_back(read_file(root, path));
        if (!fs::is_directory(path)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(path)) {
            if (entry.is_regular_file() && has_extension(entry.path(), extensions)) {
                files.push_back(read_file(root, entry.path()));
            }
        }
    }
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return lines;
}

std::string code_of(std::string_view text)
{
    std::string code(text);
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        std::size_t end = i + 1;
        if (text.substr(i, 2) == "//") {
            end = std::min(text.find('\n', i), text.size());
            blank(code, i, end);
        } else if (text.substr(i, 2) == "/*") {
            const auto close = text.find("*/", i + 2);
            end = close == std::string_view::npos ? text.size() : close + 2;
            blank(code, i, end);
        } else if (c == '"' && i > 0 && text[i - 1] == 'R' && (i < 2 || !is_word(text[i - 2]))) {
            end = end_of_raw_literal(text, i);
            blank(code, i + 1, end - 1);
        } else if (c == '"' || (c == '\'' && (i == 0 || !is_word(text[i - 1])))) {
            end = end_of_literal(text, i);
            blank(code, i + 1, end - 1);
        }
        i = end;
    }
    return code;
}

std::vector<Include> includes_of(std::string_view text)
{
    std::vector<Include> includes;
    const auto lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto line = trimmed(lines[i]);
        if (!line.starts_with("#include")) continue;
        const auto open = line.find_first_of("\"<");
        if (open == std::string_view::npos) continue;
        const bool quoted = line[open] == '"';
        const auto close = line.find(quoted ? '"' : '>', open + 1);
        includes.push_back({i + 1, std::string(line.substr(open + 1, close - open - 1)), quoted});
    }
    return includes;
}

std::vector<Function> functions_of(std::string_view text)
{
    std::vector<Function> functions;
    const std::string code = code_of(text);
    const auto lines = lines_of(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto indent = indent_of(lines[i]);
        if (trimmed(lines[i]) != "{" || !opens_function(last_filled(lines, i), indent)) continue;
        std::size_t end = i + 1;
        while (end < lines.size() &&
               (indent_of(lines[end]) != indent || !trimmed(lines[end]).starts_with('}'))) {
            ++end;
        }
        functions.push_back({i + 1, end - i - 1});
    }
    return functions;
}

}  // namespace onceward::tidy
