// The whole command-line program but for main: from words to an exit code.
#pragma once

#include "cli/surroundings.hpp"

#include <string>
#include <vector>

namespace onceward::cli {

// `arguments` without the program's name. Never throws: what nobody expected is printed and
// returns 1.
int run_program(std::vector<std::string> arguments, const Surroundings& around);

}  // namespace onceward::cli
