// The gate on Redis: sealed copies of settled records, believed only when proved genuine. Whatever
// is wrong with Redis is a miss.
#pragma once

#include "gate/circuit_breaker.hpp"
#include "gate/copy_lifetime.hpp"
#include "gate/gate_events.hpp"
#include "gate/redis_connection.hpp"
#include "gate/sealed_entry.hpp"
#include "ports/clock.hpp"
#include "ports/gate.hpp"

#include <memory>
#include <string>

namespace onceward {

struct RedisGateOptions {
    RedisAddress address;
    std::shared_ptr<RedisTls> tls;  // From load_redis_tls when the address asks for it.
    RedisLimits limits;
    BreakerLimits breaker;
    core::Millis lookup_limit{5};
    core::Millis publish_limit{
        250};  // A publication without reply in this time ends the connection.
    core::Millis cache_ttl{std::chrono::seconds{60}};
    std::size_t entry_bytes_max = 64 << 10;  // Larger answers are left to the store.
};

// `idem:` and the digest in hex: no tenant's data.
std::string redis_key(const core::Digest& digest);

// Never says Pending: a mark before sending would cost a fresh key a round trip and could outlive a
// reservation that failed (RSV-4). One per worker, used on its thread only; the context is stopped
// and emptied before this goes, or run has returned.
class RedisGate final : public Gate {
public:
    RedisGate(boost::asio::io_context& context, Clock& clock, WallTime wall_time,
              const core::Secret& secret, RedisGateOptions options, GateEvents events);

    // Keeps the connection up until stop.
    awaitable<void> run() { return connection_.run(); }
    // Whoever waits is told of a miss. Before the context is abandoned, too: those who wait would
    // live on in here otherwise.
    void stop() { connection_.stop(); }

    // A miss at once when there is no connection or the breaker is open.
    awaitable<GateAnswer> lookup(core::Digest digest) override;
    void publish(core::Digest digest, const core::Record& record) override;

    bool is_up() const { return connection_.is_up(); }
    bool is_skipping() const { return breaker_.is_open(); }

private:
    GateAnswer judge(const core::Digest& digest, const RespReply& reply);
    GateAnswer unanswered(std::uint64_t pipe_number);
    GateAnswer missed(GateLookup how);
    GatePublish try_publish(const core::Digest& digest, const core::Record& record);

    Clock& clock_;
    WallTime wall_time_;
    RedisGateOptions options_;
    GateEvents events_;
    EntrySealer sealer_;
    CircuitBreaker breaker_;
    std::uint64_t failed_pipe_ = 0;
    RedisConnection connection_;
};

}  // namespace onceward
