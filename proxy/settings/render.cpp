// Diagnostics as text with carets, and as JSON.
#include "settings/load.hpp"
#include "settings/source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace onceward {

namespace {

constexpr std::size_t line_bytes_max = 160;

struct Mark {
    Place place;
    std::string text;
    char sign;  // `^` for the place itself, `-` for what explains it.
};

std::string_view name_of(Severity severity)
{
    switch (severity) {
        case Severity::error: return "error";
        case Severity::warning: return "warning";
    }
    return "error";
}

std::size_t characters(std::string_view text)
{
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += character_bytes(text.substr(at)))
        ++count;
    return count;
}

// A source line as it is shown: cut when very long, a secret's value hidden.
struct Shown {
    std::string text;
    std::size_t skipped = 0;  // Bytes cut off at its front.
};

Shown shown_line(std::string_view line, std::size_t column)
{
    Shown shown;
    if (line.size() > line_bytes_max && column > line_bytes_max / 2) {
        shown.skipped = std::min(column - line_bytes_max / 2, line.size());
        while (shown.skipped > 0 &&
               (static_cast<unsigned char>(line[shown.skipped - 1]) & 0xC0) == 0x80) {
            --shown.skipped;
        }
    }
    auto end = std::min(line.size(), shown.skipped + line_bytes_max);
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
        ++end;
    shown.text = printable(line.substr(shown.skipped, end - shown.skipped));
    const auto secret = shown.text.find("secret:");
    if (secret != std::string::npos) shown.text.replace(secret + 7, std::string::npos, " ***");
    return shown;
}

// "   |     ^^^ text"
std::string marked(const Shown& shown, const Mark& mark, const std::string& gutter)
{
    const auto start = static_cast<std::size_t>(std::max(mark.place.column - 1, 0));
    const auto from =
        std::min(start > shown.skipped ? start - shown.skipped : 0, shown.text.size());
    const auto wanted =
        static_cast<std::size_t>(std::max(mark.place.end_column - mark.place.column, 1));
    const std::string_view text = shown.text;
    const auto width = std::max<std::size_t>(characters(text.substr(from, wanted)), 1);
    std::string line = gutter + "| " + std::string(characters(text.substr(0, from)), ' ') +
                       std::string(width, mark.sign);
    if (!mark.text.empty()) line += " " + printable(mark.text);
    return line + "\n";
}

std::string snippet(const SourceLines& source, const std::vector<Mark>& marks, std::size_t digits)
{
    const std::string gutter(digits + 1, ' ');
    std::string out = gutter + "|\n";
    int last_line = 0;
    Shown shown;
    for (const auto& mark : marks) {
        if (mark.place.line != last_line) {
            last_line = mark.place.line;
            shown = shown_line(source.line(last_line),
                               static_cast<std::size_t>(std::max(mark.place.column, 1)));
            const auto number = std::to_string(last_line);
            out += std::string(digits - number.size(), ' ') + number + " | " + shown.text + "\n";
        }
        out += marked(shown, mark, gutter);
    }
    return out;
}

std::vector<Mark> marks_of(const Diagnostic& diagnostic)
{
    std::vector<Mark> marks;
    if (diagnostic.place.line == 0) return marks;
    std::multimap<int, Mark> sorted;  // By line; the place itself first.
    if (!diagnostic.caret.empty()) {
        sorted.emplace(diagnostic.place.line, Mark{diagnostic.place, diagnostic.caret, '^'});
    }
    for (const auto& label : diagnostic.labels) {
        if (label.place.line > 0)
            sorted.emplace(label.place.line, Mark{label.place, label.text, '-'});
    }
    for (auto& [line, mark] : sorted)
        marks.push_back(std::move(mark));
    return marks;
}

// Further lines of a note stand below the first one's text.
std::string note_lines(const std::string& note, const std::string& gutter)
{
    std::string out = gutter + "= ";
    std::string_view rest = note;
    while (true) {
        const auto end = rest.find('\n');
        out += printable(rest.substr(0, end)) + "\n";
        if (end == std::string_view::npos) return out;
        rest.remove_prefix(end + 1);
        out += gutter + "  ";
    }
}

std::string rendered(const std::string& file, const SourceLines& source,
                     const Diagnostic& diagnostic)
{
    const auto marks = marks_of(diagnostic);
    int largest = diagnostic.place.line;
    for (const auto& mark : marks)
        largest = std::max(largest, mark.place.line);
    const auto digits = std::max<std::size_t>(2, std::to_string(largest).size());
    std::string out = std::string(name_of(diagnostic.severity)) + "[" + diagnostic.code +
                      "]: " + printable(diagnostic.message) + "\n";
    if (diagnostic.place.line > 0) {
        out += std::string(digits, ' ') + "--> " + printable(file) + ":" +
               std::to_string(diagnostic.place.line) + ":" +
               std::to_string(diagnostic.place.column);
        if (!diagnostic.aside.empty()) out += "   " + printable(diagnostic.aside);
        out += "\n";
    } else if (!diagnostic.aside.empty()) {
        out += std::string(digits + 1, ' ') + printable(diagnostic.aside) + "\n";
    }
    if (!marks.empty()) out += snippet(source, marks, digits);
    for (const auto& note : diagnostic.notes)
        out += note_lines(note, std::string(digits + 1, ' '));
    return out;
}

}  // namespace

std::string render_text(const std::string& file, std::string_view source,
                        const std::vector<Diagnostic>& diagnostics)
{
    const SourceLines lines(source);
    std::string out;
    for (const auto& diagnostic : diagnostics) {
        if (!out.empty()) out += "\n";
        out += rendered(file, lines, diagnostic);
    }
    return out;
}

std::string render_json(const std::string& file, const std::vector<Diagnostic>& diagnostics)
{
    auto array = nlohmann::ordered_json::array();
    for (const auto& diagnostic : diagnostics) {
        nlohmann::ordered_json object;
        object["code"] = diagnostic.code;
        object["severity"] = name_of(diagnostic.severity);
        object["file"] = file;
        object["line"] = diagnostic.place.line;
        object["column"] = diagnostic.place.column;
        object["end_column"] = diagnostic.place.end_column;
        object["path"] = diagnostic.path;
        object["message"] = diagnostic.message;
        object["suggestion"] = diagnostic.suggestion;
        array.push_back(std::move(object));
    }
    return array.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace onceward
