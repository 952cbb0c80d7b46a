// From an address to a stream on which commands may be sent: look up, connect, ask the Sentinels,
// authenticate.
#pragma once

#include "gate/redis_address.hpp"
#include "gate/redis_link.hpp"
#include "gate/resp_codec.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace onceward {

// Used on one executor, one dial at a time. Names are looked up by Asio's resolver, never on this
// thread.
class RedisDial {
public:
    // `step_limit` for each server it talks to, from look-up to the last reply. `tls` is given when
    // the address asks for it.
    RedisDial(boost::asio::io_context& context, RedisAddress address, std::shared_ptr<RedisTls> tls,
              std::chrono::milliseconds step_limit);

    // A stream that has been let in, or why not, in words without secrets.
    using Dialled = std::variant<std::shared_ptr<RedisLink>, std::string>;
    awaitable<Dialled> dial();

    // Ends a dial that is under way, and every later one at once.
    void stop();

private:
    using Replies = std::variant<std::vector<RespReply>, std::string>;

    awaitable<Dialled> enter(RedisEndpoint place);
    awaitable<std::variant<RedisEndpoint, std::string>> find_master();
    awaitable<std::variant<RedisEndpoint, std::string>> ask_sentinel(RedisEndpoint sentinel);
    awaitable<Dialled> connect(RedisEndpoint place);
    awaitable<boost::system::error_code> try_each(
        boost::asio::ip::tcp::resolver::results_type places, std::string host);
    awaitable<Replies> converse(std::string commands, std::size_t replies);
    std::shared_ptr<RedisLink> make_link(const std::string& host);
    void begin_step();
    std::string ended(std::string why);

    boost::asio::io_context& context_;
    RedisAddress address_;
    std::shared_ptr<RedisTls> tls_;
    std::chrono::milliseconds step_limit_;
    boost::asio::ip::tcp::resolver resolver_;
    boost::asio::steady_timer alarm_;
    std::shared_ptr<RedisLink> link_;  // Of the step under way.
    std::size_t next_sentinel_ = 0;
    bool late_ = false;
    bool stopped_ = false;
};

}  // namespace onceward
