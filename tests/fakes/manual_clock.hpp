// Time that moves only when a test says so.
#pragma once

#include "fakes/suspension.hpp"
#include "ports/clock.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace onceward::test {

// Must outlive its alarms, and be told to drop them before the io_context of the waiting coroutines
// ends.
class ManualClock final : public Clock {
public:
    std::chrono::microseconds now() const override { return now_; }
    core::Millis time() const { return now_; }
    std::unique_ptr<Alarm> alarm() override { return std::make_unique<ManualAlarm>(*this); }

    // When the next wait ends, if any coroutine waits.
    std::optional<core::Millis> next_due() const
    {
        std::optional<core::Millis> next;
        for (const auto& [id, wait] : waits_) {
            if (!next || wait.due < *next) next = wait.due;
        }
        return next;
    }

    // Moves on to `time` and ends every wait that is due by then. Its coroutines run when their
    // executor does.
    void move_to(core::Millis time)
    {
        now_ = time;
        for (auto wait = waits_.begin(); wait != waits_.end();) {
            if (wait->second.due > now_) {
                ++wait;
                continue;
            }
            auto ended = std::move(wait->second.suspension);
            wait = waits_.erase(wait);
            ended->resume(0);
        }
    }

    std::size_t waiting() const { return waits_.size(); }
    void drop_all() { waits_.clear(); }

private:
    struct Wait {
        core::Millis due{};
        std::unique_ptr<Suspension<int>> suspension;
    };

    class ManualAlarm final : public Alarm {
    public:
        explicit ManualAlarm(ManualClock& clock) : clock_(clock), id_(clock.next_id_++) {}

        awaitable<void> wait(core::Millis duration) override
        {
            if (std::exchange(rung_, false) || duration <= core::Millis{0}) co_return;
            auto suspension = std::make_unique<Suspension<int>>();
            auto& stop = *suspension;
            clock_.waits_[id_] = {clock_.now_ + duration, std::move(suspension)};
            co_await stop.wait();
        }

        void ring() override
        {
            const auto wait = clock_.waits_.find(id_);
            if (wait == clock_.waits_.end()) {
                rung_ = true;
                return;
            }
            const auto ended = std::move(wait->second.suspension);
            clock_.waits_.erase(wait);
            ended->resume(0);
        }

    private:
        ManualClock& clock_;
        std::uint64_t id_;
        bool rung_ = false;
    };

    core::Millis now_{};
    std::uint64_t next_id_ = 0;
    std::map<std::uint64_t, Wait> waits_;
};

}  // namespace onceward::test
