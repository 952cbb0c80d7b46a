// One worker's side of the embedded store: the coroutines that wait, and the way back to them.
#pragma once

#include "store/commit_queue.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace onceward {

// Handlers never leave the worker: only items travel, so a coroutine is never touched, resumed or
// destroyed by the store's thread.
class Inbox : public std::enable_shared_from_this<Inbox> {
public:
    using Handler = boost::asio::any_completion_handler<void(ItemPtr)>;

    explicit Inbox(boost::asio::any_io_executor worker) : worker_(std::move(worker)) {}

    // Worker only. Hands the item to the queue; the handler runs later, on the worker, never from
    // inside.
    void submit(CommitQueue& queue, ItemPtr item, Handler handler);

    // Store's thread. Completes these items with one posted function; drops them if the worker is
    // gone.
    void deliver(std::vector<ItemPtr> items);

    // Worker only, its executor still alive. Handlers that still wait are dropped, never called;
    // nothing is posted afterwards.
    void close();

private:
    void complete(std::vector<ItemPtr> items);

    std::unordered_map<std::uint64_t, Handler> waiting_;  // Worker only.
    std::uint64_t next_ = 0;                              // Worker only.

    // Held while the store's thread posts, so that close() cannot return, and the worker's
    // io_context cannot die, in the middle of it.
    std::mutex mutex_;
    std::optional<boost::asio::any_io_executor> worker_;
};

}  // namespace onceward
