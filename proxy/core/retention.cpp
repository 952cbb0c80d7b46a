// Retention arithmetic.
#include "core/retention.hpp"

namespace onceward::core {

TierTimes Tier::times() const
{
    const Millis forever = Millis::max();
    return {unknown_retention.value_or(tombstone.value_or(forever)), tombstone};
}

bool covers(Millis retention, const RetryBudget& budget)
{
    return retention > budget.sum();
}

bool lease_covers(Millis lease, Millis timeout)
{
    return lease >= timeout + std::chrono::seconds{1};
}

Millis released_keep(Millis lease)
{
    return lease + std::chrono::hours{24};
}

StorageEstimate estimate_storage(double requests_per_second, Millis retention, double bytes_per_row)
{
    const double seconds = std::chrono::duration<double>(retention).count();
    const double rows = requests_per_second * seconds;
    return {rows, rows * bytes_per_row};
}

}  // namespace onceward::core
