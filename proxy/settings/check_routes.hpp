// Rules between routes, and between a route and its tier.
#pragma once

#include "settings/draft.hpp"
#include "settings/reader.hpp"

namespace onceward {

// Gives each route the index of its tier, and reports E105, E110, E112, E113, E124, W01, W06 and
// W90.
void check_routes(Reader& reader, Draft& draft);

}  // namespace onceward
