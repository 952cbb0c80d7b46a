// Whether the place where the file shall live can keep the promise that it outlives the process.
#pragma once

#include "store/open_error.hpp"

#include <optional>
#include <string>

namespace onceward {

struct SqlitePlace {
    std::string path;
    bool single_node = false;  // The operator knows that a pod's file serves one pod only.
    bool ephemeral = false;    // The operator wants records that die with the machine.
    bool create = true;        // Make the file when there is none.
};

// Why a file system of this type (statfs) loses the records; absent when it keeps them.
std::optional<std::string> forgetful_file_system(long type);

// Looks at the environment, the directory and the file's name, and makes the empty file when there
// is none. Opens nothing that exists.
std::optional<OpenError> prepare_place(const SqlitePlace& place);

}  // namespace onceward
