// Phases and dependencies.
#include "ops/health.hpp"

#include "ops/json_text.hpp"

namespace onceward {

std::string_view to_string(Phase phase)
{
    switch (phase) {
        case Phase::starting: return "starting";
        case Phase::ready: return "ready";
        case Phase::draining: return "draining";
    }
    return "starting";
}

void Health::set_phase(Phase phase)
{
    phase_.store(phase);
    metrics_.set(Level::draining, phase == Phase::draining ? 1 : 0);
}

bool Health::report(Dependency dependency, bool up)
{
    const auto index = static_cast<std::size_t>(dependency);
    const auto now = up ? Seen::up : Seen::down;
    if (seen_[index].load(std::memory_order_relaxed) == now) return false;
    if (seen_[index].exchange(now) == now) return false;
    using std::chrono::milliseconds;
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    since_[index].store(std::chrono::duration_cast<milliseconds>(time).count());
    metrics_.set(dependency, up);
    return true;
}

Readiness Health::readiness() const
{
    Readiness readiness;
    readiness.phase = phase();
    for (std::size_t index = 0; index < size_of<Dependency>; ++index) {
        Check check;
        check.name = to_string(static_cast<Dependency>(index));
        switch (seen_[index].load()) {
            case Seen::never: check.detail = "not reached yet"; break;
            case Seen::up: check.ok = true; break;
            case Seen::down:
                check.detail = "down since ";
                const std::chrono::milliseconds since(since_[index].load());
                append_time(check.detail, std::chrono::system_clock::time_point(since));
                break;
        }
        readiness.checks.push_back(std::move(check));
    }
    return readiness;
}

}  // namespace onceward
