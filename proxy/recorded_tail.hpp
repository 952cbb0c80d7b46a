// The rest of an answer that is too large to keep: passed on, and its end recorded.
#pragma once

#include "exchange.hpp"

namespace onceward {

// Decision 16: such an answer streams to the client while its row stays PENDING. Its clean end
// makes the row DONE or FAILED without body before the client sees that end; a break makes it
// UNKNOWN.
class RecordedTail final : public BodyStream {
public:
    RecordedTail(Exchange& exchange, Exchange::Holding held, Exchange::Work work,
                 Oversized& answer);

    awaitable<Piece> next() override;

private:
    Exchange& exchange_;
    Exchange::Holding held_;
    Exchange::Work work_;
    core::Response head_;  // Status and fields only.
    core::BodyEnd end_;
    std::unique_ptr<BodyStream> rest_;
};

}  // namespace onceward
