// What the process says when it ends; the same for every command.
#pragma once

namespace onceward::cli {

enum ExitCode : int {
    ok = 0,
    unexpected = 1,
    usage = 2,
    config_invalid = 3,
    admin_unreachable = 4,
    not_found = 5,
    conflict = 6,
    dependency_down = 7,
    warnings = 8,  // Under `check --strict`.
    drain_deadline = 9,
    interrupted = 130,
};

}  // namespace onceward::cli
