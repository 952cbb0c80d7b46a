// Pipelining: commands gather while a write is under way, replies are matched by position.
#include "gate/redis_pipe.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <vector>

namespace onceward {

namespace asio = boost::asio;

namespace {

constexpr std::size_t read_bytes = 64 << 10;
// Turns of the loop without a new byte before a deadline counts: in the first the sockets are
// polled, in the second what they brought is read.
constexpr int chances_max = 2;

}  // namespace

RedisPipe::RedisPipe(asio::io_context& context, Clock& clock, std::shared_ptr<RedisLink> link,
                     PipeLimits limits, std::function<void(RedisPipe&, const RespReply&)> on_error)
    : context_(context),
      clock_(clock),
      link_(std::move(link)),
      limits_(limits),
      on_error_(std::move(on_error)),
      reader_(limits.reply),
      alarm_(context)
{
}

awaitable<std::string> RedisPipe::run()
{
    const auto self = shared_from_this();
    std::vector<char> buffer(read_bytes);
    while (!ended_) {
        const auto got = co_await link_->read_some(buffer);
        if (got.error) {
            end(got.error.message());
            break;
        }
        bytes_read_ += got.bytes;
        reader_.feed({buffer.data(), got.bytes});
        while (!ended_) {
            auto reply = reader_.next();
            if (!reply) break;
            take(std::move(*reply));
        }
        if (reader_.failed()) end(reader_.error());
    }
    co_return why_;
}

awaitable<RedisPipe::Replied> RedisPipe::ask(std::string command, core::Millis limit)
{
    if (ended_ || waiting_.size() >= limits_.in_flight_max) co_return std::nullopt;
    const auto initiate = [this, &command, limit](auto handler) {
        add(std::move(command), limit, Handler(std::move(handler)));
    };
    using Token = const asio::use_awaitable_t<>;
    auto reply = co_await asio::async_initiate<Token, void(Replied)>(initiate, asio::use_awaitable);
    co_return reply;
}

bool RedisPipe::tell(std::string command, core::Millis limit)
{
    const bool full = outgoing_.size() + command.size() > limits_.unsent_max;
    if (ended_ || full || waiting_.size() >= limits_.in_flight_max) return false;
    add(std::move(command), limit, Handler());
    return true;
}

void RedisPipe::add(std::string command, core::Millis limit, Handler handler)
{
    waiting_.push_back({std::move(handler), limit});
    ++unsent_;
    outgoing_ += command;
    if (!writing_) send();
}

void RedisPipe::send()
{
    writing_ = true;
    asio::co_spawn(context_, write(shared_from_this()), asio::detached);
}

awaitable<void> RedisPipe::write(std::shared_ptr<RedisPipe> self)
{
    const auto link = self->link_;
    while (!self->ended_ && !self->outgoing_.empty()) {
        self->sending_.clear();
        self->sending_.swap(self->outgoing_);
        self->mark_sent();
        const auto error = co_await link->write(self->sending_);
        if (error) self->end(error.message());
    }
    self->writing_ = false;
}

// A limit measures Redis: the time a command spent waiting for this thread does not count.
void RedisPipe::mark_sent()
{
    const auto now = clock_.now();
    auto first = Time::max();
    for (auto i = waiting_.size() - unsent_; i < waiting_.size(); ++i) {
        waiting_[i].deadline = now + waiting_[i].limit;
        first = std::min(first, waiting_[i].deadline);
    }
    unsent_ = 0;
    watch(first);
}

void RedisPipe::take(RespReply reply)
{
    if (waiting_.size() == unsent_) {
        end("an answer nobody asked for");
        return;
    }
    Command command(std::move(waiting_.front()));
    waiting_.pop_front();
    if (reply.is(RespReply::Kind::error)) {
        on_error_(*this, reply);
    } else {
        served_ = true;
    }
    if (command.handler) resume(std::move(command.handler), std::move(reply));
}

// Never from inside: whoever waited may ask again, or end this pipe.
void RedisPipe::resume(Handler handler, Replied reply)
{
    asio::post(context_, [on = std::move(handler), with = std::move(reply)]() mutable {
        std::move(on)(std::move(with));
    });
}

void RedisPipe::end(std::string why)
{
    if (ended_) return;
    ended_ = true;
    why_ = std::move(why);
    link_->close();
    alarm_.cancel();
    unsent_ = 0;
    outgoing_.clear();
    while (!waiting_.empty()) {
        Command command(std::move(waiting_.front()));
        waiting_.pop_front();
        if (command.handler) resume(std::move(command.handler), std::nullopt);
    }
}

RedisPipe::Time RedisPipe::first_deadline() const
{
    auto first = Time::max();
    for (const auto& command : waiting_)
        first = std::min(first, command.deadline);
    return first;
}

// One timer for all: set again only when it would ring too late.
void RedisPipe::watch(Time deadline)
{
    if (deadline >= alarm_at_ || ended_) return;
    alarm_at_ = deadline;
    alarm_.expires_after(std::max(deadline - clock_.now(), Time{0}));
    alarm_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (error) return;
        self->alarm_at_ = Time::max();
        self->look(chances_max, self->bytes_read_);
    });
}

// What has arrived already is read first, all of it: a busy thread must not look like a slow Redis.
void RedisPipe::look(int chances, std::uint64_t read_before)
{
    if (ended_) return;
    const auto first = first_deadline();
    if (clock_.now() < first) {
        watch(first);
        return;
    }
    if (bytes_read_ != read_before) chances = chances_max;
    if (chances == 0) {
        end("no reply in time");
        return;
    }
    asio::post(context_, [self = shared_from_this(), chances, read = bytes_read_] {
        self->look(chances - 1, read);
    });
}

}  // namespace onceward
