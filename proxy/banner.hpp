// What the operator is told on standard error when the proxy starts.
#pragma once

#include "settings/settings.hpp"

#include <string>

namespace onceward {

// The promise in force and its limits, the routes and tiers, what was configured but is not built,
// and, when there is no file, the YAML that says the same.
std::string banner(const Settings& settings, const std::string& equivalent_yaml,
                   std::size_t crashed);

}  // namespace onceward
