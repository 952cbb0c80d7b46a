// What every gate promises to the exchange, whatever it is made of.
#pragma once

#include "gate/records.hpp"
#include "ports/gate.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>

namespace onceward::test {

// A gate under test, with a way to ask it and wait.
struct ContractGate {
    std::function<GateAnswer(core::Digest)> lookup;
    std::function<void(core::Digest, const core::Record&)> publish;

    std::optional<core::Record> find(unsigned key) const
    {
        const auto answer = lookup(digest_of(key));
        CHECK_FALSE(std::holds_alternative<GatePending>(answer));
        const auto* settled = std::get_if<GateSettled>(&answer);
        return settled ? std::optional(settled->record) : std::nullopt;
    }
};

// `remembers`: a publication is found again as long as nothing goes wrong. Without, every answer
// may be a miss, and nothing else.
inline void check_gate_contract(const ContractGate& gate, bool remembers)
{
    const auto found_is = [&](unsigned key, const core::Record& record) {
        const auto found = gate.find(key);
        if (remembers) CHECK(found.has_value());
        if (!found) return;
        CHECK(same_answer(*found, record));
        CHECK(found->remaining <= record.remaining);
    };
    CHECK_FALSE(gate.find(1));

    const auto record = settled_record();
    gate.publish(digest_of(1), record);
    found_is(1, record);
    found_is(1, record);
    CHECK_FALSE(gate.find(2));

    auto failed = settled_record(std::string("no\0money", 8));
    failed.state = core::State::failed;
    failed.answer.status = 402;
    gate.publish(digest_of(2), failed);
    found_is(2, failed);
    found_is(1, record);

    auto bare = settled_record("");
    bare.kept = core::Kept::status_only;
    gate.publish(digest_of(3), bare);
    found_is(3, bare);

    auto again = settled_record("settled again");
    again.epoch = record.epoch + 1;
    gate.publish(digest_of(1), again);
    found_is(1, again);
}

}  // namespace onceward::test
