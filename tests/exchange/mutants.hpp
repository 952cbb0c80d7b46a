// Protocol bugs on purpose, each a wrapper around the ports or the store's rules; the product is
// untouched.
#pragma once

#include "fakes/explorer.hpp"

#include <boost/asio/this_coro.hpp>

namespace onceward::test {

// Forwards everything; a mutant gets one thing wrong.
class Forwarding : public PortMutant, public KeyStore, public Gate, public Upstream {
public:
    Forwarding(ExchangePorts base, World& world) : base_(base), world_(world) {}

    ExchangePorts ports() override { return {*this, *this, *this, base_.clock, base_.observer}; }

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        return base_.store.reserve(digest, claim);
    }
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        return base_.store.settle(digest, ticket, std::move(settlement));
    }
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        return base_.store.find(digest);
    }
    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override
    {
        return base_.store.sweep(rows);
    }
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        return base_.store.unknown(limit);
    }
    awaitable<GateAnswer> lookup(core::Digest digest) override { return base_.gate.lookup(digest); }
    void publish(core::Digest digest, const core::Record& record) override
    {
        base_.gate.publish(digest, record);
    }
    awaitable<Sent> send(std::shared_ptr<const core::Route> route, core::Request request) override
    {
        return base_.upstream.send(std::move(route), std::move(request));
    }

protected:
    static core::Held pending_for(const core::Claim& claim)
    {
        core::Record record;
        record.fingerprint = claim.fingerprint;
        return {record};
    }

    ExchangePorts base_;
    World& world_;
};

// Forwards before the reservation is made.
class SendFirst final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        auto route = std::make_shared<const core::Route>(explored_route());
        core::Request request;
        request.body = "pay 10";
        auto sent = co_await base_.upstream.send(std::move(route), std::move(request));
        early_ = std::move(sent);
        auto reservation = co_await base_.store.reserve(digest, claim);
        co_return reservation;
    }
    awaitable<Sent> send(std::shared_ptr<const core::Route>, core::Request) override
    {
        co_return std::move(early_);
    }

private:
    Sent early_;
};

// Takes a broken connection for a request that was not sent.
class ResetRelease final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<Sent> send(std::shared_ptr<const core::Route> route, core::Request request) override
    {
        auto sent = co_await base_.upstream.send(std::move(route), std::move(request));
        if (std::holds_alternative<NoAnswer>(sent)) sent = NotSent{};
        co_return sent;
    }
};

// Sends again over a new connection when the old one broke.
class AutoRetry final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<Sent> send(std::shared_ptr<const core::Route> route, core::Request request) override
    {
        auto sent = co_await base_.upstream.send(route, request);
        if (!std::holds_alternative<NoAnswer>(sent)) co_return sent;
        auto again = co_await base_.upstream.send(route, request);
        co_return again;
    }
};

// Takes the beginning of an answer for the answer.
class PartialDone final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<Sent> send(std::shared_ptr<const core::Route> route, core::Request request) override
    {
        auto sent = co_await base_.upstream.send(std::move(route), std::move(request));
        const auto* lost = std::get_if<NoAnswer>(&sent);
        if (lost != nullptr && lost->reason == core::Reason::truncated) {
            core::Response beginning;
            beginning.status = 201;
            beginning.body = "rece";
            sent = Answered{beginning};
        }
        co_return sent;
    }
};

// Answers while the commit is still under way.
class ReplyFirst final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        const auto executor = co_await boost::asio::this_coro::executor;
        auto later = base_.store.settle(digest, ticket, std::move(settlement));
        boost::asio::co_spawn(executor, std::move(later), boost::asio::detached);
        co_return core::Settled::recorded;
    }
};

// Sends although the reservation failed or is in doubt.
class Optimistic final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        auto reservation = co_await base_.store.reserve(digest, claim);
        if (!reservation) co_return core::Reservation(core::Won{{claim.token, 1}});
        co_return reservation;
    }
};

// Tells a duplicate of a running request that all is well.
class FalseSuccess final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        auto reservation = co_await base_.store.reserve(digest, claim);
        if (!reservation) co_return reservation;
        if (auto* held = std::get_if<core::Held>(&*reservation)) {
            if (held->record.state == core::State::pending) {
                held->record.state = core::State::done;
                held->record.kept = core::Kept::full;
                held->record.answer.status = 201;
            }
        }
        co_return reservation;
    }
};

