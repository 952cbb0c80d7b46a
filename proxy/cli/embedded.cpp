// From settings to the embedded store's description.
#include "cli/embedded.hpp"

namespace onceward::cli {

SqliteFile sqlite_file(const Settings& settings)
{
    SqliteFile file;
    file.place.path = settings.store.sqlite;
    file.place.single_node = settings.store.single_node;
    file.place.ephemeral = settings.store.ephemeral;
    file.secret = settings.store.secret;
    file.secret_file = settings.store.secret_file;
    file.tiers = settings.tiers;
    for (const auto& route : settings.policy.routes.routes()) {
        if (route->mode == core::Mode::enforce) file.identity.route_ids.push_back(route->id);
    }
    file.identity.subject_form = settings.policy.subject.form();
    return file;
}

std::vector<std::string> tier_names(const Settings& settings)
{
    std::vector<std::string> names;
    for (const auto& tier : settings.tiers)
        names.push_back(tier.name);
    return names;
}

}  // namespace onceward::cli
