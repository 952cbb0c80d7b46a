// The embedded store that a configuration describes.
#pragma once

#include "settings/settings.hpp"
#include "store/sqlite_store.hpp"

#include <string>
#include <vector>

namespace onceward::cli {

// Where it lives, its secret, its tiers, and the identity of its keys: the same for the proxy and
// for a tool.
SqliteFile sqlite_file(const Settings& settings);

// Names by index, as records count them.
std::vector<std::string> tier_names(const Settings& settings);

}  // namespace onceward::cli
