// Which stored tier is which configured one: rows outlive changes of the configuration's list.
#pragma once

#include "core/retention.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace onceward {

// Record::tier of a row whose tier is no longer configured.
inline constexpr std::uint16_t removed_tier = 0xFFFF;

class TierNames {
public:
    // `index`: place in the configuration's list, or removed_tier. Configured tiers come in their
    // order.
    void add(std::int64_t id, std::uint16_t index, const core::TierTimes& times)
    {
        known_[id] = {index, times};
        if (index != removed_tier) ids_.push_back(id);
    }

    std::size_t configured() const { return ids_.size(); }
    // Precondition: index < configured().
    std::int64_t id_of(std::uint16_t index) const { return ids_.at(index); }
    std::uint16_t index_of(std::int64_t id) const
    {
        const auto found = known_.find(id);
        return found == known_.end() ? removed_tier : found->second.index;
    }
    // A tier that nobody knows keeps its rows for ever: too long is safe, too short is a second
    // execution.
    core::TierTimes times_of(std::int64_t id) const
    {
        const auto found = known_.find(id);
        return found == known_.end() ? core::TierTimes{core::Millis::max(), {}}
                                     : found->second.times;
    }

private:
    struct Known {
        std::uint16_t index = removed_tier;
        core::TierTimes times;
    };
    std::map<std::int64_t, Known> known_;
    std::vector<std::int64_t> ids_;
};

}  // namespace onceward
