// Commands and their replies over one stream, in order, until the first thing that goes wrong.
#pragma once

#include "core/record.hpp"
#include "gate/redis_link.hpp"
#include "gate/resp_codec.hpp"
#include "ports/clock.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace onceward {

struct PipeLimits {
    RespLimits reply;
    std::size_t unsent_max =
        512 << 10;  // Bytes of commands nobody waits for, before they are refused.
    std::size_t in_flight_max = 16'384;  // Commands without reply.
};

// Replies have no names, only positions: so whatever breaks their order, a deadline above all, ends
// the pipe, and a late reply has nobody left to be taken for. Used on its executor only.
class RedisPipe : public std::enable_shared_from_this<RedisPipe> {
public:
    using Replied = std::optional<RespReply>;

    // `on_error` hears every error reply, before whoever asked does; it may end the pipe.
    RedisPipe(boost::asio::io_context& context, Clock& clock, std::shared_ptr<RedisLink> link,
              PipeLimits limits, std::function<void(RedisPipe&, const RespReply&)> on_error);

    // Reads replies until the pipe has ended; says why.
    awaitable<std::string> run();

    // The reply; absent when there is none within `limit` of the command's leaving, or the pipe
    // ends.
    awaitable<Replied> ask(std::string command, core::Millis limit);

    // Sends without waiting; the reply is read and dropped. False when too much waits to be sent.
    bool tell(std::string command, core::Millis limit);

    // Everybody who waits gets nothing; run returns. The first reason stands.
    void end(std::string why);

    bool ended() const { return ended_; }
    // True once a command has been answered with anything but an error.
    bool served() const { return served_; }

private:
    using Handler = boost::asio::any_completion_handler<void(Replied)>;
    using Time = std::chrono::microseconds;

    struct Command {
        Handler handler;  // Empty: nobody waits.
        core::Millis limit;
        Time deadline = Time::max();  // Runs from the moment of sending.
    };

    void add(std::string command, core::Millis limit, Handler handler);
    void send();
    static awaitable<void> write(std::shared_ptr<RedisPipe> self);
    void mark_sent();
    void take(RespReply reply);
    void resume(Handler handler, Replied reply);
    Time first_deadline() const;
    void watch(Time deadline);
    void look(int chances, std::uint64_t read_before);

    boost::asio::io_context& context_;
    Clock& clock_;
    std::shared_ptr<RedisLink> link_;
    PipeLimits limits_;
    std::function<void(RedisPipe&, const RespReply&)> on_error_;
    RespReader reader_;
    boost::asio::steady_timer alarm_;
    Time alarm_at_ = Time::max();
    std::uint64_t bytes_read_ = 0;
    std::deque<Command> waiting_;
    std::size_t unsent_ = 0;  // The last so many of waiting_ have not left yet.
    std::string outgoing_;
    std::string sending_;  // Belongs to the write under way.
    bool writing_ = false;
    bool served_ = false;
    bool ended_ = false;
    std::string why_;
};

}  // namespace onceward
