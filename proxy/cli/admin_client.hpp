// Speaking to a running proxy's side listeners.
#pragma once

#include "../bench/http_client.hpp"
#include "settings/settings.hpp"

#include <optional>
#include <string>

namespace onceward::cli {

// Where a listener can be reached from this machine: a wildcard address by its loopback.
demo::Endpoint reachable(const ListenAddress& address);

// `given` (the --admin option), else the configured one; absent when neither is usable.
std::optional<demo::Endpoint> admin_endpoint(const std::string& given, const Settings& settings);

}  // namespace onceward::cli
