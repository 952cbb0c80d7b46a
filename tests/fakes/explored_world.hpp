// One key, its store, gate and legacy API, and every stop at which the explorer decides what
// happens next.
#pragma once

#include "core/record.hpp"
#include "core/stored_fields.hpp"
#include "fakes/choices.hpp"
#include "fakes/suspension.hpp"
#include "ports/upstream.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onceward::test {

// A port call; it stops before its effect until the explorer picks it.
enum class Step : std::uint8_t {
    lookup,
    reserve,
    settle,
    find,
    send,
    tail,
    wait,
    sweep,
    reopen,
    drain
};

// How a call goes. Everything but `ok` is a fault.
enum class Outcome : std::uint8_t {
    ok,
    unavailable,         // The store did nothing, and says so.
    unapplied,           // The store did nothing, and nobody can tell.
    unacknowledged,      // The store did it, and nobody can tell.
    crash_before,        // The whole process dies before the effect,
    crash_after,         // or after it, before it hears of it.
    lie,                 // The gate says what is not so.
    not_sent,            // No byte left.
    lost,                // Sent, not executed, no answer.
    executed_no_answer,  // Sent, executed, no answer.
    truncated,           // Executed; the answer broke off.
};

std::string_view to_string(Step step);
std::string_view to_string(Outcome outcome);
std::span<const Outcome> outcomes_of(Step step);

// What the legacy API does with a request that reaches it.
enum class Api : std::uint8_t { created, declined, failing, refusing, limiting, oversized };

// core's transitions, for a mutant to get wrong.
class StoreRules {
public:
    virtual ~StoreRules() = default;
    virtual core::Reservation reserve(core::Slot& slot, const core::Claim& claim,
                                      core::StoreTime now)
    {
        return core::reserve(slot, claim, now);
    }
    virtual core::Settled settle(core::Slot& slot, const core::Ticket& ticket,
                                 const core::Settlement& settlement, core::StoreTime now)
    {
        return core::settle(slot, ticket, settlement, now);
    }
    virtual core::Record view(const core::Row& row, core::StoreTime now)
    {
        return core::view(row, now);
    }
    virtual void sweep(core::Slot& slot, const core::TierTimes& times, core::StoreTime now)
    {
        core::sweep(slot, times, now);
    }
};

// What is explored.
struct Setup {
    std::string name;
    Api api = Api::created;
    int faults = 1;           // At most, in one schedule.
    int clients = 2;          // With the same key.
    bool one_worker = false;  // All clients in one process, on one Exchange.
    bool other_body = false;  // The second client uses the key for another request.
    bool repeats =
        false;       // Ambiguous store calls are repeated at once; else only in the background.
    int sweeps = 0;  // Passes of the janitor, each finding that a lease has just ended.
    bool retention = false;  // It may also find that a settled record's time has ended.
    bool reopens = false;    // An operator may re-open the key once while it is UNKNOWN.
    bool drains = false;     // The first process may be told to stop.
    bool prunes = true;      // Do not explore a state twice.
};

// A process with its own Exchange, clock and memory: it lives and dies as one.
struct Process {
    int id = 0;
    bool dead = false;
    StateKey history{};  // Which of its calls ended in which order, and how: this determines all of
                         // its memory.
    bool is_like_others = false;  // Its number makes no difference.
    std::uint32_t calls = 0;
    std::uint32_t tokens = 0;
    core::Millis now{};
    core::Epoch won = 0;  // The reservation that it was just told of.
};

// A complete answer that the legacy API gave.
struct Given {
    core::Epoch epoch = 0;  // The reservation under which it was asked; zero: none.
    std::string request;
    core::Response response;
};

inline core::Response stored_form(const core::Response& response)
{
    return {response.status, core::storable(response.fields, {}), response.body};
}

