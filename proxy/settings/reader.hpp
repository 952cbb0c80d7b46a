// Typed reading of nodes: every mistake becomes a diagnostic with the node's place and path.
#pragma once

#include "settings/values.hpp"
#include "settings/yaml_tree.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onceward {

template <class Value>
struct Word {
    std::string_view text;
    Value value;
};

struct Bounds {
    std::uint64_t least;
    std::uint64_t most;
};

enum class Zero : std::uint8_t { refused, allowed };

// One pass over one configuration. A read function that returns true has set its target; false: it
// reported why not, and the target keeps its default.
class Reader {
public:
    // `environment` must outlive the reader.
    Reader(const Environment& environment, const LoadOptions& options);

    // Adds a step to the path while it lives: "tiers", then "payments" or "[2]".
    class Step {
    public:
        Step(Reader& reader, std::string step) : reader_(reader)
        {
            reader_.path_.push_back(std::move(step));
        }
        ~Step() { reader_.path_.pop_back(); }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

    private:
        Reader& reader_;
    };

    std::string path() const;
    // The last step: what the operator wrote before the colon.
    std::string_view last_step() const;

    // Both return the new diagnostic, to be completed at once: the next report invalidates it.
    Diagnostic& error(std::string_view code, const Node& node, std::string message);
    Diagnostic& error(std::string_view code, Place place, std::string path, std::string message);
    Diagnostic& warning(std::string_view code, Place place, std::string path, std::string message);

    // W90 for what is at the current path, or at another.
    void unbuilt(Place place, std::string_view instead, bool blocks_run = false);
    void unbuilt_at(const std::string& path, Place place, std::string_view instead,
                    bool blocks_run = false);
    // Bad value: "`listen` is not ...", with the hint as a note.
    void misread(const Node& node, const Misread& reason);

    // Non-empty text without control characters, variables put in.
    bool text(const Node& node, std::string& target);
    bool duration(const Node& node, core::Millis& target, Zero zero = Zero::refused);
    bool size(const Node& node, std::size_t& target, Bounds bounds);
    template <class Integer>
    bool number(const Node& node, Integer& target, Bounds bounds);
    bool boolean(const Node& node, bool& target);
    bool header_name(const Node& node, std::string& target);
    bool upstream(const Node& node, UpstreamUrl& target);
    bool listen(const Node& node, ListenAddress& target);
    template <class Value>
    bool word(const Node& node, Value& target, std::initializer_list<Word<Value>> words);

    bool is_mapping(const Node& node);
    // The items of a list; a single scalar counts as a list of one. Empty after an error.
    std::vector<const Node*> items(const Node& node);

    // The value that ONCEWARD_<PATH__NAME> gives to the setting `name` under the current path.
    std::optional<Node> overriding(std::string_view name) const;

    bool offline() const { return options_.offline; }
    const Environment& environment() const { return environment_; }
    std::vector<Diagnostic>& diagnostics() { return diagnostics_; }
    std::vector<UnbuiltSetting>& unbuilt_settings() { return unbuilt_; }

private:
    friend class Step;
    Diagnostic& report(Severity severity, std::string_view code, Place place, std::string path,
                       std::string message);
    bool expanded(const Node& node, std::string& target);
    void explain_expansion(const Node& node, const std::string& variable);
    bool in_bounds(const Node& node, std::uint64_t value, Bounds bounds, bool as_size);
    bool integer(const Node& node, std::uint64_t& value, Bounds bounds);
    void unknown_word(const Node& node, const std::string& text,
                      const std::vector<std::string_view>& known);

    const Environment& environment_;
    LoadOptions options_;
    std::vector<std::string> path_;
    std::vector<Diagnostic> diagnostics_;
    std::vector<UnbuiltSetting> unbuilt_;
};

template <class Integer>
bool Reader::number(const Node& node, Integer& target, Bounds bounds)
{
    std::uint64_t value = 0;
    if (!integer(node, value, bounds)) return false;
    target = static_cast<Integer>(value);
    return true;
}

template <class Value>
bool Reader::word(const Node& node, Value& target, std::initializer_list<Word<Value>> words)
{
    std::string found;
    if (!text(node, found)) return false;
    std::vector<std::string_view> known;
    for (const auto& candidate : words) {
        if (candidate.text == found) {
            target = candidate.value;
            return true;
        }
        known.push_back(candidate.text);
    }
    unknown_word(node, found, known);
    return false;
}

}  // namespace onceward
