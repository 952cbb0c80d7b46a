// Monotonic time and waiting, so that tests own both.
#pragma once

#include "core/record.hpp"
#include "ports/result.hpp"

#include <memory>

namespace onceward {

// One coroutine's wait, which another may end early.
class Alarm {
public:
    virtual ~Alarm() = default;
    virtual awaitable<void> wait(core::Millis duration) = 0;
    // Ends the wait that is under way; without one, the next wait ends at once.
    virtual void ring() = 0;
};

class Clock {
public:
    virtual ~Clock() = default;
    // Since some fixed moment of this process. For durations only.
    virtual std::chrono::microseconds now() const = 0;
    virtual std::unique_ptr<Alarm> alarm() = 0;
};

}  // namespace onceward
