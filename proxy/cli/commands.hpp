// One function for each command: prints, and returns the exit code.
#pragma once

#include "cli/options.hpp"
#include "cli/surroundings.hpp"

namespace onceward::cli {

// Each may take as long as its work does; none throws for what a user or the network can do wrong.
int execute(const RunCommand& command, const Surroundings& around);
int execute(const CheckCommand& command, const Surroundings& around);
int execute(const ExplainCommand& command, const Surroundings& around);
int execute(const KeysShowCommand& command, const Surroundings& around);
int execute(const KeysListCommand& command, const Surroundings& around);
int execute(const DemoCommand& command, const Surroundings& around);
int execute(const DemoUpstreamCommand& command, const Surroundings& around);
int execute(const HealthcheckCommand& command, const Surroundings& around);
int execute(const VersionCommand& command, const Surroundings& around);

}  // namespace onceward::cli
