// GET before the store is asked, SET after it has committed.
#include "gate/redis_gate.hpp"

#include <array>

namespace onceward {

namespace {

RedisLimits with_room_for(RedisLimits limits, std::size_t entry_bytes)
{
    limits.pipe.reply.reply_bytes_max = entry_bytes + (128 << 10);
    return limits;
}

}  // namespace

std::string redis_key(const core::Digest& digest)
{
    return "idem:" + digest.hex();
}

RedisGate::RedisGate(boost::asio::io_context& context, Clock& clock, WallTime wall_time,
                     const core::Secret& secret, RedisGateOptions options, GateEvents events)
    : clock_(clock),
      wall_time_(std::move(wall_time)),
      options_(std::move(options)),
      events_(std::move(events)),
      sealer_(secret),
      breaker_(options_.breaker),
      connection_(context, clock, options_.address, options_.tls,
                  with_room_for(options_.limits, options_.entry_bytes_max), events_)
{
}

awaitable<GateAnswer> RedisGate::lookup(core::Digest digest)
{
    if (!connection_.is_up() || !breaker_.allows(clock_.now()))
        co_return missed(GateLookup::skipped);
    const auto key = redis_key(digest);
    const std::array<std::string_view, 2> words{"GET", key};
    const auto pipe_number = connection_.pipe_number();
    auto command = encode_command(words);
    const auto reply = co_await connection_.pipe().ask(std::move(command), options_.lookup_limit);
    if (!reply) co_return unanswered(pipe_number);
    co_return judge(digest, *reply);
}

// Redis stood still once, however many waited: the breaker counts one failure for each connection
// that ended so.
GateAnswer RedisGate::unanswered(std::uint64_t pipe_number)
{
    if (pipe_number != failed_pipe_ || breaker_.is_open()) breaker_.failed(clock_.now());
    failed_pipe_ = pipe_number;
    return missed(GateLookup::error);
}

GateAnswer RedisGate::judge(const core::Digest& digest, const RespReply& reply)
{
    using Kind = RespReply::Kind;
    const bool wrong_type = reply.error_code() == "WRONGTYPE";
    if (reply.is(Kind::error) && !wrong_type) {
        breaker_.failed(clock_.now());
        return missed(GateLookup::error);
    }
    breaker_.succeeded();
    if (reply.is(Kind::nil)) return missed(GateLookup::miss);
    if (!reply.is(Kind::text)) return missed(GateLookup::refused);
    auto record = sealer_.open(digest, reply.text, wall_time_());
    if (!record) return missed(GateLookup::refused);
    if (events_.looked_up) events_.looked_up(GateLookup::hit);
    return GateSettled{std::move(*record)};
}

GateAnswer RedisGate::missed(GateLookup how)
{
    if (events_.looked_up) events_.looked_up(how);
    return GateMiss{};
}

void RedisGate::publish(core::Digest digest, const core::Record& record)
{
    const auto how = try_publish(digest, record);
    if (events_.published) events_.published(how);
}

GatePublish RedisGate::try_publish(const core::Digest& digest, const core::Record& record)
{
    const auto lifetime = copy_lifetime(record.remaining, options_.cache_ttl);
    const bool fits = EntrySealer::sealed_size(record) <= options_.entry_bytes_max;
    if (!is_copied(record) || !fits || lifetime <= core::Millis{0}) return GatePublish::unfit;
    if (!connection_.is_up()) return GatePublish::dropped;

    const auto now = wall_time_();
    const auto value = sealer_.seal(digest, record, {now, now + lifetime});
    const auto key = redis_key(digest);
    const auto milliseconds = std::to_string(lifetime.count());
    const std::array<std::string_view, 5> words{"SET", key, value, "PX", milliseconds};
    const bool sent = connection_.pipe().tell(encode_command(words), options_.publish_limit);
    return sent ? GatePublish::sent : GatePublish::dropped;
}

}  // namespace onceward
