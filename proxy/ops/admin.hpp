// The admin listener's answers: one key's record, the queue of unknown outcomes, and the state of
// the process.
#pragma once

#include "core/plan.hpp"
#include "core/secret.hpp"
#include "ops/health.hpp"
#include "ops/http_endpoint.hpp"
#include "ports/key_store.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace onceward {

// What the admin listener needs; all references outlive it.
struct AdminParts {
    KeyStore& store;  // Of the worker on whose executor the endpoint runs.
    const core::Policy& policy;
    const core::KeyedHash& key_hash;
    const Health& health;
    std::vector<std::string> tiers;  // Names, by index.
    std::string instance;
    std::string config_file;  // Empty: command line only.
    std::function<std::size_t()>
        in_flight;  // Guarded requests that are being executed, all workers.
};

class Admin {
public:
    explicit Admin(AdminParts parts);

    // POST /v1/keys/lookup {"route","key","subject","method"?,"body"?: true} -> onceward.key/1, 404
    // when there is no record. GET /v1/keys?state=unknown&limit=50 -> onceward.keys/1. GET
    // /v1/status -> onceward.status/1. Errors are {"error","message"}; 503 when the store does not
    // answer. Behind the guards of admin_guard.hpp.
    awaitable<SideResponse> answer(SideRequest request);

    // The same as an endpoint's handler; this object outlives the endpoint.
    SideHandler handler();

private:
    awaitable<SideResponse> lookup(SideRequest request);
    awaitable<SideResponse> list(SideRequest request);
    SideResponse status() const;

    AdminParts parts_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace onceward
