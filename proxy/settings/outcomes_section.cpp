// `outcomes`: what single codes and whole classes of answers mean, on a tier or a route.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

using Listed = std::vector<ListedOutcome>;

// 201 or 2xx; informational answers are never final.
std::optional<ListedOutcome> parse_outcome(std::string_view text)
{
    if (text.size() != 3 || text[0] < '2' || text[0] > '5') return std::nullopt;
    const int hundreds = text[0] - '0';
    if (text.substr(1) == "xx") return ListedOutcome{hundreds, true, {}};
    for (const char c : text.substr(1)) {
        if (c < '0' || c > '9') return std::nullopt;
    }
    return ListedOutcome{hundreds * 100 + (text[1] - '0') * 10 + (text[2] - '0'), false, {}};
}

void list(Reader& reader, const Node& node, Listed& outcomes, core::Disposition disposition)
{
    for (const auto* item : reader.items(node)) {
        std::string text;
        if (!reader.text(*item, text)) continue;
        auto outcome = parse_outcome(text);
        if (!outcome) {
            reader.misread(*item, {codes::outcome, "cannot hold `" + text + "`",
                                   "write a code from 200 to 599, or one of 2xx, 3xx, 4xx, 5xx"});
            continue;
        }
        const bool repeated = std::any_of(outcomes.begin(), outcomes.end(), [&](const auto& other) {
            return other.number == outcome->number && other.is_class == outcome->is_class;
        });
        if (repeated) {
            reader.misread(*item, {codes::outcome, "lists `" + text + "` a second time",
                                   "each code and class may have one meaning"});
            continue;
        }
        outcome->disposition = disposition;
        outcomes.push_back(*outcome);
    }
}

constexpr std::array outcome_fields{
    Field<Listed>{"done", [](Reader& r, const Node& n,
                             Listed& o) { list(r, n, o, core::Disposition::done); }},
    Field<Listed>{"failed", [](Reader& r, const Node& n,
                               Listed& o) { list(r, n, o, core::Disposition::failed); }},
    Field<Listed>{"released", [](Reader& r, const Node& n,
                                 Listed& o) { list(r, n, o, core::Disposition::released); }},
    Field<Listed>{"unknown", [](Reader& r, const Node& n,
                                Listed& o) { list(r, n, o, core::Disposition::unknown); }},
};
constexpr Section<Listed> outcome_section{"routes[].outcomes", outcome_fields};

}  // namespace

void read_outcomes(Reader& reader, const Node& node, Listed& outcomes)
{
    read_section(reader, &node, outcome_section, outcomes);
}

void add_outcome_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(outcome_section));
}

}  // namespace onceward
