// A store in memory that breaks where a test wants it to: core's own transition functions plus
// faults.
#pragma once

#include "core/record.hpp"
#include "fakes/manual_clock.hpp"
#include "ports/key_store.hpp"

#include <deque>
#include <map>
#include <optional>

namespace onceward::test {

// What goes wrong with one call: the error that is reported, and whether the change was made all
// the same.
struct StoreFault {
    StoreError error = StoreError::unavailable;
    bool applied = false;
};

inline constexpr StoreFault store_down{StoreError::unavailable, false};
inline constexpr StoreFault lost_before{StoreError::ambiguous, false};
inline constexpr StoreFault lost_after{StoreError::ambiguous, true};

class ScriptedStore final : public KeyStore {
public:
    explicit ScriptedStore(ManualClock& clock) : clock_(clock) {}

    core::StoreTime now() const { return core::StoreTime{start + clock_.time()}; }

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        claims.push_back(claim);
        const auto fault = next(reserve_faults);
        if (fault && !fault->applied) co_return fault->error;
        auto reservation = core::reserve(rows[digest], claim, now());
        if (fault) co_return fault->error;
        clock_.move_to(clock_.time() + std::exchange(reserve_takes, core::Millis{0}));
        co_return reservation;
    }

    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        ++settles;
        const auto fault = next(settle_faults);
        if (fault && !fault->applied) co_return fault->error;
        const auto settled = core::settle(rows[digest], ticket, settlement, now());
        if (fault) co_return fault->error;
        co_return settled;
    }

    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        ++finds;
        if (const auto fault = next(find_faults)) co_return fault->error;
        const auto& slot = rows[digest];
        if (!slot) co_return std::optional<core::Record>{};
        co_return std::optional<core::Record>{core::view(*slot, now())};
    }

    awaitable<StoreResult<SweepReport>> sweep(std::size_t) override
    {
        ++sweeps;
        SweepReport report;
        for (auto& [digest, slot] : rows) {
            ++report.examined;
            const bool was_pending = slot && slot->state == core::State::pending;
            if (!core::sweep(slot, times, now())) continue;
            ++(was_pending ? report.became_unknown : slot ? report.expired : report.purged);
        }
        co_return report;
    }

    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t) override
    {
        std::vector<Listed> listed;
        for (const auto& [digest, slot] : rows) {
            if (slot && slot->state == core::State::unknown)
                listed.push_back({digest, core::view(*slot, now())});
        }
        co_return listed;
    }

    static constexpr core::Millis start{1'700'000'000'000};

    // Taken by the next calls, first first. The permanent one is for a store that stays broken.
    std::deque<StoreFault> reserve_faults;
    std::deque<StoreFault> settle_faults;
    std::deque<StoreFault> find_faults;
    std::optional<StoreFault> always;

    // How long the acknowledgement of the next reservation takes (a pause of the process, W6g).
    core::Millis reserve_takes{};

    std::map<core::Digest, core::Slot> rows;
    core::TierTimes times;
    std::vector<core::Claim> claims;
    int settles = 0;
    int finds = 0;
    int sweeps = 0;

private:
    std::optional<StoreFault> next(std::deque<StoreFault>& faults) const
    {
        if (faults.empty()) return always;
        const auto fault = faults.front();
        faults.pop_front();
        return fault;
    }

    ManualClock& clock_;
};

}  // namespace onceward::test
