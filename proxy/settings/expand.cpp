// Putting environment variables into values.
#include "settings/expand.hpp"

#include "settings/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace onceward {

namespace {

constexpr std::size_t file_bytes_max = 64 << 10;

bool is_variable_name(std::string_view name)
{
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::all_of(name.begin(), name.end(), fits);
}

Expansion from_file(const std::string& name, const std::string& file, bool offline)
{
    if (offline) return VariableFile{name, file, false};
    auto text = read_small_file(file, file_bytes_max);
    if (!text) return VariableFile{name, file, true};
    if (text->ends_with('\n')) text->pop_back();
    if (text->ends_with('\r')) text->pop_back();
    return *text;
}

// `inside`: what stands between `${` and `}`.
Expansion variable(std::string_view inside, const Environment& environment, bool offline)
{
    const auto dash = inside.find(":-");
    const std::string name(inside.substr(0, dash));
    if (!is_variable_name(name)) {
        return VariableMalformed{"`${" + std::string(inside) + "}` does not name a variable"};
    }
    const bool has_default = dash != std::string_view::npos;
    const auto value = environment(name);
    if (value && !(has_default && value->empty())) return *value;
    const auto file = environment(name + "_FILE");
    if (file && !file->empty()) return from_file(name, *file, offline);
    if (has_default) return std::string(inside.substr(dash + 2));
    return VariableUnset{name};
}

}  // namespace

Environment process_environment()
{
    return [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        if (value == nullptr) return std::nullopt;
        return std::string(value);
    };
}

Expansion expand(std::string_view text, const Environment& environment, bool offline)
{
    std::string out;
    while (true) {
        const auto opening = text.find("${");
        out.append(text.substr(0, opening));
        if (opening == std::string_view::npos) return out;
        const bool literal = opening > 0 && text[opening - 1] == '$';
        if (literal) {
            out.append("{");
            text.remove_prefix(opening + 2);
            continue;
        }
        const auto closing = text.find('}', opening);
        if (closing == std::string_view::npos) return VariableMalformed{"`${` without its `}`"};
        auto value =
            variable(text.substr(opening + 2, closing - opening - 2), environment, offline);
        const auto* found = std::get_if<std::string>(&value);
        if (found == nullptr) return value;
        out.append(*found);
        text.remove_prefix(closing + 1);
    }
}

std::string escape_variables(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "${") out.push_back('$');
        out.push_back(text[i]);
    }
    return out;
}

}  // namespace onceward
