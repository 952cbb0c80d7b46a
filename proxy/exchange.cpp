// The life of one guarded request. Nothing is sent without a reservation, nothing is sent twice,
// and no answer leaves before its outcome is committed; the rest of this file is what to say when
// that is not possible.
#include "exchange.hpp"

#include "answers.hpp"
#include "core/secret.hpp"
#include "core/settling.hpp"
#include "core/verdict.hpp"
#include "recorded_tail.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace onceward {

using core::Millis;

namespace {

constexpr Millis retry_pause{50};  // Between two tries of a store that did not answer.
constexpr Millis poll_first{25};   // A waiter's first look, doubled up to poll_max (decision 13).
constexpr Millis poll_max{250};

core::Claim claim_of(const Guarded& guarded)
{
    core::Claim claim;
    claim.token = core::random_token();
    claim.fingerprint = guarded.fingerprint;
    claim.fingerprint_rule = guarded.fingerprint_rule;
    claim.tier = guarded.route->tier_index;
    claim.lease = guarded.route->tier.lease;
    return claim;
}

bool is_worth_publishing(const core::Settlement& settlement)
{
    return settlement.state == core::State::done || settlement.state == core::State::failed;
}

// What a look-up found; null when it failed or there is no record.
const core::Record* record_in(const StoreResult<std::optional<core::Record>>& found)
{
    if (!found) return nullptr;
    const std::optional<core::Record>& record = *found;
    return record ? &*record : nullptr;
}

core::Settlement settlement_of(const core::Route& route, const Sent& sent)
{
    if (const auto* answered = std::get_if<Answered>(&sent)) {
        return core::settle_answer(route, answered->response, answered->end);
    }
    if (const auto* lost = std::get_if<NoAnswer>(&sent))
        return core::settle_unknown(route, lost->reason);
    return core::settle_not_sent(route);
}

}  // namespace

awaitable<Reply> Exchange::handle(Guarded guarded)
{
    Work work;
    work.started = ports_.clock.now();
    work.report.digest = guarded.digest;
    work.report.route = guarded.route->name;

    const auto claim = claim_of(guarded);
    const auto reservation = co_await ask(guarded, claim);
    Reply reply;
    if (!reservation) {
        reply = co_await without_store(std::move(guarded), claim, reservation.error(), work);
    } else if (const auto* won = std::get_if<core::Won>(&*reservation)) {
        reply = co_await run_once(std::move(guarded), won->ticket, work);
    } else {
        reply = co_await answer_held(guarded, std::get<core::Held>(*reservation).record, work);
    }
    if (!reply.rest || reply.marks.bypassed) finish(work);  // A recorded tail reports its own end.
    reply.report = std::move(work.report);
    co_return reply;
}

// The gate chooses which question is asked first, never the answer: a key that it knows is usually
// held, so a read is tried before the write that would lose anyway.
awaitable<StoreResult<core::Reservation>> Exchange::ask(const Guarded& guarded, core::Claim claim)
{
    const auto hint = co_await ports_.gate.lookup(guarded.digest);
    if (const auto* settled = std::get_if<GateSettled>(&hint)) {
        co_return core::Reservation(core::Held{settled->record});
    }
    if (std::holds_alternative<GatePending>(hint)) {
        const auto found = co_await ports_.store.find(guarded.digest);
        const auto* record = record_in(found);
        if (record && core::judge(*record, guarded.fingerprint) != core::Verdict::claimable) {
            co_return core::Reservation(core::Held{*record});
        }
    }
    const auto reservation = co_await reserve(guarded.digest, claim);
    co_return reservation;
}

// Asking again with the same token is the only way to learn whether an unacknowledged reservation
// was made (decision 7): the token says whose it is.
awaitable<StoreResult<core::Reservation>> Exchange::reserve(core::Digest digest, core::Claim claim)
{
    const auto give_up = ports_.clock.now() + limits_.reserve_budget;
    for (;;) {
        const auto reservation = co_await ports_.store.reserve(digest, claim);
        if (reservation || reservation.error() != StoreError::ambiguous) co_return reservation;
        if (ports_.clock.now() >= give_up) co_return reservation;
        co_await pause(retry_pause);
    }
}

