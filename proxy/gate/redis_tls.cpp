// Streams under TLS 1.2 or later; the peer is always verified, by name.
#include "gate/redis_link.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>

namespace onceward {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

class RedisTls {
public:
    ssl::context context{ssl::context::tls_client};
};

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);

class TlsLink final : public RedisLink {
public:
    TlsLink(asio::any_io_executor executor, std::shared_ptr<RedisTls> tls, const std::string& host)
        : tls_(std::move(tls)), stream_(std::move(executor), tls_->context)
    {
        error_code not_an_address;
        asio::ip::make_address(host, not_an_address);
        // Server names are names only (RFC 6066 section 3).
        if (not_an_address) SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());
        stream_.set_verify_callback(ssl::host_name_verification(host));
    }

    awaitable<error_code> connect(Endpoint endpoint) override
    {
        auto& socket = stream_.lowest_layer();
        const auto [connected] = co_await socket.async_connect(endpoint, token);
        if (connected) co_return connected;
        error_code ignored;
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        const auto [shaken] = co_await stream_.async_handshake(ssl::stream_base::client, token);
        co_return shaken;
    }

    awaitable<Transfer> read_some(std::span<char> into) override
    {
        const auto buffer = asio::buffer(into.data(), into.size());
        const auto [error, bytes] = co_await stream_.async_read_some(buffer, token);
        co_return Transfer{error, bytes};
    }

    awaitable<error_code> write(std::string_view bytes) override
    {
        const auto buffer = asio::buffer(bytes);
        const auto [error, written] = co_await asio::async_write(stream_, buffer, token);
        co_return error;
    }

    void close() override
    {
        error_code ignored;
        stream_.lowest_layer().close(ignored);
    }

private:
    std::shared_ptr<RedisTls> tls_;
    ssl::stream<asio::generic::stream_protocol::socket> stream_;
};

std::string cannot_use(const std::string& file, const error_code& error)
{
    return "cannot use " + file + ": " + error.message();
}

}  // namespace

std::variant<std::shared_ptr<RedisTls>, std::string> load_redis_tls(const RedisAddress& address)
{
    auto tls = std::make_shared<RedisTls>();
    auto& context = tls->context;
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    context.set_verify_mode(ssl::verify_peer);
    error_code error;
    if (address.ca_file.empty()) {
        context.set_default_verify_paths(error);
        if (error) return cannot_use("the system's certificates", error);
    } else {
        context.load_verify_file(address.ca_file, error);
        if (error) return cannot_use(address.ca_file, error);
    }
    if (!address.cert_file.empty()) {
        context.use_certificate_chain_file(address.cert_file, error);
        if (error) return cannot_use(address.cert_file, error);
        context.use_private_key_file(address.key_file, ssl::context::pem, error);
        if (error) return cannot_use(address.key_file, error);
    }
    return tls;
}

std::shared_ptr<RedisLink> make_tls_link(asio::any_io_executor executor,
                                         std::shared_ptr<RedisTls> tls, const std::string& host)
{
    return std::make_shared<TlsLink>(std::move(executor), std::move(tls), host);
}

}  // namespace onceward
