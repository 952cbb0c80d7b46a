// The cleaner: moves records on when their time is over, a bounded number at a time. It never
// deletes a key inside its tombstone window, so that a late retry cannot run again.
#pragma once

#include "ports/clock.hpp"
#include "ports/key_store.hpp"

#include <functional>

namespace onceward {

struct JanitorPace {
    std::size_t rows = 2'000;                        // Examined in one pass.
    core::Millis interval{std::chrono::seconds{1}};  // Between two passes.
};

// Any number of janitors may run over one store. Correctness does not depend on any: what is
// overdue already reads so (RPL-11).
class Janitor {
public:
    using Report = std::function<void(const SweepReport&)>;

    // `report` is called after each pass that worked. `store` and `clock` outlive the
    // coroutine.
    Janitor(KeyStore& store, Clock& clock, JanitorPace pace, Report report);

    // Runs until stop is called.
    awaitable<void> run();
    void stop();

private:
    KeyStore& store_;
    JanitorPace pace_;
    Report report_;
    std::unique_ptr<Alarm> alarm_;
    bool stopped_ = false;
};

}  // namespace onceward
