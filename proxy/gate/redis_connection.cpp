// Keeping one pipe to Redis alive.
#include "gate/redis_connection.hpp"

#include "core/secret.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace onceward {

namespace asio = boost::asio;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t complaints_max = 16;

bool is_cluster(std::string_view code)
{
    return code == "MOVED" || code == "ASK" || code == "CLUSTERDOWN";
}

// Codes are upper-case words; anything else is a peer's free text, which does not belong in a log.
bool is_code(std::string_view text)
{
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), upper);
}

}  // namespace

RedisConnection::RedisConnection(asio::io_context& context, Clock& clock, RedisAddress address,
                                 std::shared_ptr<RedisTls> tls, RedisLimits limits,
                                 GateEvents events)
    : context_(context),
      clock_(clock),
      limits_(limits),
      events_(std::move(events)),
      name_(address.name()),
      dial_(context, std::move(address), std::move(tls), limits.dial_step),
      timer_(context),
      pause_(limits.pause_first)
{
}

awaitable<void> RedisConnection::run()
{
    while (!stopped_) {
        auto dialled = co_await dial_.dial();
        if (stopped_) break;
        if (auto* link = std::get_if<std::shared_ptr<RedisLink>>(&dialled)) {
            co_await serve(std::move(*link));
        } else {
            report(GateCondition::down, std::get<std::string>(dialled));
        }
        if (stopped_ || told_ == GateCondition::unsupported) break;
        co_await pause();
    }
}

awaitable<void> RedisConnection::serve(std::shared_ptr<RedisLink> link)
{
    const auto pipe = std::make_shared<RedisPipe>(
        context_, clock_, std::move(link), limits_.pipe,
        [this](RedisPipe& from, const RespReply& error) { hear(from, error); });
    pipe_ = pipe;
    ++pipe_number_;
    misplaced_ = false;
    report(GateCondition::up, {});
    const auto why = co_await pipe->run();
    pipe_.reset();
    if (stopped_) co_return;
    if (pipe->served() && !misplaced_) pause_ = limits_.pause_first;
    report(GateCondition::down, why);
}

// Half of the pause is left to chance, so that many workers do not come back as one.
awaitable<void> RedisConnection::pause()
{
    const auto chance = core::random_token().bytes[0];
    timer_.expires_after(pause_ - pause_ * chance / 512);
    pause_ = std::min(pause_ * 2, limits_.pause_max);
    co_await timer_.async_wait(token);
}

void RedisConnection::stop()
{
    stopped_ = true;
    dial_.stop();
    timer_.cancel();
    if (pipe_) pipe_->end("stopped");
}

void RedisConnection::hear(RedisPipe& pipe, const RespReply& error)
{
    const auto code = error.error_code();
    if (is_cluster(code)) {
        report(GateCondition::unsupported, "it is a Redis Cluster (" + std::string(code) + ")");
        pipe.end("a Redis Cluster");
    } else if (code == "READONLY") {
        // After a failover the old master answers so: ask again who the master is.
        misplaced_ = true;
        pipe.end("it is a read-only replica");
    } else if (code != "WRONGTYPE") {
        report(GateCondition::complaint, std::string(is_code(code) ? code : "an error"));
    }
}

void RedisConnection::report(GateCondition condition, const std::string& why)
{
    if (condition == GateCondition::complaint) {
        if (complaints_.size() >= complaints_max || !complaints_.insert(why).second) return;
    } else {
        if (told_ == condition || told_ == GateCondition::unsupported) return;
        told_ = condition;
    }
    if (events_.changed) events_.changed(condition, why.empty() ? name_ : name_ + ": " + why);
}

}  // namespace onceward
