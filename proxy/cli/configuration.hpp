// Finding and loading the configuration that a command works with.
#pragma once

#include "cli/surroundings.hpp"
#include "settings/load.hpp"

#include <optional>
#include <string>

namespace onceward::cli {

// `given` (the -c option), else $ONCEWARD_CONFIG, else /etc/onceward/onceward.yaml.
std::string config_path(const std::string& given, const Environment& environment);

// The settings of that file. Absent after its mistakes were printed on stderr; warnings are printed
// unless `quiet`.
std::optional<Settings> load_settings(const Surroundings& around, const std::string& given,
                                      bool offline, bool quiet);

// Prints what is wrong with the command line, and how to get it right.
int usage_error(const Surroundings& around, const std::string& message);

}  // namespace onceward::cli
