// What travels between the workers and the store's thread, and the bounded queue in which it waits
// there.
#pragma once

#include "ports/key_store.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace onceward {

class Inbox;

struct ReserveCall {
    core::Digest digest;
    core::Claim claim;
};
struct SettleCall {
    core::Digest digest;
    core::Ticket ticket;
    core::Settlement settlement;
};
struct FindCall {
    core::Digest digest;
};
struct SweepCall {
    std::size_t rows = 0;
};
struct UnknownCall {
    std::size_t limit = 0;
};
using Call = std::variant<ReserveCall, SettleCall, FindCall, SweepCall, UnknownCall>;

using Outcome = std::variant<std::monostate, core::Reservation, core::Settled,
                             std::optional<core::Record>, SweepReport, std::vector<Listed>>;

// One operation on its way there and back. Owned by whoever has it: the worker, the queue, the
// store's thread, and the worker again.
struct Item {
    Call call;
    Outcome outcome;
    std::optional<StoreError> error;
    std::shared_ptr<Inbox> inbox;  // Where it comes back.
    std::uint64_t number = 0;      // Which of the inbox's handlers it completes.
};
using ItemPtr = std::unique_ptr<Item>;

enum class Pushed : std::uint8_t { accepted, full, closed };

// Many workers push, the store's thread takes. Its mutex is held for a few pointer moves and never
// across a system call of the database, so a worker does not wait for a commit.
class CommitQueue {
public:
    explicit CommitQueue(std::size_t limit) : limit_(limit) {}

    // The item is left where it is unless it was accepted.
    Pushed push(ItemPtr& item);

    // Waits until there is something, then moves up to `most` items, oldest first, into the empty
    // `batch`. Empty afterwards: the queue was closed and everything accepted has been taken.
    void take(std::vector<ItemPtr>& batch, std::size_t most);

    // Accepts nothing more.
    void close();

private:
    const std::size_t limit_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<ItemPtr> items_;
    bool closed_ = false;
};

}  // namespace onceward
