// The arbiter of who may forward: durable, and right about every key (decisions 5 to 8).
#pragma once

#include "core/record.hpp"
#include "ports/result.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace onceward {

// A record together with its name, for lists.
struct Listed {
    core::Digest digest;
    core::Record record;
};

// What one pass of the cleaner did.
struct SweepReport {
    std::size_t unknown = 0;  // Records that wait to be resolved, after the pass.
    std::size_t examined = 0;
    std::size_t became_unknown = 0;  // Overdue leases.
    std::size_t expired = 0;         // Became tombstones.
    std::size_t purged =
        0;  // Tombstones past their window, and RELEASED rows that say nothing more.
};

// Behaves as core/record.hpp's functions do, by its own clock. Every method may be called from any
// coroutine of the worker that owns this object, resumes on that worker's executor, and returns
// only after the change is durable. Errors: `unavailable` and `overloaded` mean that nothing was
// changed.
class KeyStore {
public:
    virtual ~KeyStore() = default;

    // core::reserve. Won is the permission to send, once.
    virtual awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                              core::Claim claim) = 0;

    // core::settle. Safe to repeat.
    virtual awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                         core::Settlement settlement) = 0;

    // core::view of the row, never from a replica; absent when there is no row.
    virtual awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) = 0;

    // core::sweep on the next `rows` rows at most, going round and round.
    virtual awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) = 0;

    // UNKNOWN records, oldest first, at most `limit`: the operators' queue.
    virtual awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) = 0;
};

}  // namespace onceward
