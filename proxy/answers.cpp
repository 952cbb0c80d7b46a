// The answers of an exchange.
#include "answers.hpp"

namespace onceward {

using core::Problem;
using core::ProblemCode;

namespace {

constexpr std::chrono::seconds retry_soon{1};

Reply refuse(Problem problem)
{
    Reply reply;
    reply.marks.retryable = core::kind_of(problem.code).retryable;
    reply.content = std::move(problem);
    return reply;
}

Reply stored_reply(const core::Record& record, bool known)
{
    Reply reply;
    reply.content = record.answer;
    reply.marks.kept = true;
    reply.marks.replayed = known;
    // A record out of the gate does not know the store's time.
    if (known && record.settled_at != core::StoreTime{})
        reply.marks.original_date = record.settled_at;
    if (!known) reply.marks.retryable = false;
    if (record.kept == core::Kept::status_only) reply.marks.stored = StoredMark::status_only;
    return reply;
}

Reply replay_unavailable_reply(const core::Record& record)
{
    auto problem =
        core::problem(ProblemCode::replay_unavailable,
                      "the operation was carried out; its answer was too large to be kept");
    problem.original_status = record.answer.status;
    if (const auto location = record.answer.fields.find("Location")) problem.location = *location;
    return refuse(std::move(problem));
}

Reply in_progress_reply(std::string_view detail)
{
    auto problem = core::problem(ProblemCode::in_progress, detail);
    problem.retry_after = retry_soon;
    return refuse(std::move(problem));
}

std::string_view proxy_status_of(core::Reason reason)
{
    switch (reason) {
        case core::Reason::timeout:
        case core::Reason::lease: return "http_response_timeout";
        case core::Reason::reset: return "connection_terminated";
        case core::Reason::truncated:
        case core::Reason::unproved_end: return "http_response_incomplete";
        case core::Reason::garbage: return "http_protocol_error";
        default: return "proxy_internal_error";
    }
}

}  // namespace

Marks fresh_marks(const core::Settlement& settlement, bool stored)
{
    Marks marks;
    if (settlement.state == core::State::unknown) marks.retryable = false;
    if (settlement.state == core::State::released) marks.retryable = true;
    if (!stored) marks.stored = StoredMark::no;
    return marks;
}

Reply fresh_reply(core::Response response, const core::Settlement& settlement, bool stored)
{
    // A body whose end is not proved may be half a success: it is not passed on as one (I6).
    if (settlement.reason == core::Reason::unproved_end) return unknown_reply(settlement.reason);
    Reply reply;
    reply.content = std::move(response);
    reply.marks = fresh_marks(settlement, stored);
    return reply;
}

Reply unreached_reply(const NotSent& not_sent)
{
    auto problem = core::problem(ProblemCode::upstream_unreached,
                                 "nothing was sent; try again with the same key");
    problem.status = not_sent.status;
    problem.retry_after = retry_soon;
    problem.proxy_status = not_sent.proxy_status;
    return refuse(std::move(problem));
}

Reply unknown_reply(core::Reason reason)
{
    auto problem = core::problem(
        ProblemCode::outcome_unknown,
        "the request may have been carried out; find out before you repeat it under another key");
    problem.status = core::unknown_status(reason);
    problem.proxy_status = proxy_status_of(reason);
    return refuse(std::move(problem));
}

Reply store_unavailable_reply()
{
    auto problem = core::problem(ProblemCode::store_unavailable,
                                 "nothing was sent; try again with the same key");
    problem.retry_after = retry_soon;
    problem.proxy_status = "proxy_internal_error";
    return refuse(std::move(problem));
}

Reply held_reply(core::Verdict verdict, const core::Record& record)
{
    switch (verdict) {
        case core::Verdict::replay: return stored_reply(record, true);
        case core::Verdict::repeat_unknown: return stored_reply(record, false);
        case core::Verdict::replay_unavailable: return replay_unavailable_reply(record);
        case core::Verdict::outcome_unknown: return unknown_reply(record.reason);
        case core::Verdict::mismatch:
            return refuse(core::problem(ProblemCode::fingerprint_mismatch,
                                        "this key belongs to a request with other content"));
        case core::Verdict::expired:
            return refuse(
                core::problem(ProblemCode::key_expired,
                              "the answer is no longer kept, and the operation is not repeated"));
        case core::Verdict::in_progress:
            return in_progress_reply("wait, then ask again with the same key");
        case core::Verdict::claimable:
            return in_progress_reply(
                "the request before this one ended unexecuted; ask again with the same key");
    }
    return unknown_reply(record.reason);
}

Reply bypassed_reply(Sent sent)
{
    Reply reply;
    if (const auto* not_sent = std::get_if<NotSent>(&sent)) {
        reply = unreached_reply(*not_sent);
    } else if (const auto* lost = std::get_if<NoAnswer>(&sent)) {
        reply = unknown_reply(lost->reason);
    } else if (auto* answered = std::get_if<Answered>(&sent)) {
        reply.content = std::move(answered->response);
    } else {
        auto& oversized = std::get<Oversized>(sent);
        reply.content = std::move(oversized.response);
        reply.rest = std::move(oversized.rest);
    }
    reply.marks.bypassed = true;
    return reply;
}

Decision decision_of(const core::Settlement& settlement)
{
    switch (settlement.state) {
        case core::State::released: return Decision::released;
        case core::State::unknown: return Decision::unknown;
        default: return Decision::executed;
    }
}

Decision decision_of(core::Verdict verdict, bool waited)
{
    switch (verdict) {
        case core::Verdict::replay: return waited ? Decision::waited : Decision::replayed;
        case core::Verdict::replay_unavailable: return Decision::unavailable;
        case core::Verdict::repeat_unknown:
        case core::Verdict::outcome_unknown: return Decision::unknown;
        case core::Verdict::in_progress:
        case core::Verdict::claimable: return Decision::in_progress;
        case core::Verdict::mismatch: return Decision::mismatch;
        case core::Verdict::expired: return Decision::expired;
    }
    return Decision::unknown;
}

core::Record published_record(const core::Fingerprint& fingerprint, std::uint16_t fingerprint_rule,
                              core::Epoch epoch, const core::Settlement& settlement)
{
    core::Record record;
    record.state = settlement.state;
    record.kept = settlement.kept;
    record.epoch = epoch;
    record.fingerprint = fingerprint;
    record.fingerprint_rule = fingerprint_rule;
    record.remaining = settlement.keep;
    record.answer = settlement.answer;
    return record;
}

}  // namespace onceward
