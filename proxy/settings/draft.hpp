// What was read, with the places that the cross-field rules point at, before it becomes settings.
#pragma once

#include "settings/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace onceward {

// One item of an `outcomes` list: a code (201) or a class (2 for 2xx).
struct ListedOutcome {
    int number = 0;
    bool is_class = false;
    core::Disposition disposition = core::Disposition::unknown;
};

// Where a setting stands and how it is written; `place.line` 0: not in the file.
struct Written {
    Place place;
    std::string text;
    bool valid = false;  // It was read without an error.
};

struct TierDraft {
    core::Tier tier;
    Place place;  // Of its name.
    Written retention;
    Written lease;
    Written retry_budget;
    bool total_stated = false;
    Written unknown_retention;
    bool tombstone_stated = false;
    std::vector<ListedOutcome> outcomes;
};

struct RouteDraft {
    core::Route route;
    Place place;       // Of its name, or of the whole item.
    std::string path;  // routes.charges
    Written name;
    Written id;
    Written tier;
    Written timeout;
    std::optional<Place> key_source;  // `key:` names something other than a header.
    std::vector<ListedOutcome> outcomes;
    std::optional<UpstreamUrl> upstream;
    std::optional<std::size_t> request_body_max;
    std::optional<std::size_t> stored_response_max;
};

struct KeysDraft {
    Place place;  // Of the section; line 1 when it is missing.
    bool subject_stated = false;
    std::optional<core::SubjectRule> subject;
    Written subject_written;
    Written secret;
    Written secret_file;
    bool header_stated = false;
    std::vector<Written> headers;  // `header` and `aliases`, as written.
};

struct Draft {
    Settings settings;
    std::optional<UpstreamUrl> upstream;
    Written upstream_written;
    bool upstream_stated = false;
    Place server_place{1, 1, 2};
    Written admin_listen;
    Written sqlite;
    Written postgres;
    KeysDraft keys;
    std::vector<TierDraft> tiers;
    std::vector<RouteDraft> routes;
    bool tiers_stated = false;
    bool routes_stated = false;
};

}  // namespace onceward
