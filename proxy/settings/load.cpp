// Loading: text to tree to draft to settings, with every mistake reported at once.
#include "settings/load.hpp"

#include "settings/check.hpp"
#include "settings/codes.hpp"
#include "settings/files.hpp"
#include "settings/sections.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace onceward {

namespace {

constexpr std::size_t errors_max = 20;
constexpr std::size_t file_bytes_max = 16
                                       << 20;  // The parser's own limit gives the better message.

int upstream_index(std::vector<UpstreamUrl>& upstreams, const UpstreamUrl& url)
{
    const auto found =
        std::find_if(upstreams.begin(), upstreams.end(), [&url](const UpstreamUrl& known) {
            return known.host == url.host && known.port == url.port;
        });
    if (found != upstreams.end()) return static_cast<int>(found - upstreams.begin());
    upstreams.push_back(url);
    return static_cast<int>(upstreams.size()) - 1;
}

void list_outcomes(core::Outcomes& outcomes, const std::vector<ListedOutcome>& listed)
{
    for (const auto& item : listed) {
        if (item.is_class) {
            outcomes.list_class(item.number, item.disposition);
        } else {
            outcomes.list_code(item.number, item.disposition);
        }
    }
}

core::Route finished(const RouteDraft& draft, const std::vector<TierDraft>& tiers,
                     ServerSettings& server)
{
    core::Route route = draft.route;
    if (!draft.tier.text.empty()) {
        const auto& tier = tiers[route.tier_index];
        route.tier = tier.tier;
        list_outcomes(route.outcomes, tier.outcomes);
    }
    list_outcomes(route.outcomes, draft.outcomes);  // The route's word beats the tier's.
    route.request_body_max = draft.request_body_max.value_or(server.request_body_max);
    route.stored_response_max = draft.stored_response_max.value_or(server.stored_response_max);
    if (draft.upstream) route.upstream = upstream_index(server.upstreams, *draft.upstream);
    return route;
}

Settings assembled(Draft draft, Reader& reader, const std::string& name)
{
    Settings settings = std::move(draft.settings);
    settings.file = name;
    // An upstream that is only unset under `check` is no error, and leaves nothing to run with.
    settings.server.upstreams = {draft.upstream.value_or(UpstreamUrl{})};
    std::vector<core::Route> routes;
    for (const auto& route : draft.routes)
        routes.push_back(finished(route, draft.tiers, settings.server));
    settings.policy.routes = core::RouteTable(std::move(routes));
    for (auto& tier : draft.tiers)
        settings.tiers.push_back(std::move(tier.tier));
    settings.unbuilt = std::move(reader.unbuilt_settings());
    return settings;
}

bool is_error(const Diagnostic& diagnostic)
{
    return diagnostic.severity == Severity::error;
}

// In file order; what has no place comes last.
void sort_by_place(std::vector<Diagnostic>& diagnostics)
{
    std::multimap<std::pair<int, int>, Diagnostic> sorted;  // Keeps the order of equal places.
    for (auto& diagnostic : diagnostics) {
        const auto& place = diagnostic.place;
        const int line = place.line == 0 ? std::numeric_limits<int>::max() : place.line;
        sorted.emplace(std::pair(line, place.column), std::move(diagnostic));
    }
    diagnostics.clear();
    for (auto& [place, diagnostic] : sorted)
        diagnostics.push_back(std::move(diagnostic));
}

// Sorts, and keeps the first errors only.
void arrange(std::vector<Diagnostic>& diagnostics)
{
    sort_by_place(diagnostics);
    const auto errors =
        static_cast<std::size_t>(std::count_if(diagnostics.begin(), diagnostics.end(), is_error));
    if (errors <= errors_max) return;
    std::vector<Diagnostic> kept;
    std::size_t count = 0;
    for (auto& diagnostic : diagnostics) {
        if (is_error(diagnostic) && ++count > errors_max) continue;
        kept.push_back(std::move(diagnostic));
    }
    const auto last = std::find_if(kept.rbegin(), kept.rend(), is_error);
    last->notes.push_back(std::to_string(errors - errors_max) + " further errors are not shown");
    diagnostics = std::move(kept);
}

}  // namespace

Loaded load_text(std::string name, std::string text, const Environment& environment,
                 const LoadOptions& options)
{
    Loaded loaded;
    loaded.source = std::move(text);
    auto tree = parse_yaml(loaded.source);
    loaded.diagnostics = std::move(tree.diagnostics);
    if (tree.root) {
        Reader reader(environment, options);
        Draft draft;
        read_root(reader, *tree.root, draft);
        check(reader, draft);
        std::move(reader.diagnostics().begin(), reader.diagnostics().end(),
                  std::back_inserter(loaded.diagnostics));
        const bool failed =
            std::any_of(loaded.diagnostics.begin(), loaded.diagnostics.end(), is_error);
        if (!failed) loaded.settings = assembled(std::move(draft), reader, name);
    }
    arrange(loaded.diagnostics);
    return loaded;
}

Loaded load_file(const std::string& path, const Environment& environment,
                 const LoadOptions& options)
{
    errno = 0;
    auto text = read_small_file(path, file_bytes_max);
    if (text) return load_text(path, std::move(*text), environment, options);
    Loaded loaded;
    Diagnostic diagnostic;
    diagnostic.code = codes::unreadable_file;
    const int reason = errno;
    diagnostic.message = "the configuration file " + path + " cannot be read: " +
                         (reason == 0 ? "not a small, regular file" : std::strerror(reason));
    diagnostic.notes.emplace_back("name another with `--config FILE`");
    loaded.diagnostics.push_back(std::move(diagnostic));
    return loaded;
}

}  // namespace onceward
