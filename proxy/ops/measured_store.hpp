// A key store that is watched: how long each operation takes, which fail, and whether it is up.
#pragma once

#include "ops/health.hpp"
#include "ops/log.hpp"
#include "ops/metrics.hpp"
#include "ports/key_store.hpp"

namespace onceward {

// Behaves as `inner` does, on the same executor. Everything given outlives it.
class MeasuredStore final : public KeyStore {
public:
    struct Watch {
        MetricsShard& shard;
        Health& health;
        Log& log;
    };
    MeasuredStore(KeyStore& inner, Watch watch) : inner_(inner), watch_(watch) {}

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override;
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override;
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override;
    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override;
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override;

private:
    using Moment = std::chrono::steady_clock::time_point;

    template <class T>
    void note(StoreOperation operation, Moment begun, const StoreResult<T>& result);
    void note_availability(bool up);

    KeyStore& inner_;
    Watch watch_;
};

}  // namespace onceward
