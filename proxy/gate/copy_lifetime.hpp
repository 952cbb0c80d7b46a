// Which records may be copied out of the store, and for how long (decision 32).
#pragma once

#include "core/record.hpp"

#include <algorithm>
#include <functional>

namespace onceward {

// The time of day: for how long an entry may be believed beside Redis' own expiry, and for display.
using WallTime = std::function<core::StoreTime()>;

// Only DONE and FAILED never change by themselves.
inline bool is_copied(const core::Record& record)
{
    return record.state == core::State::done || record.state == core::State::failed;
}

// min(remaining - 5 s, cache_ttl), never negative: whoever is slow between its look and its answer,
// or has a clock a little off, must not outlive the record.
inline core::Millis copy_lifetime(core::Millis remaining, core::Millis cache_ttl)
{
    constexpr core::Millis margin{5'000};
    return std::max(std::min(remaining - margin, cache_ttl), core::Millis{0});
}

}  // namespace onceward
