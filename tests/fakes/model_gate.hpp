// A gate in memory: off until it is told to remember, and it says what a test makes it say.
#pragma once

#include "ports/gate.hpp"

#include <map>
#include <optional>

namespace onceward::test {

class ModelGate final : public Gate {
public:
    awaitable<GateAnswer> lookup(core::Digest digest) override
    {
        ++lookups;
        if (says) co_return *says;
        const auto kept = entries.find(digest);
        if (!remembers || kept == entries.end()) co_return GateMiss{};
        co_return GateSettled{kept->second};
    }

    void publish(core::Digest digest, const core::Record& record) override
    {
        entries.insert_or_assign(digest, record);
    }

    bool remembers = false;
    std::optional<GateAnswer> says;  // Whatever it knows: a gate that lies.
    std::map<core::Digest, core::Record> entries;
    int lookups = 0;
};

}  // namespace onceward::test
