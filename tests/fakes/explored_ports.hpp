// The ports of one explored process: each call stops, meets its outcome, and leaves its result in
// the process's history.
#pragma once

#include "fakes/explored_world.hpp"
#include "ports/clock.hpp"
#include "ports/gate.hpp"
#include "ports/key_store.hpp"

#include <utility>

namespace onceward::test {

inline StateKey key_of(const core::Record& record)
{
    StateKey key;
    key.mix(static_cast<std::uint64_t>(record.state))
        .mix(static_cast<std::uint64_t>(record.reason));
    key.mix(static_cast<std::uint64_t>(record.kept))
        .mix(record.epoch)
        .mix(record.fingerprint.bytes[0]);
    key.mix(static_cast<std::uint64_t>(record.remaining.count()));
    return key.mix(static_cast<std::uint64_t>(record.answer.status)).mix(record.answer.body);
}

class ExploredStore final : public KeyStore {
public:
    ExploredStore(World& world, Process& process) : world_(world), process_(process) {}

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest, core::Claim claim) override
    {
        world_.name_token(claim.token, process_);
        const auto outcome = co_await world_.turn(process_, Step::reserve);
        if (const auto failed = fails(outcome)) co_return *failed;
        auto reservation = world_.rules.reserve(world_.slot, claim, world_.now);
        if (outcome == Outcome::crash_after) co_await world_.crash(process_);
        if (outcome == Outcome::unacknowledged) co_return ambiguous();
        if (const auto* won = std::get_if<core::Won>(&reservation)) {
            process_.won = won->ticket.epoch;
            process_.history.mix(3).mix(won->ticket.epoch);
        } else {
            process_.history.mix(4).mix(key_of(std::get<core::Held>(reservation).record));
        }
        co_return reservation;
    }

    awaitable<StoreResult<core::Settled>> settle(core::Digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        const auto outcome = co_await world_.turn(process_, Step::settle);
        if (const auto failed = fails(outcome)) co_return *failed;
        const auto settled = world_.rules.settle(world_.slot, ticket, settlement, world_.now);
        if (outcome == Outcome::crash_after) co_await world_.crash(process_);
        if (outcome == Outcome::unacknowledged) co_return ambiguous();
        process_.history.mix(settled == core::Settled::recorded ? 5 : 6);
        co_return settled;
    }

    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest) override
    {
        const auto outcome = co_await world_.turn(process_, Step::find);
        if (const auto failed = fails(outcome)) co_return *failed;
        std::optional<core::Record> found;
        if (world_.slot) found = world_.rules.view(*world_.slot, world_.now);
        process_.history.mix(found ? key_of(*found) : StateKey{});
        co_return found;
    }

    awaitable<StoreResult<SweepReport>> sweep(std::size_t) override
    {
        co_await world_.turn(process_, Step::sweep);
        world_.pass_time();
        world_.rules.sweep(world_.slot, world_.times, world_.now);
        ++sweeps_;
        if (sweeps_ == world_.setup.sweeps) after_last_sweep();
        SweepReport report;
        report.examined = 1;
        co_return report;
    }

    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t) override
    {
        co_return std::vector<Listed>{};
    }

    std::function<void()> after_last_sweep;

private:
    StoreError ambiguous()
    {
        process_.history.mix(2);
        return StoreError::ambiguous;
    }

    // Whether the call failed without effect.
    std::optional<StoreError> fails(Outcome outcome)
    {
        if (outcome == Outcome::unapplied) return ambiguous();
        if (outcome != Outcome::unavailable) return std::nullopt;
        process_.history.mix(1);
        return StoreError::unavailable;
    }

    World& world_;
    Process& process_;
    int sweeps_ = 0;
};

class ExploredGate final : public Gate {
public:
    ExploredGate(World& world, Process& process) : world_(world), process_(process) {}

    awaitable<GateAnswer> lookup(core::Digest) override
    {
        const auto outcome = co_await world_.turn(process_, Step::lookup);
        const bool lies = outcome == Outcome::lie;
        if (world_.gate && !lies) {
            process_.history.mix(key_of(*world_.gate));
            co_return GateSettled{*world_.gate};
        }
        const bool pending = !world_.gate && lies;
        process_.history.mix(pending ? 1 : 0);
        if (pending) co_return GatePending{};
        co_return GateMiss{};
    }

    void publish(core::Digest, const core::Record& record) override
    {
        world_.gate = record;
        published = true;
    }

    bool published = false;

private:
    World& world_;
    Process& process_;
};

class ExploredTail final : public BodyStream {
public:
    ExploredTail(World& world, Process& process, std::string rest)
        : world_(world), process_(process), rest_(std::move(rest))
    {
    }

    awaitable<Piece> next() override
    {
        const auto outcome = co_await world_.turn(process_, Step::tail);
        const bool whole = outcome == Outcome::ok;
        process_.history.mix(whole ? 0 : 1);
        Piece piece;
        piece.state = whole ? State::ended : State::truncated;
        if (whole) piece.bytes = rest_;
        co_return piece;
    }

private:
    World& world_;
    Process& process_;
    std::string rest_;
};

class ExploredUpstream final : public Upstream {
public:
    ExploredUpstream(World& world, Process& process) : world_(world), process_(process) {}

    awaitable<Sent> send(std::shared_ptr<const core::Route>, core::Request request) override
    {
        const auto epoch = std::exchange(process_.won, 0);
        const auto outcome = co_await world_.turn(process_, Step::send);
        process_.history.mix(static_cast<std::uint64_t>(outcome));
        const auto api = world_.healed ? Api::created : world_.setup.api;
        if (outcome == Outcome::not_sent) co_return NotSent{502, "connection_refused"};
        if (outcome == Outcome::lost) co_return NoAnswer{core::Reason::reset};
        if (api == Api::refusing) co_return NotSent{502, "connection_refused"};
        if (api == Api::limiting) {
            core::Response limited;
            limited.status = 429;
            world_.given.push_back({epoch, request.body, limited});
            co_return Answered{limited};
        }
        auto response = world_.execute(epoch, request.body);
        process_.history.mix(response.body);
        if (outcome == Outcome::crash_after) co_await world_.crash(process_);
        if (outcome == Outcome::executed_no_answer) co_return NoAnswer{core::Reason::reset};
        if (outcome == Outcome::truncated) co_return NoAnswer{core::Reason::truncated};
        if (api == Api::oversized) {
            auto rest = std::make_unique<ExploredTail>(world_, process_, response.body.substr(4));
            response.body.resize(4);
            co_return Oversized{std::move(response), core::BodyEnd::framed, std::move(rest)};
        }
        co_return Answered{std::move(response)};
    }

private:
    World& world_;
    Process& process_;
};

// Its time moves when one of its waits ends.
class ExploredClock final : public Clock {
public:
    ExploredClock(World& world, Process& process) : world_(world), process_(process) {}

    std::chrono::microseconds now() const override { return process_.now; }
    std::unique_ptr<Alarm> alarm() override
    {
        return std::make_unique<ExploredAlarm>(world_, process_);
    }

private:
    class ExploredAlarm final : public Alarm {
    public:
        ExploredAlarm(World& world, Process& process) : world_(world), process_(process) {}

        awaitable<void> wait(core::Millis duration) override
        {
            if (std::exchange(rung_, false)) co_return;
            co_await world_.turn(process_, Step::wait, duration, this);
        }
        void ring() override { rung_ = !world_.ring(this); }

    private:
        World& world_;
        Process& process_;
        bool rung_ = false;
    };

    World& world_;
    Process& process_;
};

}  // namespace onceward::test
