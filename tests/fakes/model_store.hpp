// The key store as it is meant: core's own functions over a map, with time that moves only by hand.
#pragma once

#include "core/record.hpp"
#include "ports/key_store.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace onceward::test {

class ModelStore final : public KeyStore {
public:
    explicit ModelStore(std::vector<core::TierTimes> tiers) : tiers_(std::move(tiers)) {}

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        auto slot = take(digest);
        auto reservation = core::reserve(slot, claim, now);
        put(digest, slot);
        co_return reservation;
    }

    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        auto slot = take(digest);
        const auto settled = core::settle(slot, ticket, settlement, now);
        put(digest, slot);
        co_return settled;
    }

    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        const auto slot = take(digest);
        if (!slot) co_return std::optional<core::Record>();
        co_return std::optional<core::Record>(core::view(*slot, now));
    }

    awaitable<StoreResult<SweepReport>> sweep(std::size_t limit) override
    {
        SweepReport report;
        auto next = swept_to_ ? rows.upper_bound(*swept_to_) : rows.begin();
        while (next != rows.end() && report.examined < limit) {
            const auto digest = next->first;
            ++next;
            ++report.examined;
            swept_to_ = digest;
            sweep_row(digest, report);
        }
        if (report.examined < limit) swept_to_.reset();
        for (const auto& [digest, row] : rows) {
            if (row.state == core::State::unknown) ++report.unknown;
        }
        co_return report;
    }

    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        std::vector<std::tuple<core::StoreTime, core::Digest>> found;
        for (const auto& [digest, row] : rows) {
            if (core::view(row, now).state == core::State::unknown) {
                found.emplace_back(row.reserved_at, digest);
            }
        }
        std::sort(found.begin(), found.end());
        if (found.size() > limit) found.resize(limit);
        std::vector<Listed> listed;
        for (const auto& [reserved_at, digest] : found) {
            listed.push_back({digest, core::view(rows.at(digest), now)});
        }
        co_return listed;
    }

    core::StoreTime now{core::Millis{1'800'000'000'000}};
    std::map<core::Digest, core::Row> rows;

private:
    core::Slot take(const core::Digest& digest) const
    {
        const auto found = rows.find(digest);
        if (found == rows.end()) return std::nullopt;
        return found->second;
    }

    void put(const core::Digest& digest, core::Slot& slot)
    {
        if (slot) {
            rows[digest] = std::move(*slot);
        } else {
            rows.erase(digest);
        }
    }

    void sweep_row(const core::Digest& digest, SweepReport& report)
    {
        auto slot = take(digest);
        const auto tier = slot->tier;
        if (!core::sweep(slot, tiers_.at(tier), now)) return;
        if (!slot) {
            ++report.purged;
        } else if (slot->state == core::State::unknown) {
            ++report.became_unknown;
        } else {
            ++report.expired;
        }
        put(digest, slot);
    }

    std::vector<core::TierTimes> tiers_;
    std::optional<core::Digest> swept_to_;
};

}  // namespace onceward::test
