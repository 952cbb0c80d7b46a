// `tiers`: how long records live.
#include "settings/sections.hpp"

#include <array>
#include <utility>

namespace onceward {

namespace {

// Windows in which an expired key still answers `key-expired` (decision 11), by the tier's name.
constexpr std::array<std::pair<std::string_view, std::chrono::days>, 4> tombstones{
    {{"payments", std::chrono::days{90}},
     {"orders", std::chrono::days{30}},
     {"notifications", std::chrono::days{7}},
     {"telemetry", std::chrono::days{1}}}};

void keep(Written& written, const Node& node, bool valid)
{
    written = {node.place, node.text, valid};
}

constexpr std::array budget_fields{
    Field<TierDraft>{"total",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         t.total_stated = true;
                         r.duration(n, t.tier.retry_budget->total, Zero::allowed);
                     }},
    Field<TierDraft>{"skew",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         r.duration(n, t.tier.retry_budget->skew, Zero::allowed);
                     }},
    Field<TierDraft>{"replay_window",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         r.duration(n, t.tier.retry_budget->replay_window, Zero::allowed);
                     }},
};
constexpr Section<TierDraft> budget_section{"tiers.<name>.retry_budget", budget_fields};

void read_budget(Reader& reader, const Node& node, TierDraft& tier)
{
    const auto before = reader.diagnostics().size();
    tier.tier.retry_budget.emplace();
    read_section(reader, &node, budget_section, tier);
    if (!tier.total_stated && node.kind == NodeKind::mapping) {
        auto& diagnostic =
            reader.error(codes::required, node, reader.path() + ".total is required");
        diagnostic.caret = "the longest time for which a client keeps retrying";
    }
    keep(tier.retry_budget, node, reader.diagnostics().size() == before);
}

void read_tombstone(Reader& reader, const Node& node, TierDraft& tier)
{
    tier.tombstone_stated = true;
    if (node.kind == NodeKind::scalar && node.text == "never") {
        tier.tier.tombstone.reset();
        return;
    }
    core::Millis window{};
    if (reader.duration(node, window)) tier.tier.tombstone = window;
}

void read_unknown_retention(Reader& reader, const Node& node, TierDraft& tier)
{
    core::Millis value{};
    const bool valid = reader.duration(node, value);
    if (valid) tier.tier.unknown_retention = value;
    keep(tier.unknown_retention, node, valid);
}

enum class OnUnknown : std::uint8_t { hold, other };

void read_on_unknown(Reader& reader, const Node& node, TierDraft&)
{
    OnUnknown choice = OnUnknown::hold;
    const bool valid = reader.word<OnUnknown>(node, choice,
                                              {{"hold", OnUnknown::hold},
                                               {"probe", OnUnknown::other},
                                               {"reexecute", OnUnknown::other},
                                               {"redeliver", OnUnknown::other}});
    if (valid && choice == OnUnknown::other) {
        reader.unbuilt(node.place,
                       "`hold`: an unknown outcome stays unknown until an operator decides");
    }
}

void read_two_phase(Reader& reader, const Node& node, TierDraft&)
{
    bool wanted = false;
    if (reader.boolean(node, wanted) && wanted) {
        reader.unbuilt(node.place, "a crash between reserving and sending counts as unknown");
    }
}

void read_timeline(Reader& reader, const Node& node, TierDraft&)
{
    bool wanted = false;
    const bool valid =
        reader.word<bool>(node, wanted, {{"full", true}, {"counts", true}, {"off", false}});
    if (valid && wanted) reader.unbuilt(node.place, "no timeline of a key is kept");
}

constexpr std::array tier_fields{
    Field<TierDraft>{"retention",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         const bool valid = r.duration(n, t.tier.retention);
                         keep(t.retention, n, valid);
                     }},
    Field<TierDraft>{"retry_budget", read_budget},
    Field<TierDraft>{"lease",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         const bool valid = r.duration(n, t.tier.lease);
                         keep(t.lease, n, valid);
                     }},
    Field<TierDraft>{"tombstone", read_tombstone},
    Field<TierDraft>{"unknown_retention", read_unknown_retention},
    Field<TierDraft>{"on_store_error",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         using enum core::OnStoreError;
                         r.word<core::OnStoreError>(n, t.tier.on_store_error,
                                                    {{"reject", reject}, {"pass", pass}});
                     }},
    Field<TierDraft>{"store_response",
                     [](Reader& r, const Node& n, TierDraft& t) {
                         using enum core::StoreResponse;
                         r.word<core::StoreResponse>(
                             n, t.tier.store_response,
                             {{"full", full}, {"status_only", status_only}});
                     }},
    Field<TierDraft>{"outcomes", [](Reader& r, const Node& n,
                                    TierDraft& t) { read_outcomes(r, n, t.outcomes); }},
    Field<TierDraft>{"on_unknown", read_on_unknown},
    Field<TierDraft>{"two_phase_dispatch", read_two_phase},
    Field<TierDraft>{"timeline", read_timeline},
};
constexpr Section<TierDraft> tier_section{"tiers.<name>", tier_fields};

void read_tier(Reader& reader, const Entry& entry, Draft& draft)
{
    const Reader::Step step(reader, entry.key);
    TierDraft tier;
    tier.tier.name = entry.key;
    tier.place = entry.place;
    for (const auto& [name, window] : tombstones) {
        if (name == entry.key) tier.tier.tombstone = window;
    }
    if (!is_plain_name(entry.key)) {
        reader
            .error(codes::name, entry.place, reader.path(),
                   "`" + entry.key + "` is no name for a tier")
            .caret = "1 to 64 letters, digits, `_`, `-`, `.`";
    }
    read_section(reader, &entry.value, tier_section, tier);
    if (tier.retention.place.line == 0 && entry.value.kind == NodeKind::mapping) {
        reader
            .error(codes::required, entry.place, reader.path(),
                   reader.path() + ".retention is required")
            .caret = "how long a finished operation is remembered";
    }
    draft.tiers.push_back(std::move(tier));
}

}  // namespace

void read_tiers(Reader& reader, const Node& node, Draft& draft)
{
    draft.tiers_stated = true;
    if (!reader.is_mapping(node)) return;
    for (const auto& entry : node.entries)
        read_tier(reader, entry, draft);
}

void add_tier_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(tier_section));
    all.push_back(names_of(budget_section));
}

}  // namespace onceward
