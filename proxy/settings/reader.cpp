// Typed reading of nodes.
#include "settings/reader.hpp"

#include "settings/codes.hpp"
#include "settings/expand.hpp"
#include "settings/source.hpp"
#include "settings/words.hpp"

#include <algorithm>
#include <variant>

namespace onceward {

namespace {

std::string_view kind_name(NodeKind kind)
{
    switch (kind) {
        case NodeKind::scalar: return "a single value";
        case NodeKind::list: return "a list";
        case NodeKind::mapping: return "a mapping";
    }
    return "a value";
}

std::string joined(const std::vector<std::string_view>& words)
{
    std::string out;
    for (const auto word : words) {
        if (!out.empty()) out += ", ";
        out += word;
    }
    return out;
}

std::string variable_of(std::string_view path, std::string_view name)
{
    std::string variable = "ONCEWARD_";
    const auto add = [&variable](std::string_view part) {
        for (const char c : part) {
            if (c == '.') {
                variable += "__";
            } else {
                variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
            }
        }
    };
    add(path);
    variable += "__";
    add(name);
    return variable;
}

}  // namespace

Reader::Reader(const Environment& environment, const LoadOptions& options)
    : environment_(environment), options_(options)
{
}

std::string Reader::path() const
{
    std::string path;
    for (const auto& step : path_) {
        if (!path.empty() && !step.starts_with('[')) path += '.';
        path += step;
    }
    return path;
}

std::string_view Reader::last_step() const
{
    if (path_.empty()) return {};
    const auto step = std::find_if(path_.rbegin(), path_.rend(),
                                   [](const std::string& name) { return !name.starts_with('['); });
    return step == path_.rend() ? std::string_view(path_.back()) : std::string_view(*step);
}

Diagnostic& Reader::report(Severity severity, std::string_view code, Place place, std::string path,
                           std::string message)
{
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.place = place;
    diagnostic.path = std::move(path);
    diagnostic.message = std::move(message);
    diagnostics_.push_back(std::move(diagnostic));
    return diagnostics_.back();
}

Diagnostic& Reader::error(std::string_view code, const Node& node, std::string message)
{
    auto& diagnostic = report(Severity::error, code, node.place, path(), std::move(message));
    if (!node.origin.empty()) diagnostic.notes.push_back("the value comes from the " + node.origin);
    return diagnostic;
}

Diagnostic& Reader::error(std::string_view code, Place place, std::string path, std::string message)
{
    return report(Severity::error, code, place, std::move(path), std::move(message));
}

Diagnostic& Reader::warning(std::string_view code, Place place, std::string path,
                            std::string message)
{
    return report(Severity::warning, code, place, std::move(path), std::move(message));
}

void Reader::unbuilt(Place place, std::string_view instead, bool blocks_run)
{
    unbuilt_at(path(), place, instead, blocks_run);
}

void Reader::unbuilt_at(const std::string& path, Place place, std::string_view instead,
                        bool blocks_run)
{
    auto& diagnostic = warning(codes::unbuilt, place, path, path + " is not built yet");
    diagnostic.caret = instead;
    unbuilt_.push_back({path, std::string(instead), blocks_run});
}

void Reader::misread(const Node& node, const Misread& reason)
{
    auto& diagnostic = error(reason.code, node, path() + " " + reason.what);
    diagnostic.caret = reason.hint.empty() ? "here" : reason.hint;
}

bool Reader::expanded(const Node& node, std::string& target)
{
    if (node.kind != NodeKind::scalar) {
        error(codes::wrong_shape, node,
              path() + " must be a single value, not " + std::string(kind_name(node.kind)));
        return false;
    }
    if (node.has_no_value()) {
        error(codes::wrong_shape, node, path() + " has no value").caret = "expected here";
        return false;
    }
    if (!node.origin.empty()) {
        target = node.text;
        return true;
    }
    auto expansion = expand(node.text, environment_, options_.offline);
    if (const auto* unset = std::get_if<VariableUnset>(&expansion)) {
        explain_expansion(node, unset->name);
    } else if (const auto* malformed = std::get_if<VariableMalformed>(&expansion)) {
        auto& diagnostic = error(codes::variable_form, node, path() + ": " + malformed->what);
        diagnostic.caret = "write ${NAME} or ${NAME:-default}, and `$${` for a literal `${`";
    } else if (const auto* file = std::get_if<VariableFile>(&expansion)) {
        if (!file->tried) return false;
        error(codes::secret, node,
              file->name + "_FILE names a file that cannot be read: " + file->file);
    } else {
        target = std::get<std::string>(std::move(expansion));
        return true;
    }
    return false;
}

void Reader::explain_expansion(const Node& node, const std::string& variable)
{
    const auto severity = options_.offline ? Severity::warning : Severity::error;
    auto& diagnostic = report(severity, codes::variable_unset, node.place, path(),
                              "environment variable " + variable + " is not set");
    diagnostic.aside =
        "= set it, or " + variable + "_FILE, or write ${" + variable + ":-\xE2\x80\xA6}";
}

bool Reader::text(const Node& node, std::string& target)
{
    std::string found;
    if (!expanded(node, found)) return false;
    if (found.empty()) {
        error(codes::text, node, path() + " is empty").caret = "a value is needed";
        return false;
    }
    if (printable(found) != found) {
        error(codes::text, node, path() + " holds a control character").caret = "here";
        return false;
    }
    target = std::move(found);
    return true;
}

bool Reader::duration(const Node& node, core::Millis& target, Zero zero)
{
    std::string found;
    if (!text(node, found)) return false;
    const auto parsed = parse_duration(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    const auto value = std::get<core::Millis>(parsed);
    if (value.count() == 0 && zero == Zero::refused) {
        error(codes::range, node, path() + " must be longer than zero").caret = found;
        return false;
    }
    target = value;
    return true;
}

bool Reader::in_bounds(const Node& node, std::uint64_t value, Bounds bounds, bool as_size)
{
    if (value >= bounds.least && value <= bounds.most) return true;
    const auto show = [as_size](std::uint64_t n) {
        return as_size ? show_size(n) : std::to_string(n);
    };
    auto& diagnostic = error(codes::range, node, path() + " is out of range");
    diagnostic.caret = "allowed: " + show(bounds.least) + " to " + show(bounds.most);
    return false;
}

bool Reader::size(const Node& node, std::size_t& target, Bounds bounds)
{
    std::string found;
    if (!text(node, found)) return false;
    const auto parsed = parse_size(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    const auto value = std::get<std::uint64_t>(parsed);
    if (!in_bounds(node, value, bounds, true)) return false;
    target = value;
    return true;
}

bool Reader::integer(const Node& node, std::uint64_t& value, Bounds bounds)
{
    std::string found;
    if (!text(node, found)) return false;
    const auto parsed = parse_number(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    value = std::get<std::uint64_t>(parsed);
    return in_bounds(node, value, bounds, false);
}

bool Reader::boolean(const Node& node, bool& target)
{
    std::string found;
    if (!text(node, found)) return false;
    const auto parsed = parse_boolean(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    target = std::get<bool>(parsed);
    return true;
}

bool Reader::header_name(const Node& node, std::string& target)
{
    std::string found;
    if (!text(node, found)) return false;
    if (!is_token(found)) {
        misread(node, {codes::header_name, "is not the name of a header: `" + found + "`",
                       "letters, digits and - are usual; no blank, no colon"});
        return false;
    }
    target = std::move(found);
    return true;
}

bool Reader::upstream(const Node& node, UpstreamUrl& target)
{
    std::string found;
    if (!text(node, found)) return false;
    auto parsed = parse_upstream(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    target = std::get<UpstreamUrl>(std::move(parsed));
    return true;
}

bool Reader::listen(const Node& node, ListenAddress& target)
{
    std::string found;
    if (!text(node, found)) return false;
    auto parsed = parse_listen(found);
    if (const auto* reason = std::get_if<Misread>(&parsed)) {
        misread(node, *reason);
        return false;
    }
    target = std::get<ListenAddress>(std::move(parsed));
    return true;
}

void Reader::unknown_word(const Node& node, const std::string& text,
                          const std::vector<std::string_view>& known)
{
    auto& diagnostic = error(codes::word, node, path() + " cannot be `" + text + "`");
    diagnostic.caret = "allowed: " + joined(known);
    if (const auto meant = nearest(text, known)) {
        diagnostic.suggestion = *meant;
        diagnostic.caret = "did you mean `" + std::string(*meant) + "`?";
        diagnostic.notes.push_back("allowed here: " + joined(known));
    }
}

bool Reader::is_mapping(const Node& node)
{
    if (node.kind == NodeKind::mapping) return true;
    const std::string found = node.has_no_value() ? "nothing" : std::string(kind_name(node.kind));
    error(codes::wrong_shape, node, path() + " must be a mapping, not " + found);
    return false;
}

std::vector<const Node*> Reader::items(const Node& node)
{
    std::vector<const Node*> found;
    if (node.kind == NodeKind::mapping || node.has_no_value()) {
        const std::string given =
            node.has_no_value() ? "nothing" : std::string(kind_name(node.kind));
        error(codes::wrong_shape, node, path() + " must be a list, not " + given);
        return found;
    }
    if (node.kind == NodeKind::scalar) {
        found.push_back(&node);
        return found;
    }
    for (const auto& item : node.items)
        found.push_back(&item);
    return found;
}

std::optional<Node> Reader::overriding(std::string_view name) const
{
    const auto variable = variable_of(path(), name);
    auto value = environment_(variable);
    if (!value) return std::nullopt;
    Node node;
    node.text = std::move(*value);
    node.origin = "environment variable " + variable;
    return node;
}

}  // namespace onceward