// Publishes an outcome before it is committed.
class PublishFirst final : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        core::Record record;
        record.state = settlement.state;
        record.kept = settlement.kept;
        record.epoch = ticket.epoch;
        record.fingerprint.bytes.fill(6);
        record.answer = settlement.answer;
        if (settlement.state == core::State::done) base_.gate.publish(digest, record);
        auto settled = co_await base_.store.settle(digest, ticket, std::move(settlement));
        co_return settled;
    }
};

// Believes the gate's mark, which whoever died forgot to take away.
class MarkBelieved : public Forwarding {
public:
    using Forwarding::Forwarding;
    awaitable<GateAnswer> lookup(core::Digest digest) override
    {
        auto answer = co_await base_.gate.lookup(digest);
        believed_ = std::exchange(world_.marked, true);
        co_return answer;
    }
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        if (believed_) co_return core::Reservation(pending_for(claim));
        auto reservation = co_await base_.store.reserve(digest, claim);
        co_return reservation;
    }

protected:
    bool believed_ = false;
};

// Lets the gate decide; the store is written for the record only.
class Arbiter final : public MarkBelieved {
public:
    using MarkBelieved::MarkBelieved;
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        if (believed_) co_return core::Reservation(pending_for(claim));
        const auto written = co_await base_.store.reserve(digest, claim);
        static_cast<void>(written);
        co_return core::Reservation(core::Won{{claim.token, 1}});
    }
};

// The cleaner deletes what is overdue.
class Deleting final : public StoreRules {
public:
    void sweep(core::Slot& slot, const core::TierTimes& times, core::StoreTime now) override
    {
        const bool pending = slot && slot->state == core::State::pending;
        core::sweep(slot, times, now);
        if (pending) slot.reset();
    }
};

// A dead lease may be taken over.
class Stealing final : public StoreRules {
public:
    core::Reservation reserve(core::Slot& slot, const core::Claim& claim,
                              core::StoreTime now) override
    {
        if (slot && slot->state == core::State::unknown && slot->reason == core::Reason::lease) {
            slot->state = core::State::released;
        }
        return core::reserve(slot, claim, now);
    }
};

// Settles by the state alone, whoever asks.
class Unfenced final : public StoreRules {
public:
    core::Settled settle(core::Slot& slot, const core::Ticket& ticket,
                         const core::Settlement& settlement, core::StoreTime now) override
    {
        if (!slot) return core::Settled::fenced;
        const bool open =
            slot->state == core::State::pending || slot->state == core::State::unknown;
        const core::Ticket own{slot->token, slot->epoch};
        return core::settle(slot, open ? own : ticket, settlement, now);
    }
};

// The cleaner forgets what was recorded while retries may still come.
class Forgetful final : public StoreRules {
public:
    void sweep(core::Slot& slot, const core::TierTimes& times, core::StoreTime now) override
    {
        core::sweep(slot, times, now);
        if (slot && slot->state == core::State::expired) slot.reset();
    }
};

// Nobody notices that a lease has ended.
class Uncleaned final : public StoreRules {
public:
    core::Reservation reserve(core::Slot& slot, const core::Claim& claim,
                              core::StoreTime now) override
    {
        auto reservation = core::reserve(slot, claim, now);
        if (auto* held = std::get_if<core::Held>(&reservation)) held->record = view(*slot, now);
        return reservation;
    }
    core::Record view(const core::Row& row, core::StoreTime) override
    {
        return core::view(row, row.until - core::Millis{1});
    }
    void sweep(core::Slot&, const core::TierTimes&, core::StoreTime) override {}
};

template <class Wrapper>
Mutant port_mutant(std::string_view name)
{
    return {name, {}, [](ExchangePorts base, World& world) {
                return std::make_unique<Wrapper>(base, world);
            }};
}

template <class Rules>
Mutant store_mutant(std::string_view name)
{
    return {name, [] { return std::make_unique<Rules>(); }, {}};
}

}  // namespace onceward::test
