// Edit distance and aliases.
#include "settings/words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace onceward {

namespace {

// Names that other products use for what is meant here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> aliases{{
    {"ttl", "retention"},         {"expiry", "retention"},
    {"expires", "retention"},     {"lock_timeout", "lease"},
    {"lock_ttl", "lease"},        {"methods", "method"},
    {"prefix", "path_prefix"},    {"regex", "path_regex"},
    {"target", "upstream"},       {"backend", "upstream"},
    {"url", "upstream"},          {"origin", "upstream"},
    {"port", "listen"},           {"bind", "listen"},
    {"address", "listen"},        {"threads", "workers"},
    {"dsn", "postgres"},          {"database", "postgres"},
    {"file", "sqlite"},           {"scope", "subject"},
    {"header_name", "header"},    {"max_body", "max_request_body"},
    {"budget", "retry_budget"},   {"purge_after", "tombstone"},
    {"required", "when_missing"}, {"verbosity", "level"},
}};

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to)
{
    std::vector<std::size_t> before(to.size() + 1);
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped =
                i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[to.size()];
}

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known)
{
    const auto alias = std::find_if(aliases.begin(), aliases.end(),
                                    [word](const auto& pair) { return pair.first == word; });
    if (alias != aliases.end() &&
        std::find(known.begin(), known.end(), alias->second) != known.end()) {
        return alias->second;
    }
    constexpr std::size_t word_max =
        64;  // Nothing longer resembles a setting, and the search is quadratic.
    if (word.size() > word_max) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t best_distance = std::min<std::size_t>(2, word.size() / 3) + 1;
    for (const auto candidate : known) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace onceward
