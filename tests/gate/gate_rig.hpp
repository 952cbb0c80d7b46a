// A Redis gate, its loop and its clocks, driven by a test on one thread.
#pragma once

#include "asio_clock.hpp"
#include "gate/records.hpp"
#include "gate/redis_gate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace onceward::test {

// Waits end by events; this only ends a test that hangs.
constexpr std::chrono::seconds patience{20};

// Pauses that a test does not notice, and limits that a loaded machine does not reach.
inline RedisGateOptions options_for(const std::string& url)
{
    const auto parsed = parse_redis_address(url);
    REQUIRE_MESSAGE(std::holds_alternative<RedisAddress>(parsed), std::get<std::string>(parsed));
    RedisGateOptions options;
    options.address = std::get<RedisAddress>(parsed);
    options.lookup_limit = patience;
    options.publish_limit = patience;
    options.limits.dial_step = patience;
    options.limits.pause_first = core::Millis{1};
    options.limits.pause_max = core::Millis{4};
    options.breaker = {3, core::Millis{1}, core::Millis{2}};
    return options;
}

class GateRig {
public:
    explicit GateRig(RedisGateOptions options, const core::Secret& secret = secret_of())
        : gate(context, clock, [this] { return wall; }, secret, std::move(options), events())
    {
        boost::asio::co_spawn(context, gate.run(), [this](std::exception_ptr) { ran = true; });
    }
    explicit GateRig(const std::string& url) : GateRig(options_for(url)) {}
    ~GateRig()
    {
        gate.stop();
        run_until([this] { return ran; });
        context.restart();
        context.poll();
    }
    GateRig(const GateRig&) = delete;
    GateRig& operator=(const GateRig&) = delete;

    void run_until(const std::function<bool()>& reached)
    {
        const auto give_up = clock.now() + patience;
        while (!reached()) {
            if (clock.now() > give_up) FAIL("not reached in time");
            context.restart();
            context.run_one_for(std::chrono::milliseconds{50});
        }
    }

    void connect()
    {
        run_until([this] { return gate.is_up(); });
    }

    GateAnswer lookup(const core::Digest& digest)
    {
        std::optional<GateAnswer> answer;
        boost::asio::co_spawn(context, gate.lookup(digest),
                              [&answer](std::exception_ptr, GateAnswer got) { answer = got; });
        run_until([&answer] { return answer.has_value(); });
        return *answer;
    }

    std::optional<core::Record> find(const core::Digest& digest)
    {
        const auto answer = lookup(digest);
        const auto* settled = std::get_if<GateSettled>(&answer);
        return settled ? std::optional(settled->record) : std::nullopt;
    }

    // Replies come in order, so a lookup that was answered follows every publication before it.
    void publish(const core::Digest& digest, const core::Record& record)
    {
        gate.publish(digest, record);
        lookup(digest_of(0xFFFF'FFFF));
    }

    int told(GateCondition condition) const
    {
        int times = 0;
        for (const auto& [what, why] : news)
            times += what == condition ? 1 : 0;
        return times;
    }

    boost::asio::io_context context{1};
    AsioClock clock{context};
    core::StoreTime wall{std::chrono::milliseconds{1'800'000'000'000}};
    std::map<GateLookup, int> lookups;
    std::map<GatePublish, int> publications;
    std::vector<std::pair<GateCondition, std::string>> news;
    bool ran = false;
    RedisGate gate;

private:
    GateEvents events()
    {
        return {[this](GateLookup how) { ++lookups[how]; },
                [this](GatePublish how) { ++publications[how]; },
                [this](GateCondition what, std::string_view why) { news.emplace_back(what, why); }};
    }
};

}  // namespace onceward::test
