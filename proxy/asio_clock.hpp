// The real clock: monotonic time, and waits on a worker's own timers.
#pragma once

#include "ports/clock.hpp"

#include <boost/asio/io_context.hpp>

namespace onceward {

class AsioClock final : public Clock {
public:
    // Alarms resume on `context`, which outlives them.
    explicit AsioClock(boost::asio::io_context& context) : context_(context) {}

    std::chrono::microseconds now() const override;
    std::unique_ptr<Alarm> alarm() override;

private:
    boost::asio::io_context& context_;
};

}  // namespace onceward