awaitable<Reply> Exchange::run_once(Guarded guarded, core::Ticket ticket, Work& work)
{
    const auto held = holding(guarded, ticket);
    in_flight_[held.ticket.token] = held;

    // A lease that would end before the exchange's own deadline protects nothing any more (W6g).
    const auto spent = ports_.clock.now() - work.started;
    Sent sent = NotSent{503, "proxy_internal_error"};
    if (spent + held.route->timeout <= held.route->tier.lease) {
        const auto begun = ports_.clock.now();
        sent = co_await ports_.upstream.send(held.route, std::move(guarded.request));
        work.report.upstream_time = ports_.clock.now() - begun;
    }
    if (auto* oversized = std::get_if<Oversized>(&sent)) {
        work.report.upstream_status = oversized->response.status;
        Reply reply;
        const auto expected =
            core::settle_oversized(*held.route, oversized->response, oversized->end);
        reply.marks = fresh_marks(expected, false);
        reply.rest = std::make_unique<RecordedTail>(*this, held, work, *oversized);
        reply.content = std::move(oversized->response);
        co_return reply;
    }
    auto reply = co_await conclude(held, std::move(sent), work);
    co_return reply;
}

// Records the outcome, and only then answers.
awaitable<Reply> Exchange::conclude(Holding held, Sent sent, Work& work)
{
    const auto settlement = settlement_of(*held.route, sent);
    work.report.reason = settlement.reason;
    work.report.decision = decision_of(settlement);
    const auto settled = co_await settle_and_wake(held, settlement);

    if (settled && *settled == core::Settled::fenced) {
        auto told = co_await tell_row(held.digest, work);
        co_return told;
    }
    if (auto* answered = std::get_if<Answered>(&sent)) {
        work.report.upstream_status = answered->response.status;
        if (!settled) work.report.decision = Decision::unstored;
        co_return fresh_reply(std::move(answered->response), settlement, settled.has_value());
    }
    if (const auto* not_sent = std::get_if<NotSent>(&sent)) co_return unreached_reply(*not_sent);
    co_return unknown_reply(settlement.reason);
}

// The end of a reservation: recorded now, or in the background if the store stays silent.
awaitable<StoreResult<core::Settled>> Exchange::settle_and_wake(Holding held,
                                                                core::Settlement settlement)
{
    const auto give_up = ports_.clock.now() + limits_.commit_budget;
    const auto settled = co_await record(held, settlement, give_up);
    wake(held.digest);
    if (settled) {
        forget(held);
        if (*settled == core::Settled::fenced) ports_.observer.fenced(held.digest);
    } else {
        in_flight_[held.ticket.token].owed = settlement;
        const auto executor = co_await boost::asio::this_coro::executor;
        auto later = record_in_background(std::move(held), std::move(settlement));
        boost::asio::co_spawn(executor, std::move(later), boost::asio::detached);
    }
    co_return settled;
}

// A fenced holder may only tell what the row says (RSV-11).
awaitable<Reply> Exchange::tell_row(core::Digest digest, Work& work)
{
    const auto found = co_await ports_.store.find(digest);
    work.report.decision = Decision::unknown;
    const auto* record = record_in(found);
    if (!record) co_return unknown_reply(core::Reason::none);
    co_return held_reply(core::judge(*record, record->fingerprint), *record);
}

awaitable<Reply> Exchange::answer_held(const Guarded& guarded, core::Record record, Work& work)
{
    const auto give_up = ports_.clock.now() + guarded.route->in_progress_wait;
    auto look_after = poll_first;
    bool waited = false;
    for (;;) {
        const auto verdict = core::judge(record, guarded.fingerprint);
        const auto left = std::chrono::ceil<Millis>(give_up - ports_.clock.now());
        const bool may_wait = left > Millis{0} && (waited || waiting_.size() < limits_.waiters_max);
        // A key that was released while we waited is claimable, and left to the client's next try:
        // a crowd of waiters must not knock at a failing upstream one after the other.
        if (verdict != core::Verdict::in_progress || !may_wait) {
            work.report.decision = decision_of(verdict, waited);
            work.report.reason = record.reason;
            co_return held_reply(verdict, record);
        }
        co_await wait_for(guarded.digest, std::min(look_after, left));
        waited = true;
        look_after = std::min(look_after * 2, poll_max);

        const auto found = co_await ports_.store.find(guarded.digest);
        const auto* seen = record_in(found);
        if (!seen) {
            work.report.decision = Decision::store_error;
            co_return store_unavailable_reply();
        }
        record = *seen;
    }
}

