// No gate: every question goes to the store.
#pragma once

#include "ports/gate.hpp"

namespace onceward {

class OpenGate final : public Gate {
public:
    awaitable<GateAnswer> lookup(core::Digest) override { co_return GateMiss{}; }
    void publish(core::Digest, const core::Record&) override {}
};

}  // namespace onceward
