// Running the proxy: from settings to exit code.
#pragma once

#include "settings/settings.hpp"

#include <string>
#include <vector>

namespace onceward {

struct RunOptions {
    std::vector<std::string>
        forget;               // Ids whose keys may become new ones (decision 9); `subject` too.
    std::string banner_yaml;  // Printed when there is no file: what was meant.
};

// Opens the store, serves until SIGTERM or SIGINT, drains. A second signal ends the drain. Returns
// the exit code: 0; 3 the configuration does not fit the store's records; 7 the store, or an
// address to listen on, cannot be had; 9 requests were given up when the drain's time was over.
int run_proxy(const Settings& settings, const RunOptions& options);

}  // namespace onceward
