// A worker's own copies of what it settled lately, asked before any other gate.
#pragma once

#include "core/identifiers.hpp"
#include "gate/copy_lifetime.hpp"
#include "ports/clock.hpp"
#include "ports/gate.hpp"

#include <cstddef>
#include <list>
#include <unordered_map>

namespace onceward {

struct CacheLimits {
    std::size_t bytes_max = 8 << 20;  // Of records; their keeping costs about 300 bytes each.
    std::size_t record_bytes_max = 64 << 10;  // A larger answer is left to the next gate.
    core::Millis cache_ttl{std::chrono::seconds{60}};
};

// The least recently used go first. Used on one thread.
class SettledCache {
public:
    using Time = std::chrono::microseconds;

    explicit SettledCache(CacheLimits limits = {}) : limits_(limits) {}

    // The record as kept, its remaining time and age moved on to `now`; null when it is not here or
    // past its time.
    std::optional<core::Record> find(const core::Digest& digest, Time now);

    // DONE and FAILED with time left and within the limits are kept, in place of an older epoch
    // only; everything else is ignored.
    void keep(const core::Digest& digest, core::Record record, Time now);

    std::size_t bytes() const { return bytes_; }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        core::Digest digest;
        core::Record record;
        Time kept_at;
        Time expires;
        std::size_t bytes;
    };
    using Place = std::list<Entry>::iterator;

    void drop(Place place);

    CacheLimits limits_;
    std::list<Entry> entries_;  // The most recently used in front.
    std::unordered_map<core::Digest, Place, core::DigestHash> places_;
    std::size_t bytes_ = 0;
};

// A gate with such copies in front of it. Only what was published here is kept: a copy of a copy
// would live longer than either may.
class CachingGate final : public Gate {
public:
    // `inner` and `clock` outlive it.
    CachingGate(Gate& inner, Clock& clock, WallTime wall_time, CacheLimits limits = {})
        : inner_(inner), clock_(clock), wall_time_(std::move(wall_time)), cache_(limits)
    {
    }

    awaitable<GateAnswer> lookup(core::Digest digest) override;
    void publish(core::Digest digest, const core::Record& record) override;

    const SettledCache& cache() const { return cache_; }

private:
    Gate& inner_;
    Clock& clock_;
    WallTime wall_time_;
    SettledCache cache_;
};

}  // namespace onceward
