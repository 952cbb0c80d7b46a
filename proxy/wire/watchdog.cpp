// The coarse timer.
#include "wire/watchdog.hpp"

namespace onceward::wire {

Watched::Watched(Watchdog& watchdog) : watchdog_(watchdog), next_(watchdog.first_)
{
    if (next_) next_->previous_ = this;
    watchdog_.first_ = this;
}

Watched::~Watched()
{
    if (next_) next_->previous_ = previous_;
    if (previous_) {
        previous_->next_ = next_;
    } else {
        watchdog_.first_ = next_;
    }
}

void Watched::expires_after(std::chrono::milliseconds duration)
{
    deadline_ = watchdog_.now() + duration;
}

Watchdog::Watchdog(boost::asio::io_context& context) : timer_(context) {}

void Watchdog::start()
{
    wait();
}

void Watchdog::stop()
{
    stopped_ = true;
    timer_.cancel();
}

void Watchdog::wait()
{
    timer_.expires_after(tick);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (error || stopped_) return;
        look();
        wait();
    });
}

// expired() only closes a socket: it neither makes nor destroys a Watched, so the list stays as it
// is.
void Watchdog::look()
{
    const auto moment = now();
    for (auto* watched = first_; watched; watched = watched->next_) {
        if (watched->deadline_ > moment) continue;
        watched->expires_never();
        watched->expired();
    }
}

}  // namespace onceward::wire
