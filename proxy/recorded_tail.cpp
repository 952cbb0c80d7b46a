// Passing on an oversized answer.
#include "recorded_tail.hpp"

#include "answers.hpp"
#include "core/settling.hpp"

namespace onceward {

RecordedTail::RecordedTail(Exchange& exchange, Exchange::Holding held, Exchange::Work work,
                           Oversized& answer)
    : exchange_(exchange),
      held_(std::move(held)),
      work_(std::move(work)),
      head_{answer.response.status, answer.response.fields, {}},
      end_(answer.end),
      rest_(std::move(answer.rest))
{
}

awaitable<BodyStream::Piece> RecordedTail::next()
{
    auto piece = co_await rest_->next();
    if (piece.state == State::more) co_return piece;

    auto settlement = core::settle_oversized(*held_.route, head_, end_);
    if (piece.state == State::truncated) {
        settlement = core::settle_unknown(*held_.route, core::Reason::truncated);
    }
    work_.report.reason = settlement.reason;
    work_.report.decision = decision_of(settlement);
    const auto settled = co_await exchange_.settle_and_wake(held_, settlement);
    const bool fenced = settled && *settled == core::Settled::fenced;
    if (!settled) work_.report.decision = Decision::unstored;
    if (fenced) work_.report.decision = Decision::unknown;
    exchange_.finish(work_);
    // The client must not take for whole what may have been cut short (D12), nor for the key's
    // outcome what the row does not say (RSV-11).
    if (fenced || settlement.reason == core::Reason::unproved_end) piece.state = State::truncated;
    co_return piece;
}

}  // namespace onceward
