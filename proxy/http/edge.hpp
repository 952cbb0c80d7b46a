// What every session of one worker shares: the immutable policy and the worker's own parts.
#pragma once

#include "core/plan.hpp"
#include "core/secret.hpp"
#include "exchange.hpp"
#include "http/trusted_networks.hpp"
#include "ports/access_record.hpp"
#include "upstream/connection_pool.hpp"
#include "wire/head.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace onceward {

struct EdgeTimeouts {
    core::Millis idle;      // Between requests of one connection.
    core::Millis head;      // First byte of a head to its end.
    core::Millis body;      // A guarded request's whole body.
    core::Millis progress;  // An unguarded exchange without any byte moving.
};

// Made once when the proxy starts, then only read: shared by all workers.
struct EdgePolicy {
    core::Policy plan;
    wire::HeadLimits head_limits;
    EdgeTimeouts timeouts;
    TrustedNetworks trusted;
    std::string via;           // Empty: no Via.
    std::string problem_base;  // Empty: urn:onceward:problem:
    core::KeyedHash key_hash;
    core::KeyedHash fingerprint_hash;

    // Names that Connection must not remove and that CGI-style names must not imitate: the key's
    // and the subject's fields.
    std::vector<std::string> guarded_names;
};

class Session;

// One per worker, used on its executor only.
struct Edge {
    const EdgePolicy& policy;
    Exchange& exchange;
    wire::Watchdog& watchdog;
    std::vector<ConnectionPool*> pools;
    std::function<void(const AccessRecord&)> log_access;
    std::function<void(core::ProblemCode)> head_rejected;
    std::function<void(std::size_t)> fields_dropped;
    std::unordered_set<Session*> sessions;
    bool draining = false;
};

// The names to guard under this policy.
std::vector<std::string> guarded_names_of(const core::Policy& policy);

}  // namespace onceward
