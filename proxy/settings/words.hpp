// "Did you mean": which known word a mistyped one is close to.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace onceward {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other,
// each part of a word touched once (optimal string alignment).
std::size_t edit_distance(std::string_view from, std::string_view to);

// The nearest of `known` within two edits and a third of the word's length, or a known alias of one
// of them
// (`ttl` for `retention`).
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known);

}  // namespace onceward
