// A fast place to ask first. It may lie: what it says chooses the next question, never the answer
// (decision 32).
#pragma once

#include "core/record.hpp"
#include "ports/result.hpp"

#include <variant>

namespace onceward {

struct GateMiss {};
struct GatePending {};  // Somebody may hold it: read before you reserve, nothing else.
struct GateSettled {    // A record that was settled when it was published, proved genuine and not
                        // past its time.
    core::Record record;
};
using GateAnswer = std::variant<GateMiss, GatePending, GateSettled>;

class Gate {
public:
    virtual ~Gate() = default;

    // Never fails: whatever is wrong with the gate is a miss. Returns within a few milliseconds.
    virtual awaitable<GateAnswer> lookup(core::Digest digest) = 0;

    // Only after the commit, never awaited, may be lost. `record` is DONE or FAILED.
    virtual void publish(core::Digest digest, const core::Record& record) = 0;
};

}  // namespace onceward
