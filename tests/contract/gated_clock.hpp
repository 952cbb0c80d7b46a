// A store's clock that can hold the store's thread before its next group, so that a test decides
// what gathers.
#pragma once

#include "store_rig.hpp"

#include <condition_variable>
#include <mutex>

namespace onceward::test {

class GatedClock {
public:
    core::StoreTime operator()()
    {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        return first_moment;
    }

    void shut()
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        arrived_ = 0;
    }
    // Waits until the store's thread stands before the gate, with the items of its group already
    // taken.
    void wait_for_arrival()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return arrived_ > 0; });
    }
    void open()
    {
        {
            const std::lock_guard lock(mutex_);
            open_ = true;
        }
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int arrived_ = 0;
};

}  // namespace onceward::test
