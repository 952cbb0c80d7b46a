// Rules between routes and tiers.
#include "settings/check_routes.hpp"

#include "settings/codes.hpp"
#include "settings/words.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace onceward {

namespace {

using std::chrono::seconds;

// The tier of a route, or nullptr after a report.
TierDraft* tier_of(Reader& reader, Draft& draft, const RouteDraft& route)
{
    if (route.tier.place.line == 0) {
        if (route.route.mode == core::Mode::off) return nullptr;
        reader
            .error(codes::required, route.place, route.path + ".tier",
                   route.path + ".tier is required")
            .caret = "how long are its records kept?";
        return nullptr;
    }
    if (!route.tier.valid) return nullptr;
    std::vector<std::string_view> names;
    for (auto& tier : draft.tiers) {
        if (tier.tier.name == route.tier.text) return &tier;
        names.push_back(tier.tier.name);
    }
    auto& diagnostic = reader.error(codes::unknown_tier, route.tier.place, route.path + ".tier",
                                    "there is no tier `" + route.tier.text + "`");
    diagnostic.caret = names.empty() ? "no tier is defined" : "not defined under `tiers`";
    if (const auto meant = nearest(route.tier.text, names)) {
        diagnostic.suggestion = *meant;
        diagnostic.caret = "did you mean `" + std::string(*meant) + "`?";
    }
    return nullptr;
}

// E110: a lease that ends before a slow but successful call would declare it unknown (RSV-9).
void check_lease(Reader& reader, const TierDraft& tier, const RouteDraft& route)
{
    const auto timeout = route.route.timeout;
    const bool unreadable = (tier.lease.place.line > 0 && !tier.lease.valid) ||
                            (route.timeout.place.line > 0 && !route.timeout.valid);
    if (unreadable || core::lease_covers(tier.tier.lease, timeout)) return;
    const std::string relation =
        tier.tier.lease < timeout ? "is shorter than" : "is not a second longer than";
    const bool lease_written = tier.lease.place.line > 0;
    auto& diagnostic = reader.error(
        codes::lease, lease_written ? tier.lease.place : tier.place,
        "tiers." + tier.tier.name + ".lease",
        "`lease` " + relation + " the upstream timeout of route `" + route.route.name + "`");
    diagnostic.caret =
        lease_written ? tier.lease.text : write_duration(tier.tier.lease) + " by default";
    const bool timeout_written = route.timeout.place.line > 0;
    diagnostic.labels.push_back(
        {timeout_written ? route.timeout.place : route.place,
         (timeout_written ? route.timeout.text : write_duration(timeout) + " by default") +
             ": a slow but successful call would be declared unknown"});
    diagnostic.notes.push_back(
        "help: use at least `lease: " + write_duration(timeout + seconds{5}) + "`");
}

void check_key_source(Reader& reader, const RouteDraft& route)
{
    if (!route.key_source) return;
    if (route.route.mode != core::Mode::enforce) {
        reader.unbuilt_at(route.path + ".key", *route.key_source,
                          "keys are read from the header only");
        return;
    }
    auto& diagnostic = reader.error(codes::key_source, *route.key_source, route.path + ".key",
                                    "keys from anywhere but the header are not built yet");
    diagnostic.caret = "route `" + route.route.name + "` would run unguarded";
    diagnostic.notes.emplace_back(
        "let the clients send a key header, or say `mode: off` for this route");
}

// W01: nobody has said how long clients retry, so nobody knows whether the retention is long
// enough.
void warn_unstated_budget(Reader& reader, const TierDraft& tier)
{
    const auto path = "tiers." + tier.tier.name;
    auto& diagnostic =
        reader.warning(codes::budget_unstated, tier.place, path, path + " states no retry_budget");
    diagnostic.caret = "retention is " + write_duration(tier.tier.retention);
    diagnostic.notes.push_back(
        "a retry that comes later than " + write_duration(tier.tier.retention) +
        " after the answer is refused with `key-expired`, and runs again once the\n"
        "tombstone is gone: state how long clients retry, and the retention is checked");
    diagnostic.notes.emplace_back(
        "help: `retry_budget: { total: 15m, skew: 2m, replay_window: 3d }`");
}

using Part = Written RouteDraft::*;

// Names tell routes apart in logs, ids in the digests of keys.
void check_unique(Reader& reader, const Draft& draft, std::string_view what, Part part)
{
    for (auto route = draft.routes.begin(); route != draft.routes.end(); ++route) {
        const Written& written = (*route).*part;
        if (written.place.line == 0) continue;
        const auto first = std::find_if(draft.routes.begin(), route, [&](const RouteDraft& other) {
            return (other.*part).text == written.text;
        });
        if (first == route) continue;
        auto& diagnostic = reader.error(
            codes::duplicate_route, written.place, route->path + "." + std::string(what),
            "two routes have the " + std::string(what) + " `" + written.text + "`");
        diagnostic.caret = "the second one";
        diagnostic.labels.push_back({((*first).*part).place, "the first one"});
    }
}

// An id that is written may equal the name of another route, which is that route's id.
void check_borrowed_ids(Reader& reader, const Draft& draft)
{
    for (const auto& route : draft.routes) {
        if (route.id.place.line == 0) continue;
        for (const auto& other : draft.routes) {
            const bool same =
                other.id.place.line == 0 && &other != &route && other.route.id == route.route.id;
            if (!same) continue;
            auto& diagnostic =
                reader.error(codes::duplicate_route, route.id.place, route.path + ".id",
                             "two routes have the id `" + route.route.id + "`");
            diagnostic.caret = "the second one";
            diagnostic.labels.push_back({other.place, "the first one, by its name"});
        }
    }
}

bool takes_all_of(const core::Match& earlier, const core::Match& later)
{
    const bool methods =
        std::all_of(later.methods.begin(), later.methods.end(), [&](const auto& method) {
            return std::find(earlier.methods.begin(), earlier.methods.end(), method) !=
                   earlier.methods.end();
        });
    if (!methods) return false;
    if (earlier.kind == core::PathMatch::any) return true;
    if (earlier.kind == later.kind && earlier.path == later.path) return true;
    const bool under_prefix =
        earlier.kind == core::PathMatch::prefix &&
        (later.kind == core::PathMatch::exact || later.kind == core::PathMatch::prefix);
    return under_prefix && core::meets(earlier, earlier.methods.front(), later.path);
}

// W06: the first match wins, so a route behind one that takes all its requests never meets any.
void warn_never_met(Reader& reader, const Draft& draft)
{
    for (auto later = draft.routes.begin(); later != draft.routes.end(); ++later) {
        const auto earlier =
            std::find_if(draft.routes.begin(), later, [&](const RouteDraft& route) {
                return !route.route.match.methods.empty() &&
                       takes_all_of(route.route.match, later->route.match);
            });
        if (earlier == later) continue;
        auto& diagnostic =
            reader.warning(codes::route_never_met, later->place, later->path,
                           "route `" + later->route.name + "` never meets a request");
        diagnostic.caret = "put it first";
        diagnostic.labels.push_back({earlier->place, "this one takes them all"});
    }
}

}  // namespace

void check_routes(Reader& reader, Draft& draft)
{
    if (draft.routes.empty()) {
        reader.error(codes::required, Place{1, 1, 2}, "routes", "routes is required")
            .notes.emplace_back("without a route nothing would be guarded");
    }
    std::set<const TierDraft*> enforced;
    for (auto& route : draft.routes) {
        check_key_source(reader, route);
        auto* tier = tier_of(reader, draft, route);
        if (tier == nullptr) continue;
        route.route.tier_index = static_cast<std::uint16_t>(tier - draft.tiers.data());
        if (route.route.mode != core::Mode::enforce) continue;
        check_lease(reader, *tier, route);
        enforced.insert(tier);
    }
    for (const auto& tier : draft.tiers) {
        const bool unstated =
            tier.retry_budget.place.line == 0 && tier.retention.valid && enforced.contains(&tier);
        if (unstated) warn_unstated_budget(reader, tier);
    }
    check_unique(reader, draft, "name", &RouteDraft::name);
    check_unique(reader, draft, "id", &RouteDraft::id);
    check_borrowed_ids(reader, draft);
    warn_never_met(reader, draft);
}

}  // namespace onceward
