// What a gate tells the numbers and the log; it knows neither.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace onceward {

// How one lookup ended. Only a hit changes which question is asked next.
enum class GateLookup : std::uint8_t {
    hit,
    miss,
    refused,  // Something was there that is not genuine, of another key, or past its time.
    error,    // Asked, and no answer in time, or an error.
    skipped,  // Not asked: not connected, or the breaker is open.
};

enum class GatePublish : std::uint8_t {
    sent,     // Handed to the stream; whether it arrived is nobody's concern.
    unfit,    // Not settled, too large, or with too little time left.
    dropped,  // Not connected, or too much waits to be sent.
};

enum class GateCondition : std::uint8_t {
    up,
    down,         // Tried again by itself.
    unsupported,  // A Redis Cluster: not asked again by this process.
    complaint,    // Works, but refuses something: told once for each kind of error.
};

// Called on the worker. Each may be empty; none may call the gate.
struct GateEvents {
    std::function<void(GateLookup)> looked_up;
    std::function<void(GatePublish)> published;
    // Only changes, so each is worth a line in the log. `why` holds no secret and no tenant's data.
    std::function<void(GateCondition, std::string_view why)> changed;
};

}  // namespace onceward
