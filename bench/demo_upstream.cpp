// The network side of the demonstration service: Beast reads, one write answers.
#include "demo_upstream.hpp"

#include "account_api.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace onceward::demo {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Parser = http::request_parser<http::string_body>;

namespace {

constexpr std::uint64_t body_limit = 64 << 20;
constexpr std::size_t buffer_limit = 128 << 10;

std::string_view text_of(boost::beast::string_view text)
{
    return {text.data(), text.size()};
}

ApiRequest request_of(const Parser& parser)
{
    const auto& message = parser.get();
    return {text_of(message.method_string()), text_of(message.target()),
            text_of(message["Idempotency-Key"]), text_of(message["X-Demo"]), message.body()};
}

// The bytes of an answer; `cut` leaves out the second half of the body.
std::string wire_form(const ApiAnswer& answer, const Parser& parser)
{
    const auto reason = http::obsolete_reason(static_cast<http::status>(answer.status));
    std::string bytes = "HTTP/1.1 " + std::to_string(answer.status) + " ";
    bytes.append(reason.data(), reason.size()).append("\r\nServer: legacy-accounts\r\n");
    bytes += "Content-Type: application/json\r\n";
    if (!answer.location.empty()) {
        bytes += "Location: " + answer.location + "\r\nSet-Cookie: session=legacy; HttpOnly\r\n";
    }
    if (answer.death == Death::close_delimited || !parser.get().keep_alive()) {
        bytes += "Connection: close\r\n";
    }
    if (answer.death != Death::close_delimited) {
        bytes += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    }
    bytes += "\r\n";
    if (parser.get().method() == http::verb::head) return bytes;
    const bool cut = answer.death == Death::mid_body;
    return bytes.append(answer.body, 0, cut ? answer.body.size() / 2 : answer.body.size());
}

void reset(tcp::socket& socket)
{
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
    socket.close(ignored);
}

asio::awaitable<void> pause(asio::any_io_executor executor, std::chrono::milliseconds delay)
{
    asio::steady_timer timer(executor, delay);
    co_await timer.async_wait(asio::use_awaitable);
}

// One client's connection, request after request. Shared with nobody but the API's books.
class Session {
public:
    Session(tcp::socket socket, AccountApi& api, bool may_exit)
        : socket_(std::move(socket)), api_(api), may_exit_(may_exit)
    {
    }

    asio::awaitable<void> run()
    {
        while (true) {
            const bool more = co_await serve();
            if (!more) co_return;
        }
    }

private:
    // False when the connection is over.
    asio::awaitable<bool> serve()
    {
        Parser parser;
        parser.body_limit(body_limit);
        parser.header_limit(60 << 10);
        boost::system::error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        co_await http::async_read(socket_, buffer_, parser, token);
        if (error) co_return false;
        const auto answer = api_.answer(request_of(parser));
        if (answer.delay.count() > 0) co_await pause(socket_.get_executor(), answer.delay);
        if (dies_unanswered(answer.death)) co_return false;
        const auto bytes = wire_form(answer, parser);
        co_await asio::async_write(socket_, asio::buffer(bytes), token);
        if (answer.death == Death::mid_body) reset(socket_);
        co_return !error && answer.death == Death::none && parser.get().keep_alive();
    }

    bool dies_unanswered(Death death)
    {
        switch (death) {
            case Death::none:
            case Death::mid_body:
            case Death::close_delimited: return false;
            case Death::process:
                if (may_exit_) std::_Exit(137);
                break;
            case Death::before_charge:
            case Death::after_charge: break;
        }
        reset(socket_);
        return true;
    }

    tcp::socket socket_;
    AccountApi& api_;
    const bool may_exit_;
    boost::beast::flat_buffer buffer_{buffer_limit};
};

asio::awaitable<void> run_session(std::unique_ptr<Session> session)
{
    try {
        co_await session->run();
    } catch (const std::exception&) {
        // The parser may throw on hostile input; the connection ends with the session.
    }
}

}  // namespace

struct AccountService::Running {
    explicit Running(DemoUpstreamOptions given)
        : options(std::move(given)), api(options.opening_balance, options.behaviour)
    {
        for (int worker = 0; worker < std::max(1, options.workers); ++worker) {
            contexts.push_back(std::make_unique<asio::io_context>(1));
        }
    }

    void listen()
    {
        const tcp::endpoint endpoint(asio::ip::make_address(options.host), options.port);
        acceptor = std::make_unique<tcp::acceptor>(*contexts.front());
        acceptor->open(endpoint.protocol());
        acceptor->set_option(tcp::acceptor::reuse_address(true));
        acceptor->bind(endpoint);
        acceptor->listen(asio::socket_base::max_listen_connections);
        port = acceptor->local_endpoint().port();
    }

    // Hands each connection to the next worker.
    asio::awaitable<void> accept()
    {
        for (std::size_t next = 0;; next = (next + 1) % contexts.size()) {
            boost::system::error_code error;
            auto token = asio::redirect_error(asio::use_awaitable, error);
            const asio::any_io_executor worker = contexts[next]->get_executor();
            tcp::socket socket = co_await acceptor->async_accept(worker, token);
            if (error) {
                // Out of descriptors, most likely: the next connection may have better luck.
                co_await pause(acceptor->get_executor(), std::chrono::milliseconds{20});
                continue;
            }
            socket.set_option(tcp::no_delay(true), error);
            auto session = std::make_unique<Session>(std::move(socket), api, options.may_exit);
            asio::co_spawn(worker, run_session(std::move(session)), asio::detached);
        }
    }

    void start()
    {
        asio::co_spawn(*contexts.front(), accept(), asio::detached);
        for (auto& context : contexts) {
            threads.emplace_back([&context] {
                const auto guard = asio::make_work_guard(*context);
                context->run();
            });
        }
    }

    void stop()
    {
        for (auto& context : contexts)
            context->stop();
        for (auto& thread : threads)
            thread.join();
        threads.clear();
    }

    const DemoUpstreamOptions options;
    AccountApi api;
    std::vector<std::unique_ptr<asio::io_context>> contexts;
    std::unique_ptr<tcp::acceptor> acceptor;  // Absent until start().
    std::uint16_t port = 0;
    std::vector<std::thread> threads;
};

AccountService::AccountService(DemoUpstreamOptions options)
    : running_(std::make_unique<Running>(std::move(options)))
{
}

AccountService::~AccountService()
{
    stop();
}

void AccountService::start()
{
    try {
        running_->listen();
    } catch (const boost::system::system_error& error) {
        throw std::system_error(error.code());
    }
    running_->start();
}

void AccountService::stop()
{
    running_->stop();
}

std::uint16_t AccountService::port() const
{
    return running_->port;
}

AccountLedger& AccountService::ledger()
{
    return running_->api.ledger();
}

int run_demo_upstream(const DemoUpstreamOptions& options)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals,
                    nullptr);  // Inherited by the workers: only sigwait sees them.
    AccountService service(options);
    try {
        service.start();
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "error: cannot listen on %s:%u: %s\n", options.host.c_str(),
                     unsigned{options.port}, error.what());
        return 1;
    }
    const bool bracketed = options.host.find(':') != std::string::npos;
    std::printf("{\"event\":\"listening\",\"upstream\":\"%s%s%s:%u\"}\n", bracketed ? "[" : "",
                options.host.c_str(), bracketed ? "]" : "", unsigned{service.port()});
    std::fflush(stdout);
    int received = 0;
    sigwait(&signals, &received);
    service.stop();
    return 0;
}

}  // namespace onceward::demo
