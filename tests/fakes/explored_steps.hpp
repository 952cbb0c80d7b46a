// Names of steps and outcomes, and which faults each call can meet.
#pragma once

#include "fakes/explored_world.hpp"

#include <array>

namespace onceward::test {

inline std::string_view to_string(Step step)
{
    switch (step) {
        case Step::lookup: return "gate.lookup";
        case Step::reserve: return "store.reserve";
        case Step::settle: return "store.settle";
        case Step::find: return "store.find";
        case Step::send: return "upstream.send";
        case Step::tail: return "tail.next";
        case Step::wait: return "alarm.wait";
        case Step::sweep: return "store.sweep";
        case Step::reopen: return "operator.reopen";
        case Step::drain: return "drain";
    }
    return "";
}

inline std::string_view to_string(Outcome outcome)
{
    switch (outcome) {
        case Outcome::ok: return "ok";
        case Outcome::unavailable: return "unavailable";
        case Outcome::unapplied: return "ambiguous, not applied";
        case Outcome::unacknowledged: return "ambiguous, applied";
        case Outcome::crash_before: return "crash before";
        case Outcome::crash_after: return "crash after";
        case Outcome::lie: return "lie";
        case Outcome::not_sent: return "not sent";
        case Outcome::lost: return "lost";
        case Outcome::executed_no_answer: return "executed, no answer";
        case Outcome::truncated: return "executed, truncated";
    }
    return "";
}

inline std::span<const Outcome> outcomes_of(Step step)
{
    using enum Outcome;
    static constexpr std::array change{ok,           unavailable, unapplied, unacknowledged,
                                       crash_before, crash_after};
    static constexpr std::array find{ok, unavailable, crash_before};
    static constexpr std::array lookup{ok, lie, crash_before};
    // An execution that comes after our giving up needs no outcome of its own: nothing can see when
    // it comes.
    static constexpr std::array send{ok,        not_sent,     lost,       executed_no_answer,
                                     truncated, crash_before, crash_after};
    static constexpr std::array tail{ok, truncated, crash_before};
    static constexpr std::array only_ok{ok};
    switch (step) {
        case Step::reserve:
        case Step::settle: return change;
        case Step::find: return find;
        case Step::lookup: return lookup;
        case Step::send: return send;
        case Step::tail: return tail;
        case Step::wait:
        case Step::sweep:
        case Step::reopen:
        case Step::drain: return only_ok;
    }
    return only_ok;
}

}  // namespace onceward::test
