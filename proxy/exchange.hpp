// The life of one guarded request: ask, run once or wait, settle, answer.
#pragma once

#include "ports/clock.hpp"
#include "ports/gate.hpp"
#include "ports/key_store.hpp"
#include "ports/observer.hpp"
#include "ports/upstream.hpp"
#include "reply.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace onceward {

// A request that may be executed at most once.
struct Guarded {
    std::shared_ptr<const core::Route> route;
    core::Digest digest;
    core::Fingerprint fingerprint;
    std::uint16_t fingerprint_rule = 0;
    core::Request request;
};

struct ExchangePorts {
    KeyStore& store;
    Gate& gate;
    Upstream& upstream;
    Clock& clock;
    Observer& observer;
};

struct ExchangeLimits {
    std::size_t waiters_max = 4'096;  // Duplicates that wait for a running request at once.
    core::Millis reserve_budget{
        std::chrono::seconds{2}};  // Asking again after an ambiguous reservation.
    core::Millis commit_budget{
        std::chrono::seconds{2}};  // Recording before the answer goes out unrecorded.
};

// One per worker, used only on that worker's executor. Must outlive its coroutines.
class Exchange {
public:
    explicit Exchange(ExchangePorts ports, ExchangeLimits limits = {})
        : ports_(ports), limits_(limits)
    {
    }

    // Runs the request at most once, whoever else asks with the same key, and returns the answer: a
    // fresh one only after its outcome was committed (OUT-2). Goes on to the end even if the client
    // has left (OUT-9).
    awaitable<Reply> handle(Guarded guarded);

    // Requests sent and not settled yet, background work included.
    std::size_t in_flight() const { return in_flight_.size(); }

    // Records every request in flight as UNKNOWN(drain), or as what is known of it if only its
    // record is owed; the process is about to end. Returns how many.
    awaitable<std::size_t> abandon_in_flight();

private:
    friend class RecordedTail;

    // One request's report, filled while it goes on.
    struct Work {
        ExchangeReport report;
        std::chrono::microseconds started{};
    };

    // A reservation that this exchange won.
    struct Holding {
        std::shared_ptr<const core::Route> route;
        core::Digest digest;
        core::Ticket ticket;
        core::Fingerprint fingerprint;
        std::uint16_t fingerprint_rule = 0;
        std::optional<core::Settlement> owed;  // Known, but the store did not take it yet.
    };
    static Holding holding(const Guarded& guarded, const core::Ticket& ticket);

    awaitable<StoreResult<core::Reservation>> ask(const Guarded& guarded, core::Claim claim);
    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest, core::Claim claim);
    awaitable<Reply> run_once(Guarded guarded, core::Ticket ticket, Work& work);
    awaitable<Reply> conclude(Holding held, Sent sent, Work& work);
    awaitable<Reply> answer_held(const Guarded& guarded, core::Record record, Work& work);
    awaitable<Reply> without_store(Guarded guarded, core::Claim claim, StoreError error,
                                   Work& work);
    awaitable<Reply> tell_row(core::Digest digest, Work& work);

    awaitable<StoreResult<core::Settled>> record(const Holding& held,
                                                 const core::Settlement& settlement,
                                                 std::chrono::microseconds give_up);
    awaitable<StoreResult<core::Settled>> settle_and_wake(Holding held,
                                                          core::Settlement settlement);
    awaitable<void> record_in_background(Holding held, core::Settlement settlement);
    awaitable<void> give_back(Holding held, core::Claim claim);
    awaitable<void> pause(core::Millis duration);
    awaitable<void> wait_for(core::Digest digest, core::Millis duration);
    void wake(const core::Digest& digest);
    void forget(const Holding& held);
    void finish(const Work& work);

    ExchangePorts ports_;
    ExchangeLimits limits_;
    std::multimap<core::Digest, Alarm*>
        waiting_;  // Ordered: its iterators stay good while others come and go.
    // By token: a key that was re-opened may be in flight twice.
    std::map<core::Token, Holding> in_flight_;
};

}  // namespace onceward
