// Watching a store.
#include "ops/measured_store.hpp"

namespace onceward {

namespace {

std::chrono::steady_clock::time_point now()
{
    return std::chrono::steady_clock::now();
}

}  // namespace

// One line for each change of state, not for each request that notices it. A full queue is load,
// not an outage.
void MeasuredStore::note_availability(bool up)
{
    if (!watch_.health.report(Dependency::store, up)) return;
    watch_.log.event(up ? LogLevel::info : LogLevel::error, "dependency",
                     {{"dependency", to_string(Dependency::store)}, {"up", up}});
}

template <class T>
void MeasuredStore::note(StoreOperation operation, Moment begun, const StoreResult<T>& result)
{
    watch_.shard.store_operation(operation, now() - begun, !result.has_value());
    if (result) {
        note_availability(true);
    } else if (result.error() != StoreError::overloaded) {
        note_availability(false);
    }
}

awaitable<StoreResult<core::Reservation>> MeasuredStore::reserve(core::Digest digest,
                                                                 core::Claim claim)
{
    const auto begun = now();
    auto result = co_await inner_.reserve(digest, claim);
    note(StoreOperation::reserve, begun, result);
    co_return result;
}

awaitable<StoreResult<core::Settled>> MeasuredStore::settle(core::Digest digest,
                                                            core::Ticket ticket,
                                                            core::Settlement settlement)
{
    const auto begun = now();
    auto result = co_await inner_.settle(digest, ticket, std::move(settlement));
    note(StoreOperation::settle, begun, result);
    co_return result;
}

awaitable<StoreResult<std::optional<core::Record>>> MeasuredStore::find(core::Digest digest)
{
    const auto begun = now();
    auto result = co_await inner_.find(digest);
    note(StoreOperation::find, begun, result);
    co_return result;
}

awaitable<StoreResult<SweepReport>> MeasuredStore::sweep(std::size_t rows)
{
    const auto begun = now();
    auto result = co_await inner_.sweep(rows);
    note(StoreOperation::sweep, begun, result);
    co_return result;
}

awaitable<StoreResult<std::vector<Listed>>> MeasuredStore::unknown(std::size_t limit)
{
    const auto begun = now();
    auto result = co_await inner_.unknown(limit);
    note(StoreOperation::list, begun, result);
    co_return result;
}

}  // namespace onceward
