// Reaching the records of an installation whose proxy does not run.
#pragma once

#include "core/secret.hpp"
#include "ops/http_endpoint.hpp"
#include "settings/settings.hpp"

#include <optional>
#include <string>
#include <variant>

namespace onceward::cli {

// The installation's secret, if it exists and may be read; makes nothing.
std::optional<core::Secret> existing_secret(const StoreSettings& store);

struct StoreClosed {
    int exit_code = 0;
    std::string message;
};

// Opens the store, answers the request as the admin listener would, and closes the store. Refused
// while a proxy has it open. Never makes a store.
std::variant<SideResponse, StoreClosed> ask_stored(const Settings& settings,
                                                   const SideRequest& request);

}  // namespace onceward::cli
