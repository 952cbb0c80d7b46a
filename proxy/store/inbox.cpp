// Completion of store operations on their worker.
#include "store/inbox.hpp"

#include <boost/asio/post.hpp>

namespace onceward {

void Inbox::submit(CommitQueue& queue, ItemPtr item, Handler handler)
{
    const auto number = next_++;
    item->number = number;
    item->inbox = shared_from_this();
    // In place before the item leaves: its completion is posted to this very thread and so comes
    // later.
    waiting_.emplace(number, std::move(handler));

    const auto pushed = queue.push(item);
    if (pushed == Pushed::accepted) return;
    item->error = pushed == Pushed::full ? StoreError::overloaded : StoreError::unavailable;
    std::vector<ItemPtr> refused;
    refused.push_back(std::move(item));
    deliver(std::move(refused));
}

void Inbox::deliver(std::vector<ItemPtr> items)
{
    const std::lock_guard lock(mutex_);
    if (!worker_) return;
    boost::asio::post(*worker_, [self = shared_from_this(), items = std::move(items)]() mutable {
        self->complete(std::move(items));
    });
}

void Inbox::complete(std::vector<ItemPtr> items)
{
    for (auto& item : items) {
        const auto found = waiting_.extract(item->number);
        if (found.empty()) continue;
        item->inbox.reset();
        // Moved out by construction: assigning an any_completion_handler recurses for ever in
        // Boost 1.81.
        Handler handler(std::move(found.mapped()));
        std::move(handler)(std::move(item));
    }
}

void Inbox::close()
{
    {
        const std::lock_guard lock(mutex_);
        worker_.reset();
    }
    waiting_.clear();
}

}  // namespace onceward
