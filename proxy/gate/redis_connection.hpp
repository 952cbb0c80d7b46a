// One worker's connection to Redis, kept up: dialled again after every end, with pauses in between.
#pragma once

#include "gate/gate_events.hpp"
#include "gate/redis_dial.hpp"
#include "gate/redis_pipe.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace onceward {

struct RedisLimits {
    PipeLimits pipe;
    core::Millis dial_step{std::chrono::seconds{1}};  // For each server it talks to.
    core::Millis pause_first{50};                     // Before it dials again; doubled up to
    core::Millis pause_max{std::chrono::seconds{5}};  // this, and cut at random to half at most.
};

// Used on the context's thread only. The context is stopped and emptied before this goes, or run
// has returned.
class RedisConnection {
public:
    RedisConnection(boost::asio::io_context& context, Clock& clock, RedisAddress address,
                    std::shared_ptr<RedisTls> tls, RedisLimits limits, GateEvents events);

    // Until stop.
    awaitable<void> run();
    void stop();

    // The way to the server while there is one; commands go straight to it.
    bool is_up() const { return pipe_ && !pipe_->ended(); }
    // Precondition: is_up().
    RedisPipe& pipe() { return *pipe_; }
    // Which pipe that is; each has its own number.
    std::uint64_t pipe_number() const { return pipe_number_; }

private:
    awaitable<void> serve(std::shared_ptr<RedisLink> link);
    awaitable<void> pause();
    void hear(RedisPipe& pipe, const RespReply& error);
    void report(GateCondition condition, const std::string& why);

    boost::asio::io_context& context_;
    Clock& clock_;
    RedisLimits limits_;
    GateEvents events_;
    std::string name_;
    RedisDial dial_;
    boost::asio::steady_timer timer_;
    std::shared_ptr<RedisPipe> pipe_;
    std::uint64_t pipe_number_ = 0;
    core::Millis pause_;
    GateCondition told_ = GateCondition::complaint;  // Neither up nor down yet.
    std::set<std::string, std::less<>> complaints_;
    bool misplaced_ = false;  // The server answers, but is not the one to talk to.
    bool stopped_ = false;
};

}  // namespace onceward
