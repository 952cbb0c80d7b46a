// Splitting a configuration file into lines.
#include "settings/source.hpp"

#include <algorithm>

namespace onceward {

namespace {

// YAML 1.1 breaks lines at CR LF, CR, LF, NEL, LS and PS. Bytes of the break that begins here, or
// 0.
std::size_t break_bytes(std::string_view text)
{
    if (text.starts_with("\r\n")) return 2;
    if (text.starts_with('\n') || text.starts_with('\r')) return 1;
    if (text.starts_with("\xC2\x85")) return 2;
    if (text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9")) return 3;
    return 0;
}

bool is_control(char c)
{
    return (c >= 0 && c < 0x20) || c == 0x7F;
}

}  // namespace

SourceLines::SourceLines(std::string_view text)
{
    constexpr std::string_view first_bytes = "\n\r\xC2\xE2";
    std::size_t start = 0;
    auto at = text.find_first_of(first_bytes);
    while (at != std::string_view::npos) {
        const std::size_t broken = break_bytes(text.substr(at));
        if (broken > 0) {
            lines_.push_back(text.substr(start, at - start));
            start = at + broken;
        }
        at = text.find_first_of(first_bytes, at + std::max<std::size_t>(broken, 1));
    }
    lines_.push_back(text.substr(start));
}

std::string_view SourceLines::line(int line) const
{
    if (line < 1 || static_cast<std::size_t>(line) > lines_.size()) return {};
    return lines_[static_cast<std::size_t>(line) - 1];
}

int SourceLines::byte_column(int line, std::size_t character)
{
    if (cursor_.line != line || cursor_.character > character) cursor_ = {line, 0, 0};
    const auto text = this->line(line);
    while (cursor_.character < character && cursor_.byte < text.size()) {
        cursor_.byte += character_bytes(text.substr(cursor_.byte));
        ++cursor_.character;
    }
    return static_cast<int>(std::min(cursor_.byte, text.size()) + 1);
}

std::size_t character_bytes(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text.front());
    std::size_t size = 1;
    if (first >= 0xC2 && first < 0xE0) size = 2;
    if (first >= 0xE0 && first < 0xF0) size = 3;
    if (first >= 0xF0 && first < 0xF5) size = 4;
    return std::min(size, text.size());
}

std::string printable(std::string_view text)
{
    std::string out(text);
    std::replace_if(out.begin(), out.end(), is_control, ' ');
    return out;
}

}  // namespace onceward
