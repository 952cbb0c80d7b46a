// Building the tree from libyaml's events.
#include "settings/yaml_tree.hpp"

#include "settings/codes.hpp"
#include "settings/source.hpp"

#include <yaml.h>

#include <algorithm>
#include <array>

namespace onceward {

namespace {

constexpr std::size_t text_max = 1 << 20;
constexpr std::size_t depth_max = 16;
constexpr std::size_t nodes_max = 20'000;

// Thrown inside this file only: the diagnostic that ends reading.
struct Stop {
    Diagnostic diagnostic;
};

struct Event {
    yaml_event_t raw{};
    Event() = default;
    ~Event() { yaml_event_delete(&raw); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
};

std::string_view bytes(const yaml_char_t* text, std::size_t size)
{
    return {reinterpret_cast<const char*>(text), size};
}

std::string_view sentence(const char* text)
{
    return text != nullptr ? std::string_view(text) : std::string_view();
}

Diagnostic fault(std::string_view code, Place place, std::string message)
{
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.place = place;
    diagnostic.message = std::move(message);
    return diagnostic;
}

// What a value under this key must not be shown as.
bool is_confidential(std::string_view key)
{
    constexpr std::array<std::string_view, 3> keys{"secret", "postgres", "redis"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string path_of(const std::vector<std::string>& steps)
{
    std::string path;
    for (const auto& step : steps) {
        if (!path.empty() && !step.starts_with('[')) path += '.';
        path += step;
    }
    return path;
}

class Builder {
public:
    explicit Builder(std::string_view text) : text_(text), lines_(text)
    {
        yaml_parser_initialize(&parser_);
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    ~Builder() { yaml_parser_delete(&parser_); }
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    Tree build();

private:
    void next(Event& event);
    Node document();
    Node node(const Event& event);
    Node scalar(const Event& event);
    Node list(const Event& event);
    Node mapping(const Event& event);
    void add_entry(Node& map, Entry entry);
    void report_duplicate(const Entry& first, const Entry& second);
    void enter(const Event& event);
    void refuse_anchor(const yaml_char_t* anchor, const yaml_char_t* tag, const Event& event);
    [[noreturn]] void stop_at(const Event& event, std::string_view code, std::string message);
    [[noreturn]] void stop_by_parser();
    Diagnostic reader_fault();
    Diagnostic quote_fault();

    void close(Node& node, const Event& event);
    Place place(const yaml_mark_t& start, const yaml_mark_t& end);
    Place point(const yaml_mark_t& mark);

    std::string_view text_;
    SourceLines lines_;
    yaml_parser_t parser_{};
    std::vector<std::string> path_;
    std::size_t nodes_ = 0;
    std::size_t depth_ = 0;
    std::vector<Diagnostic> diagnostics_;
};

Place Builder::point(const yaml_mark_t& mark)
{
    const int line = static_cast<int>(mark.line) + 1;
    const int column = lines_.byte_column(line, mark.column);
    return {line, column, column + 1};
}

// What spans several lines is underlined to the end of its first.
Place Builder::place(const yaml_mark_t& start, const yaml_mark_t& end)
{
    Place place = point(start);
    if (end.line == start.line) {
        place.end_column = lines_.byte_column(place.line, end.column);
    } else {
        place.end_column = static_cast<int>(lines_.line(place.line).size()) + 1;
    }
    place.end_column = std::max(place.end_column, place.column + 1);
    return place;
}

// `{...}` and `[...]` are underlined whole when they end on their first line.
void Builder::close(Node& node, const Event& event)
{
    const auto& end = event.raw.end_mark;
    if (static_cast<int>(end.line) + 1 != node.place.line) return;
    node.place.end_column = lines_.byte_column(node.place.line, end.column);
}

void Builder::stop_at(const Event& event, std::string_view code, std::string message)
{
    auto diagnostic =
        fault(code, place(event.raw.start_mark, event.raw.end_mark), std::move(message));
    diagnostic.path = path_of(path_);
    throw Stop{std::move(diagnostic)};
}

// libyaml gives a byte offset and no mark for what is no text at all.
Diagnostic Builder::reader_fault()
{
    const auto before = text_.substr(0, std::min(parser_.problem_offset, text_.size()));
    const auto line_start = before.find_last_of('\n') + 1;  // npos + 1 is 0.
    const int column = static_cast<int>(before.size() - line_start) + 1;
    const Place at{static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1, column,
                   column + 1};
    auto diagnostic =
        fault(codes::syntax, at, "not a text file: " + std::string(sentence(parser_.problem)));
    diagnostic.notes.emplace_back("the file must be UTF-8 text without control characters");
    return diagnostic;
}

Diagnostic Builder::quote_fault()
{
    const Place start = point(parser_.context_mark);
    const auto line = lines_.line(start.line).substr(static_cast<std::size_t>(start.column) - 1);
    auto diagnostic = fault(codes::syntax, start,
                            line.starts_with('\'') ? "unterminated single-quoted string"
                                                   : "unterminated double-quoted string");
    diagnostic.caret =
        "starts here, end of file reached at line " + std::to_string(parser_.problem_mark.line + 1);
    return diagnostic;
}

void Builder::stop_by_parser()
{
    if (parser_.error == YAML_READER_ERROR) throw Stop{reader_fault()};
    const auto problem = sentence(parser_.problem);
    const auto context = sentence(parser_.context);
    if (context == "while scanning a quoted scalar" &&
        problem == "found unexpected end of stream") {
        throw Stop{quote_fault()};
    }
    const Place at = point(parser_.problem_mark);
    auto diagnostic = fault(codes::syntax, at, "not YAML: " + std::string(problem));
    diagnostic.caret = "here";
    const auto line = lines_.line(at.line);
    const auto offset = static_cast<std::size_t>(at.column) - 1;
    if (offset < line.size() && line[offset] == '\t') {
        diagnostic.message = "not YAML: a tab where only spaces may indent";
    } else if (problem == "found character that cannot start any token") {
        diagnostic.notes.emplace_back("write the value in quotes");
    } else if (problem == "mapping values are not allowed in this context") {
        diagnostic.notes.emplace_back(
            "a value that contains `: ` needs quotes; otherwise check the indentation");
    }
    if (!context.empty()) {
        diagnostic.labels.push_back({point(parser_.context_mark), std::string(context)});
    }
    throw Stop{std::move(diagnostic)};
}

void Builder::next(Event& event)
{
    if (yaml_parser_parse(&parser_, &event.raw) == 0) stop_by_parser();
}

void Builder::enter(const Event& event)
{
    if (depth_ > depth_max) stop_at(event, codes::too_large, "nested deeper than 16 levels");
    if (++nodes_ > nodes_max) stop_at(event, codes::too_large, "more than 20000 values");
}

void Builder::refuse_anchor(const yaml_char_t* anchor, const yaml_char_t* tag, const Event& event)
{
    if (anchor != nullptr) {
        stop_at(event, codes::unsupported_yaml,
                "anchors (`&name`) are not supported: write the value out");
    }
    if (tag != nullptr) stop_at(event, codes::unsupported_yaml, "tags (`!name`) are not supported");
}

Node Builder::scalar(const Event& event)
{
    const auto& raw = event.raw.data.scalar;
    refuse_anchor(raw.anchor, raw.tag, event);
    Node node;
    node.text = bytes(raw.value, raw.length);
    node.plain = raw.style == YAML_PLAIN_SCALAR_STYLE;
    node.place = place(event.raw.start_mark, event.raw.end_mark);
    return node;
}

Node Builder::list(const Event& event)
{
    const auto& raw = event.raw.data.sequence_start;
    refuse_anchor(raw.anchor, raw.tag, event);
    Node node;
    node.kind = NodeKind::list;
    node.place = place(event.raw.start_mark, event.raw.end_mark);
    while (true) {
        Event item;
        next(item);
        if (item.raw.type == YAML_SEQUENCE_END_EVENT) {
            if (raw.style == YAML_FLOW_SEQUENCE_STYLE) close(node, item);
            return node;
        }
        path_.push_back("[" + std::to_string(node.items.size()) + "]");
        node.items.push_back(this->node(item));
        path_.pop_back();
    }
}

Node Builder::mapping(const Event& event)
{
    const auto& raw = event.raw.data.mapping_start;
    refuse_anchor(raw.anchor, raw.tag, event);
    Node node;
    node.kind = NodeKind::mapping;
    node.place = place(event.raw.start_mark, event.raw.end_mark);
    while (true) {
        Event key;
        next(key);
        if (key.raw.type == YAML_MAPPING_END_EVENT) {
            if (raw.style == YAML_FLOW_MAPPING_STYLE) close(node, key);
            return node;
        }
        Node name = this->node(key);
        if (name.kind != NodeKind::scalar)
            stop_at(key, codes::wrong_shape, "a key must be a plain word");
        if (name.plain && name.text == "<<") {
            stop_at(key, codes::unsupported_yaml,
                    "merge keys (`<<`) are not supported: write the keys out");
        }
        Event value;
        next(value);
        path_.push_back(name.text);
        Entry entry{name.text, name.place, this->node(value)};
        path_.pop_back();
        add_entry(node, std::move(entry));
    }
}

void Builder::add_entry(Node& map, Entry entry)
{
    const auto* first = find_entry(map, entry.key);
    if (first != nullptr) {
        report_duplicate(*first, entry);
    } else {
        map.entries.push_back(std::move(entry));
    }
}

void Builder::report_duplicate(const Entry& first, const Entry& second)
{
    const auto where = path_of(path_);
    auto diagnostic = fault(codes::duplicate_key, second.place,
                            "key `" + second.key + "` appears twice " +
                                (where.empty() ? "at the top level" : "in " + where));
    path_.push_back(second.key);
    diagnostic.path = path_of(path_);
    path_.pop_back();
    diagnostic.aside = "(first one at line " + std::to_string(first.place.line);
    const bool both_shown = first.value.kind == NodeKind::scalar &&
                            second.value.kind == NodeKind::scalar && !is_confidential(second.key);
    if (both_shown) {
        diagnostic.aside += "; values " + first.value.text + " and " + second.value.text;
    }
    diagnostic.aside += ")";
    diagnostics_.push_back(std::move(diagnostic));
}

Node Builder::node(const Event& event)
{
    ++depth_;
    enter(event);
    Node made;
    switch (event.raw.type) {
        case YAML_SCALAR_EVENT: made = scalar(event); break;
        case YAML_SEQUENCE_START_EVENT: made = list(event); break;
        case YAML_MAPPING_START_EVENT: made = mapping(event); break;
        default:
            stop_at(event, codes::unsupported_yaml,
                    "aliases (`*name`) are not supported: write the value out");
    }
    --depth_;
    return made;
}

Node Builder::document()
{
    Event stream_start;
    next(stream_start);
    Event start;
    next(start);
    if (start.raw.type == YAML_STREAM_END_EVENT) {
        throw Stop{fault(codes::not_a_mapping, {1, 1, 2}, "the file says nothing")};
    }
    Event first;
    next(first);
    Node root = node(first);
    Event end;
    next(end);
    Event after;
    next(after);
    if (after.raw.type != YAML_STREAM_END_EVENT) {
        stop_at(after, codes::several_documents, "a second document (`---`) is not allowed");
    }
    return root;
}

Tree Builder::build()
{
    Tree tree;
    try {
        Node root = document();
        if (root.has_no_value()) {
            diagnostics_.push_back(fault(codes::not_a_mapping, {1, 1, 2}, "the file says nothing"));
        } else if (root.kind != NodeKind::mapping) {
            diagnostics_.push_back(
                fault(codes::not_a_mapping, root.place,
                      "the file must be a mapping (`server:`, `keys:`, ...) at its top"));
        } else {
            tree.root = std::move(root);
        }
    } catch (Stop& stop) {
        diagnostics_.push_back(std::move(stop.diagnostic));
    }
    tree.diagnostics = std::move(diagnostics_);
    return tree;
}

}  // namespace

bool Node::has_no_value() const
{
    return kind == NodeKind::scalar && plain &&
           (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

const Entry* find_entry(const Node& mapping, std::string_view key)
{
    const auto found = std::find_if(mapping.entries.begin(), mapping.entries.end(),
                                    [key](const Entry& entry) { return entry.key == key; });
    return found == mapping.entries.end() ? nullptr : &*found;
}

Tree parse_yaml(std::string_view text)
{
    if (text.size() > text_max) {
        Tree tree;
        tree.diagnostics.push_back(
            fault(codes::too_large, {1, 1, 2}, "the file is larger than 1 MiB"));
        return tree;
    }
    return Builder(text).build();
}

}  // namespace onceward
