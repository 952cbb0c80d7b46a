// Whether this process wants traffic, and what it depends on.
#pragma once

#include "ops/metrics.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onceward {

enum class Phase : std::uint8_t { starting, ready, draining };
std::string_view to_string(Phase phase);

// One dependency as a reader sees it.
struct Check {
    std::string_view name;
    bool ok = false;
    std::string detail;  // "down since 2026-12-01T10:02:11.123Z"; "not reached yet".
};

struct Readiness {
    Phase phase = Phase::starting;
    std::vector<Check> checks;
    // A dependency that fails later does not take the process out: what is not guarded still works.
    bool accepts_traffic() const { return phase == Phase::ready; }
};

// Any number of threads. Keeps the metrics' `draining` and `dependency_up` in step.
class Health {
public:
    explicit Health(Metrics& metrics) : metrics_(metrics) {}

    void set_phase(Phase phase);
    Phase phase() const { return phase_.load(); }

    // True when this is news, so that the caller logs one line for each change.
    bool report(Dependency dependency, bool up);

    Readiness readiness() const;
    const Metrics& metrics() const { return metrics_; }

private:
    enum class Seen : std::uint8_t { never, up, down };

    Metrics& metrics_;
    std::atomic<Phase> phase_ = Phase::starting;
    std::array<std::atomic<Seen>, size_of<Dependency>> seen_{};
    std::array<std::atomic<std::int64_t>, size_of<Dependency>>
        since_{};  // Milliseconds since 1970.
};

}  // namespace onceward
