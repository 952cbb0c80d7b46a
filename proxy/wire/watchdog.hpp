// Deadlines of many connections on one coarse timer: arming one is a store, not a system call.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>

namespace onceward::wire {

class Watchdog;

// A thing with a deadline. Belongs to one watchdog, used on its executor only.
class Watched {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit Watched(Watchdog& watchdog);
    virtual ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    // From now; replaces the deadline before. Observed to the watchdog's tick.
    void expires_after(std::chrono::milliseconds duration);
    void expires_at(TimePoint deadline) { deadline_ = deadline; }
    void expires_never() { deadline_ = TimePoint::max(); }

private:
    friend class Watchdog;
    // Called once when the deadline has passed; the deadline is off then.
    virtual void expired() = 0;

    Watchdog& watchdog_;
    TimePoint deadline_ = TimePoint::max();
    Watched* next_ = nullptr;
    Watched* previous_ = nullptr;
};

// One per worker. Looks at every deadline once in a tick.
class Watchdog {
public:
    static constexpr std::chrono::milliseconds tick{50};

    explicit Watchdog(boost::asio::io_context& context);
    void start();
    void stop();

    // The time of the last tick or later: good enough to compute deadlines from, and cheap.
    Watched::TimePoint now() const { return std::chrono::steady_clock::now(); }

private:
    friend class Watched;
    void wait();
    void look();

    boost::asio::steady_timer timer_;
    Watched* first_ = nullptr;
    bool stopped_ = false;
};

}  // namespace onceward::wire
