// Streams without encryption.
#include "gate/redis_link.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace onceward {

namespace asio = boost::asio;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);

class PlainLink final : public RedisLink {
public:
    explicit PlainLink(const asio::any_io_executor& executor) : socket_(executor) {}

    awaitable<boost::system::error_code> connect(Endpoint endpoint) override
    {
        const auto [error] = co_await socket_.async_connect(endpoint, token);
        // A socket file has no such option, and needs none.
        boost::system::error_code ignored;
        if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
        co_return error;
    }

    awaitable<Transfer> read_some(std::span<char> into) override
    {
        const auto buffer = asio::buffer(into.data(), into.size());
        const auto [error, bytes] = co_await socket_.async_read_some(buffer, token);
        co_return Transfer{error, bytes};
    }

    awaitable<boost::system::error_code> write(std::string_view bytes) override
    {
        const auto buffer = asio::buffer(bytes);
        const auto [error, written] = co_await asio::async_write(socket_, buffer, token);
        co_return error;
    }

    void close() override
    {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

private:
    asio::generic::stream_protocol::socket socket_;
};

}  // namespace

std::shared_ptr<RedisLink> make_plain_link(asio::any_io_executor executor)
{
    return std::make_shared<PlainLink>(std::move(executor));
}

}  // namespace onceward