class World {
public:
    World(const Setup& made_setup, StoreRules& made_rules, core::TierTimes made_times)
        : setup(made_setup), rules(made_rules), times(made_times), faults_left(made_setup.faults)
    {
    }
    ~World()
    {
        parked.clear();
        graveyard.clear();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Stops the calling coroutine until the explorer picks this call.
    awaitable<Outcome> turn(Process& process, Step step, core::Millis duration = {},
                            const void* owner = nullptr)
    {
        parked.push_back(std::make_unique<Parked>());
        auto& call = *parked.back();
        call.process = &process;
        call.id = process.calls++;
        call.step = step;
        call.due = process.now + duration;
        call.owner = owner;
        return call.stop.wait();
    }

    // Ends the wait of this alarm; the coroutine still has to be picked before it goes on.
    bool ring(const void* owner)
    {
        for (const auto& call : parked) {
            if (call->step == Step::wait && call->owner == owner) return call->rung = true;
        }
        return false;
    }

    // The process dies: nothing of it goes on.
    void kill(Process& process)
    {
        process.dead = true;
        process.history = {};
        auto calls = std::exchange(parked, {});
        for (auto& call : calls) {
            (call->process == &process ? graveyard : parked).push_back(std::move(call));
        }
    }

    // Does not return.
    awaitable<Outcome> crash(Process& process)
    {
        kill(process);
        graveyard.push_back(std::make_unique<Parked>());
        return graveyard.back()->stop.wait();
    }

    // The legacy API does the work.
    core::Response execute(core::Epoch epoch, const std::string& request)
    {
        ++executions;
        ++executed_under[epoch];
        core::Response response;
        response.status = 201;
        if (!healed && setup.api == Api::declined) response.status = 422;
        if (!healed && setup.api == Api::failing) response.status = 500;
        response.fields.add("Location", "/charges/" + std::to_string(executions));
        response.fields.add("Set-Cookie", "session=1");
        response.body = "receipt " + std::to_string(executions);
        given.push_back({epoch, request, response});
        return response;
    }

    // Whether time can change the row: what a sweep is picked for.
    bool time_matters() const
    {
        if (!slot) return false;
        switch (slot->state) {
            case core::State::pending: return true;
            case core::State::done:
            case core::State::failed:
            case core::State::unknown: return setup.retention;
            case core::State::released:
            case core::State::expired: return false;
        }
        return false;
    }

    // The row's time ends now, by the store's clock.
    void pass_time()
    {
        if (!slot) return;
        now = std::max(now, slot->until);
        // A gate's entry lives shorter than its record.
        if (slot->state != core::State::pending) gate.reset();
    }

    // Attempts are told apart by who made them, because their tokens are random.
    void name_token(const core::Token& token, Process& process)
    {
        const Attempt attempt{&process, process.tokens};
        if (attempts.try_emplace(token, attempt).second) ++process.tokens;
    }

    // Processes that are alike are interchangeable: only what they went through tells them apart.
    static StateKey key_of(const Process& process)
    {
        auto key = process.history;
        if (!process.is_like_others) key.mix(static_cast<std::uint64_t>(process.id));
        return key.mix(process.dead ? 1 : 0);
    }

    StateKey key_of(const core::Row& row) const
    {
        StateKey key;
        key.mix(static_cast<std::uint64_t>(row.state)).mix(static_cast<std::uint64_t>(row.reason));
        key.mix(static_cast<std::uint64_t>(row.kept)).mix(row.epoch).mix(row.fingerprint.bytes[0]);
        key.mix(static_cast<std::uint64_t>(row.until.time_since_epoch().count()));
        return key.mix(static_cast<std::uint64_t>(row.answer.status)).mix(row.answer.body);
    }

    // Which attempt holds the row.
    StateKey key_of_holder() const
    {
        const auto attempt = slot ? attempts.find(slot->token) : attempts.end();
        if (attempt == attempts.end()) return {};
        return key_of(*attempt->second.process).mix(attempt->second.number);
    }

    // Everything outside the processes but who holds the row.
    StateKey outer_key() const
    {
        StateKey key;
        if (slot) key.mix(key_of(*slot));
        if (settled) key.mix(1).mix(key_of(*settled));
        if (tombstone) key.mix(2).mix(key_of(*tombstone));
        if (gate) key.mix(3).mix(gate->epoch).mix(gate->answer.body);
        if (acknowledged) key.mix(4).mix(acknowledged->request).mix(acknowledged->response.body);
        for (const auto& answer : given)
            key.mix(answer.epoch).mix(answer.request);
        for (const auto& [epoch, times_executed] : executed_under) {
            key.mix(epoch).mix(static_cast<std::uint64_t>(times_executed));
        }
        key.mix(static_cast<std::uint64_t>(now.time_since_epoch().count()));
        return key.mix(
            static_cast<std::uint64_t>(executions * 8 + reopenings * 2 + (marked ? 1 : 0)));
    }

    struct Attempt {
        const Process* process = nullptr;
        std::uint32_t number = 0;
    };

    struct Parked {
        Process* process = nullptr;
        std::uint32_t id = 0;
        Step step = Step::lookup;
        core::Millis due{};
        const void* owner = nullptr;
        bool rung = false;
        Suspension<Outcome> stop;
    };

    const Setup& setup;
    StoreRules& rules;
    core::TierTimes times;
    int faults_left;
    bool healed = false;  // The last client meets no fault and a working API.

    core::Slot slot;
    core::StoreTime now{std::chrono::hours{24}};
    std::optional<core::Record> gate;
    bool marked = false;  // A mark in the gate, which only mutants make.

    // What really happened, for the checks only.
    int executions = 0;
    int reopenings = 0;
    std::map<core::Epoch, int> executed_under;
    std::vector<Given> given;
    std::optional<core::Row> settled;    // The row when it first was DONE or FAILED.
    std::optional<core::Row> tombstone;  // The row when it first was EXPIRED.
    std::optional<Given> acknowledged;   // A success that a client was told of, as it is stored.

    std::map<core::Token, Attempt> attempts;
    std::vector<std::unique_ptr<Parked>> parked;
    std::vector<std::unique_ptr<Parked>> graveyard;
};

}  // namespace onceward::test
