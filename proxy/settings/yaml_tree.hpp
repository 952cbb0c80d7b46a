// A YAML file as a tree in which every node knows its place; the only user of libyaml.
#pragma once

#include "settings/load.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward {

enum class NodeKind : std::uint8_t { scalar, list, mapping };

struct Entry;

struct Node {
    NodeKind kind = NodeKind::scalar;
    std::string text;    // scalar: as written, before variables are put in.
    bool plain = false;  // scalar: without quotes, so that `~` and an empty one mean "no value".
    Place place;
    std::string origin;          // "environment variable ONCEWARD_X" when it is not from the file.
    std::vector<Node> items;     // list
    std::vector<Entry> entries;  // mapping, in file order, each key once.

    // A scalar without value: `listen:`, `~`, `null`.
    bool has_no_value() const;
};

struct Entry {
    std::string key;
    Place place;
    Node value;
};

// The entry of this name, or nullptr.
const Entry* find_entry(const Node& mapping, std::string_view key);

struct Tree {
    std::optional<Node> root;  // A mapping; absent when the text could not be read to its end.
    std::vector<Diagnostic> diagnostics;
};

// At most 1 MiB of text, 16 levels and 20,000 nodes (E005). No anchors, aliases, merge keys or tags
// (E003), one document (E004). Duplicate keys are reported (E101) and reading goes on. Never throws
// on bad input.
Tree parse_yaml(std::string_view text);

}  // namespace onceward