// No reservation, no forwarding; unless the operator said that this tier prefers a doubled request
// to a refused one.
awaitable<Reply> Exchange::without_store(Guarded guarded, core::Claim claim, StoreError error,
                                         Work& work)
{
    work.report.decision = Decision::store_error;
    if (guarded.route->tier.on_store_error == core::OnStoreError::reject) {
        if (error == StoreError::ambiguous) {
            const auto executor = co_await boost::asio::this_coro::executor;
            auto later = give_back(holding(guarded, {claim.token, 0}), claim);
            boost::asio::co_spawn(executor, std::move(later), boost::asio::detached);
        }
        co_return store_unavailable_reply();
    }

    // A reservation that was made after all is not given back: the request was sent, and its
    // lease's end will say UNKNOWN, which is true (I7).
    work.report.decision = Decision::bypassed;
    auto sent = co_await ports_.upstream.send(guarded.route, std::move(guarded.request));
    co_return bypassed_reply(std::move(sent));
}

// Repeats until the store says what became of it, and once at least: settling twice is harmless.
awaitable<StoreResult<core::Settled>> Exchange::record(const Holding& held,
                                                       const core::Settlement& settlement,
                                                       std::chrono::microseconds give_up)
{
    for (;;) {
        const auto settled = co_await ports_.store.settle(held.digest, held.ticket, settlement);
        if (settled && *settled == core::Settled::recorded && is_worth_publishing(settlement)) {
            ports_.gate.publish(held.digest,
                                published_record(held.fingerprint, held.fingerprint_rule,
                                                 held.ticket.epoch, settlement));
        }
        if (settled || ports_.clock.now() >= give_up) co_return settled;
        co_await pause(retry_pause);
    }
}

// The answer went out unrecorded; its record is still worth making, as long as the lease lives.
awaitable<void> Exchange::record_in_background(Holding held, core::Settlement settlement)
{
    const auto give_up = ports_.clock.now() + held.route->tier.lease;
    while (ports_.clock.now() < give_up) {
        const auto pause_at = ports_.clock.now() + limits_.commit_budget;
        const auto settled = co_await record(held, settlement, pause_at);
        if (settled && *settled == core::Settled::fenced) ports_.observer.fenced(held.digest);
        if (settled) break;
        co_await pause(limits_.commit_budget);
    }
    forget(held);
    wake(held.digest);
}

// Nothing was sent under this token: whatever reservation it made is taken back.
awaitable<void> Exchange::give_back(Holding held, core::Claim claim)
{
    const auto released = core::settle_not_sent(*held.route);
    const auto give_up = ports_.clock.now() + claim.lease;
    while (ports_.clock.now() < give_up) {
        const auto reservation = co_await ports_.store.reserve(held.digest, claim);
        if (!reservation) {
            co_await pause(limits_.reserve_budget);
            continue;
        }
        if (const auto* won = std::get_if<core::Won>(&*reservation)) {
            held.ticket = won->ticket;
            co_await record(held, released, ports_.clock.now() + limits_.commit_budget);
        }
        break;
    }
}

// One budget for all of them: a store that is gone must not hold up the end of the process for each
// request once more. What stays unrecorded is PENDING, and reads as unknown.
awaitable<std::size_t> Exchange::abandon_in_flight()
{
    const auto left = in_flight_;
    const auto give_up = ports_.clock.now() + limits_.commit_budget;
    for (const auto& [token, held] : left) {
        auto settlement = core::settle_unknown(*held.route, core::Reason::drain);
        if (held.owed) settlement = *held.owed;
        co_await record(held, settlement, give_up);
    }
    co_return left.size();
}

Exchange::Holding Exchange::holding(const Guarded& guarded, const core::Ticket& ticket)
{
    return {guarded.route,       guarded.digest,           ticket,
            guarded.fingerprint, guarded.fingerprint_rule, {}};
}

awaitable<void> Exchange::pause(Millis duration)
{
    const auto alarm = ports_.clock.alarm();
    co_await alarm->wait(duration);
}

awaitable<void> Exchange::wait_for(core::Digest digest, Millis duration)
{
    const auto alarm = ports_.clock.alarm();
    const auto entry = waiting_.emplace(digest, alarm.get());
    co_await alarm->wait(duration);
    waiting_.erase(entry);
}

void Exchange::wake(const core::Digest& digest)
{
    const auto [first, last] = waiting_.equal_range(digest);
    for (auto entry = first; entry != last; ++entry)
        entry->second->ring();
}

void Exchange::forget(const Holding& held)
{
    in_flight_.erase(held.ticket.token);
}

void Exchange::finish(const Work& work)
{
    auto report = work.report;
    report.total_time = ports_.clock.now() - work.started;
    ports_.observer.finished(report);
}

}  // namespace onceward
