// Running without a file: the command line as YAML, loaded by the same rules.
#include "settings/codes.hpp"
#include "settings/expand.hpp"
#include "settings/load.hpp"

#include <algorithm>

namespace onceward {

namespace {

// A YAML double-quoted string that means these bytes, when they are UTF-8.
std::string quoted(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : escape_variables(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\x";
            out += digits[byte >> 4];
            out += digits[byte & 0xF];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

// Without quotes where a reader would not use any either.
std::string yaml_value(std::string_view text)
{
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == ':' || c == '_' || c == '-';
    });
    const bool risky =
        text.starts_with('-') || text.starts_with(':') || text.ends_with(':') || text == "null";
    return plain && !risky ? std::string(text) : quoted(text);
}

}  // namespace

std::string equivalent_yaml(const QuickStart& quick_start, const std::string& sqlite_path)
{
    std::string yaml = "version: 1\nserver:\n";
    if (!quick_start.listen.empty()) yaml += "  listen: " + yaml_value(quick_start.listen) + "\n";
    if (!quick_start.upstream.empty())
        yaml += "  upstream: " + yaml_value(quick_start.upstream) + "\n";
    if (!sqlite_path.empty()) yaml += "store:\n  sqlite: " + yaml_value(sqlite_path) + "\n";
    if (!quick_start.subject.empty())
        yaml += "keys:\n  subject: " + yaml_value(quick_start.subject) + "\n";
    yaml +=
        "tiers:\n"
        "  default:\n"
        "    retention: 7d\n"
        "    lease: 60s\n"
        "routes:\n"
        "  - name: default\n"
        "    match: { method: POST }\n"
        "    tier: default\n"
        "    when_missing: pass\n"
        "    fingerprint: { type: raw }\n";
    return yaml;
}

Loaded load_quick_start(const QuickStart& quick_start, const Environment& environment)
{
    auto loaded = load_text("", equivalent_yaml(quick_start, ""), environment, LoadOptions{});
    // The one tier here cannot be given a budget: there is nothing to warn of.
    std::erase_if(loaded.diagnostics, [](const Diagnostic& diagnostic) {
        return diagnostic.code == codes::budget_unstated;
    });
    loaded.source.clear();
    for (auto& diagnostic : loaded.diagnostics) {
        diagnostic.place = {};
        diagnostic.labels.clear();
        if (!diagnostic.caret.empty())
            diagnostic.notes.insert(diagnostic.notes.begin(), diagnostic.caret);
        diagnostic.caret.clear();
    }
    return loaded;
}

}  // namespace onceward
