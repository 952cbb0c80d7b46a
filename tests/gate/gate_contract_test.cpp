// The contract, on every gate there is.
#include "gate/gate_contract.hpp"

#include "fakes/model_gate.hpp"
#include "gate/gate_rig.hpp"
#include "gate/open_gate.hpp"
#include "gate/redis_server.hpp"
#include "gate/settled_cache.hpp"

using namespace onceward;
using namespace onceward::test;

namespace {

// Asks a gate that never waits.
ContractGate immediate(Gate& gate)
{
    return {
        [&gate](core::Digest digest) {
            boost::asio::io_context context;
            std::optional<GateAnswer> answer;
            boost::asio::co_spawn(
                context, gate.lookup(digest),
                [&answer](std::exception_ptr, GateAnswer got) { answer = std::move(got); });
            context.run();
            return *answer;
        },
        [&gate](core::Digest digest, const core::Record& record) { gate.publish(digest, record); }};
}

const auto some_day = [] { return core::StoreTime{std::chrono::hours{1}}; };

}  // namespace

TEST_CASE("gate contract: no gate")
{
    OpenGate gate;
    check_gate_contract(immediate(gate), false);
}

TEST_CASE("gate contract: the model")
{
    ModelGate gate;
    gate.remembers = true;
    check_gate_contract(immediate(gate), true);
}

TEST_CASE("gate contract: copies in front of no gate")
{
    boost::asio::io_context context;
    AsioClock clock(context);
    OpenGate inner;
    CachingGate gate(inner, clock, some_day);
    check_gate_contract(immediate(gate), true);
}

TEST_CASE("gate contract: copies in front of the model, too small to hold anything")
{
    boost::asio::io_context context;
    AsioClock clock(context);
    ModelGate inner;
    inner.remembers = true;
    CachingGate gate(inner, clock, some_day, {10, 10, std::chrono::seconds{60}});
    check_gate_contract(immediate(gate), true);
    CHECK(gate.cache().size() == 0);
    CHECK(inner.lookups > 0);
}

TEST_CASE("gate contract: Redis")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    check_gate_contract({[&](core::Digest digest) { return rig.lookup(digest); },
                         [&](core::Digest digest, const core::Record& record) {
                             rig.gate.publish(digest, record);
                         }},
                        true);
    CHECK(rig.publications[GatePublish::sent] == 4);
}

TEST_CASE("gate contract: Redis that is not there")
{
    GateRig rig("unix:///nowhere/redis.sock");
    check_gate_contract({[&](core::Digest digest) { return rig.lookup(digest); },
                         [&](core::Digest digest, const core::Record& record) {
                             rig.gate.publish(digest, record);
                         }},
                        false);
    CHECK(rig.publications[GatePublish::dropped] == 4);
    rig.run_until([&] { return rig.told(GateCondition::down) > 0; });
}

TEST_CASE("copies in front of a gate answer without it, and date what was just settled")
{
    boost::asio::io_context context;
    AsioClock clock(context);
    ModelGate inner;
    CachingGate gate(inner, clock, some_day);
    auto record = settled_record();
    record.settled_at = {};
    gate.publish(digest_of(1), record);
    const auto found = immediate(gate).find(1);
    REQUIRE(found);
    CHECK(found->settled_at == some_day());
    CHECK(inner.lookups == 0);
    CHECK(inner.entries.contains(digest_of(1)));
}
