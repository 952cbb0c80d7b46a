// The bounded queue.
#include "store/commit_queue.hpp"

#include <algorithm>

namespace onceward {

Pushed CommitQueue::push(ItemPtr& item)
{
    bool was_empty = false;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return Pushed::closed;
        if (items_.size() >= limit_) return Pushed::full;
        was_empty = items_.empty();
        items_.push_back(std::move(item));
    }
    // The store's thread sleeps only on an empty queue.
    if (was_empty) filled_.notify_one();
    return Pushed::accepted;
}

void CommitQueue::take(std::vector<ItemPtr>& batch, std::size_t most)
{
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
    const auto count = std::min(most, items_.size());
    const auto last = items_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(items_.begin(), last, std::back_inserter(batch));
    items_.erase(items_.begin(), last);
}

void CommitQueue::close()
{
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    filled_.notify_all();
}

}  // namespace onceward
