// Time and waiting on Asio.
#include "asio_clock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace onceward {

namespace asio = boost::asio;

namespace {

class TimerAlarm final : public Alarm {
public:
    explicit TimerAlarm(asio::io_context& context) : timer_(context) {}

    awaitable<void> wait(core::Millis duration) override
    {
        if (!rung_) {
            timer_.expires_after(duration);
            co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
        }
        rung_ = false;
    }

    void ring() override
    {
        rung_ = true;
        timer_.cancel();
    }

private:
    asio::steady_timer timer_;
    bool rung_ = false;
};

}  // namespace

std::chrono::microseconds AsioClock::now() const
{
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since);
}

std::unique_ptr<Alarm> AsioClock::alarm()
{
    return std::make_unique<TimerAlarm>(context_);
}

}  // namespace onceward
