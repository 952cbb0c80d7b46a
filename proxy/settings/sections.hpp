// The sections of a configuration file; each .cpp file holds one section's tables and readers.
#pragma once

#include "settings/draft.hpp"
#include "settings/section.hpp"

#include <vector>

namespace onceward {

// Each reads its section into the draft, under the reader's current path; `node` is null when the
// file has no such section, because the environment may still set something.
void read_server(Reader& reader, const Node* node, Draft& draft);
void read_observability(Reader& reader, const Node* node, Draft& draft);
void read_admin(Reader& reader, const Node* node, Draft& draft);
void read_problem(Reader& reader, const Node* node, Draft& draft);
void read_store(Reader& reader, const Node* node, Draft& draft);
void read_keys(Reader& reader, const Node* node, Draft& draft);
void read_tiers(Reader& reader, const Node& node, Draft& draft);
void read_routes(Reader& reader, const Node& node, Draft& draft);
// `outcomes:` of a tier or a route.
void read_outcomes(Reader& reader, const Node& node, std::vector<ListedOutcome>& outcomes);

// Reads the whole file.
void read_root(Reader& reader, const Node& root, Draft& draft);

// The names of each section's tables, for all_sections().
void add_root_names(std::vector<SectionNames>& all);
void add_server_names(std::vector<SectionNames>& all);
void add_listener_names(std::vector<SectionNames>& all);
void add_store_names(std::vector<SectionNames>& all);
void add_keys_names(std::vector<SectionNames>& all);
void add_tier_names(std::vector<SectionNames>& all);
void add_route_names(std::vector<SectionNames>& all);
void add_outcome_names(std::vector<SectionNames>& all);

}  // namespace onceward
