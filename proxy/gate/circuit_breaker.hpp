// When to stop asking somebody who does not answer, and when to try again.
#pragma once

#include "core/record.hpp"

#include <algorithm>
#include <chrono>

namespace onceward {

struct BreakerLimits {
    int failures_max = 5;  // In a row, before nobody is asked any more.
    core::Millis first_pause{std::chrono::seconds{1}};
    core::Millis pause_max{std::chrono::seconds{30}};  // The pause doubles up to it.
};

// Closed: everybody asks. Open: nobody does until the pause is over; then one question goes out,
// and its end decides. No clock inside: `now` is monotonic and given.
class CircuitBreaker {
public:
    using Time = std::chrono::microseconds;

    explicit CircuitBreaker(BreakerLimits limits = {}) : limits_(limits) {}

    // True when a question may be asked now. The one question of an open breaker must be followed
    // by succeeded, failed or withdrawn.
    bool allows(Time now)
    {
        if (pause_ == core::Millis{0}) return true;
        if (probing_ || now < open_until_) return false;
        probing_ = true;
        return true;
    }

    void succeeded()
    {
        failures_ = 0;
        pause_ = core::Millis{0};
        probing_ = false;
    }

    void failed(Time now)
    {
        const bool was_open = pause_ != core::Millis{0};
        // Questions that were under way when it opened say nothing new.
        if (was_open && !probing_) return;
        probing_ = false;
        if (!was_open && ++failures_ < limits_.failures_max) return;
        pause_ = was_open ? std::min(pause_ * 2, limits_.pause_max) : limits_.first_pause;
        open_until_ = now + pause_;
    }

    bool is_open() const { return pause_ != core::Millis{0}; }

private:
    BreakerLimits limits_;
    int failures_ = 0;
    core::Millis pause_{0};  // Zero: closed.
    Time open_until_{0};
    bool probing_ = false;
};

}  // namespace onceward
