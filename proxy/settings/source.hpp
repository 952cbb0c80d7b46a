// The text of a configuration file as lines, counted the way YAML counts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onceward {

// Refers to the text, which must outlive it. For one thread.
class SourceLines {
public:
    explicit SourceLines(std::string_view text);

    // `line` is 1-based; beyond the end: empty. Without the line break.
    std::string_view line(int line) const;
    // 1-based column in bytes of a 1-based line's character number `character` (0-based). Calls in
    // the text's order cost no more than its length in all.
    int byte_column(int line, std::size_t character);

private:
    // Where the last byte_column ended.
    struct Cursor {
        int line = 0;
        std::size_t character = 0;
        std::size_t byte = 0;
    };

    std::vector<std::string_view> lines_;
    Cursor cursor_;
};

// Bytes of the UTF-8 character that begins here; 1 for what is none. `text` is not empty.
std::size_t character_bytes(std::string_view text);

// `text` fit for a terminal: one space for each control character.
std::string printable(std::string_view text);

}  // namespace onceward
