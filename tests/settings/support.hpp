// What the tests of the configuration share: loading text under a made-up environment.
#pragma once

#include "settings/load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace onceward::testing {

using Variables = std::map<std::string, std::string, std::less<>>;

inline Environment environment_of(Variables variables)
{
    return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

inline Loaded load(const std::string& text, const Variables& variables = {}, bool offline = false)
{
    LoadOptions options;
    options.offline = offline;
    return load_text("onceward.yaml", text, environment_of(variables), options);
}

inline std::string shown(const Loaded& loaded)
{
    return render_text("onceward.yaml", loaded.source, loaded.diagnostics);
}

inline std::vector<std::string> codes_of(const Loaded& loaded)
{
    std::vector<std::string> codes;
    for (const auto& diagnostic : loaded.diagnostics)
        codes.push_back(diagnostic.code);
    return codes;
}

inline bool reports(const Loaded& loaded, std::string_view code)
{
    return std::any_of(loaded.diagnostics.begin(), loaded.diagnostics.end(),
                       [code](const Diagnostic& diagnostic) { return diagnostic.code == code; });
}

inline std::string file_text(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::string source_path(const std::string& path)
{
    return std::string(ONCEWARD_SOURCE_DIR) + "/" + path;
}

// A file without mistakes, in parts that a test can replace.
struct Parts {
    std::string server = "server: { upstream: 'http://127.0.0.1:3000' }\n";
    std::string keys = "keys: { subject: credential }\n";
    std::string tiers = "tiers: { t: { retention: 7d, retry_budget: { total: 15m } } }\n";
    std::string routes = "routes: [ { name: r, match: { path: /a }, tier: t } ]\n";
    std::string more;

    std::string text() const { return server + keys + tiers + routes + more; }
};

inline Parts with_server(std::string server)
{
    Parts parts;
    parts.server = std::move(server);
    return parts;
}
inline Parts with_keys(std::string keys)
{
    Parts parts;
    parts.keys = std::move(keys);
    return parts;
}
inline Parts with_tiers(std::string tiers)
{
    Parts parts;
    parts.tiers = std::move(tiers);
    return parts;
}
inline Parts with_routes(std::string routes)
{
    Parts parts;
    parts.routes = std::move(routes);
    return parts;
}
inline Parts with_more(std::string more)
{
    Parts parts;
    parts.more = std::move(more);
    return parts;
}
// One more setting in the only route, or in the only tier.
inline Parts with_route_setting(const std::string& setting)
{
    return with_routes("routes: [ { name: r, tier: t, " + setting + " } ]\n");
}
inline Parts with_tier_setting(const std::string& setting)
{
    return with_tiers("tiers: { t: { " + setting + " } }\n");
}

}  // namespace onceward::testing
