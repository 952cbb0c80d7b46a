// The side listeners' server on Beast.
#include "ops/http_endpoint.hpp"

#include "core/fields.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <unordered_set>

namespace onceward {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

using Parser = http::request_parser<http::string_body>;
using Answer = http::response<http::string_body>;

namespace {

constexpr std::size_t read_size = 4'096;

SideRequest plain(const http::request<http::string_body>& message)
{
    SideRequest request;
    request.method = std::string(message.method_string());
    const std::string target(message.target());
    const auto question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    for (const auto& field : message) {
        request.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    request.body = message.body();
    return request;
}

Answer answer_of(const SideResponse& response, unsigned http_version, bool keep_alive)
{
    Answer answer(static_cast<http::status>(response.status), http_version);
    answer.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.fields)
        answer.set(name, value);
    answer.body() = response.body;
    answer.keep_alive(keep_alive);
    answer.prepare_payload();
    return answer;
}

// What a request that could not be read is told; absent: nothing, the connection is of no use any
// more.
std::optional<SideResponse> refusal(const error_code& error)
{
    SideResponse response;
    if (error == http::error::body_limit) {
        response.status = 413;
    } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        response.status = 431;
    } else if (error.category() == http::make_error_code(http::error::bad_version).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
        response.status = 400;
    } else {
        return std::nullopt;
    }
    response.body =
        std::string(http::obsolete_reason(static_cast<http::status>(response.status))) + "\n";
    return response;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
            hex_digit(text[i + 2]) >= 0) {
            out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
            i += 2;
        } else {
            out.push_back(text[i] == '+' ? ' ' : text[i]);
        }
    }
    return out;
}

}  // namespace

std::optional<std::string_view> SideRequest::field(std::string_view name) const
{
    for (const auto& [field_name, value] : fields) {
        if (core::same_name(field_name, name)) return value;
    }
    return std::nullopt;
}

std::size_t SideRequest::count(std::string_view name) const
{
    std::size_t count = 0;
    for (const auto& [field_name, value] : fields)
        count += core::same_name(field_name, name) ? 1 : 0;
    return count;
}

std::optional<std::string> SideRequest::parameter(std::string_view name) const
{
    std::string_view rest = query;
    while (!rest.empty()) {
        const auto ampersand = rest.find('&');
        const auto pair = rest.substr(0, ampersand);
        const auto equals = pair.find('=');
        if (decoded(pair.substr(0, equals)) == name) {
            return equals == std::string_view::npos ? std::string()
                                                    : decoded(pair.substr(equals + 1));
        }
        rest =
            ampersand == std::string_view::npos ? std::string_view{} : rest.substr(ampersand + 1);
    }
    return std::nullopt;
}

struct HttpEndpoint::State {
    State(const asio::any_io_executor& executor, SideHandler on_request, EndpointLimits bounds)
        : acceptor(executor), handler(std::move(on_request)), limits(bounds)
    {
    }

    static awaitable<void> accept(std::shared_ptr<State> self);
    static awaitable<void> serve(std::shared_ptr<State> self, tcp::socket socket);

    // One request and its answer; false when the connection is to be closed.
    awaitable<bool> exchange(beast::tcp_stream& stream, beast::flat_buffer& buffer);
    // A whole message; bytes of the next one stay in the buffer.
    awaitable<error_code> read(beast::tcp_stream& stream, beast::flat_buffer& buffer,
                               Parser& parser);
    awaitable<bool> write(beast::tcp_stream& stream, Answer answer);
    awaitable<SideResponse> handle(SideRequest request);

    tcp::acceptor acceptor;
    SideHandler handler;
    EndpointLimits limits;
    std::unordered_set<beast::tcp_stream*> open;
};

// Out of descriptors or the like: it passes, and a short pause keeps the loop from spinning
// meanwhile.
awaitable<void> HttpEndpoint::State::accept(std::shared_ptr<State> self)
{
    asio::steady_timer pause(self->acceptor.get_executor());
    while (self->acceptor.is_open()) {
        error_code error;
        auto socket =
            co_await self->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::operation_aborted) co_return;
        if (error) {
            pause.expires_after(std::chrono::milliseconds{100});
            co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
            continue;
        }
        if (self->open.size() >= self->limits.connections) continue;
        asio::co_spawn(self->acceptor.get_executor(), serve(self, std::move(socket)),
                       asio::detached);
    }
}

awaitable<void> HttpEndpoint::State::serve(std::shared_ptr<State> self, tcp::socket socket)
{
    struct Registration {
        State& state;
        beast::tcp_stream* stream;
        ~Registration() { state.open.erase(stream); }
    };
    beast::tcp_stream stream(std::move(socket));
    self->open.insert(&stream);
    const Registration registration{*self, &stream};
    // Boost 1.81 throws out of its parser, on a trailer with an overlong name for one. That must
    // end this connection and not the process.
    try {
        beast::flat_buffer buffer(self->limits.head + self->limits.body);
        bool again = true;
        while (again) {
            const auto keep = co_await self->exchange(stream, buffer);
            again = keep;
        }
    } catch (const std::exception&) {
        stream.close();
        co_return;
    }
    error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

// The parser runs here and not inside http::async_read, whose handler would carry what it throws
// out of the executor, past every catch of this coroutine.
awaitable<error_code> HttpEndpoint::State::read(beast::tcp_stream& stream,
                                                beast::flat_buffer& buffer, Parser& parser)
{
    error_code error;
    parser.eager(true);
    for (;;) {
        if (buffer.size() > 0) buffer.consume(parser.put(buffer.data(), error));
        if (parser.is_done() || (error && error != http::error::need_more)) co_return error;
        if (buffer.max_size() - buffer.size() < read_size) co_return http::error::buffer_overflow;
        const auto room = buffer.prepare(read_size);
        const auto size =
            co_await stream.async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return error;
        buffer.commit(size);
    }
}

awaitable<bool> HttpEndpoint::State::exchange(beast::tcp_stream& stream, beast::flat_buffer& buffer)
{
    error_code error;
    if (buffer.size() == 0) {
        stream.expires_after(limits.idle);
        const auto room = buffer.prepare(read_size);
        const auto size =
            co_await stream.async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return false;
        buffer.commit(size);
    }
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.head));
    parser.body_limit(limits.body);
    stream.expires_after(limits.message);
    error = co_await read(stream, buffer, parser);
    if (error) {
        const auto told = refusal(error);
        if (told) co_await write(stream, answer_of(*told, 11, false));
        co_return false;
    }
    const auto& message = parser.get();
    stream.expires_never();
    const auto response = co_await handle(plain(message));
    auto answer = answer_of(response, message.version(), message.keep_alive());
    const auto keep = co_await write(stream, std::move(answer));
    co_return keep;
}

awaitable<SideResponse> HttpEndpoint::State::handle(SideRequest request)
{
    try {
        auto response = co_await handler(std::move(request));
        co_return response;
    } catch (const std::exception&) {
        SideResponse failed;
        failed.status = 500;
        failed.body = "internal error\n";
        co_return failed;
    }
}

awaitable<bool> HttpEndpoint::State::write(beast::tcp_stream& stream, Answer answer)
{
    error_code error;
    stream.expires_after(limits.message);
    co_await http::async_write(stream, answer, asio::redirect_error(asio::use_awaitable, error));
    co_return !error && answer.keep_alive();
}

HttpEndpoint::HttpEndpoint(asio::any_io_executor executor, const tcp::endpoint& where,
                           SideHandler handler, EndpointLimits limits)
    : state_(std::make_shared<State>(std::move(executor), std::move(handler), limits))
{
    auto& acceptor = state_->acceptor;
    try {
        acceptor.open(where.protocol());
        acceptor.set_option(tcp::acceptor::reuse_address(true));
        acceptor.bind(where);
        acceptor.listen();
    } catch (const boost::system::system_error& failure) {
        const auto address = where.address().to_string() + ":" + std::to_string(where.port());
        // Without the place in the code that error codes carry: this is for people.
        throw boost::system::system_error({failure.code().value(), failure.code().category()},
                                          "cannot listen on " + address);
    }
}

HttpEndpoint::~HttpEndpoint() = default;

tcp::endpoint HttpEndpoint::local() const
{
    return state_->acceptor.local_endpoint();
}

void HttpEndpoint::start()
{
    asio::co_spawn(state_->acceptor.get_executor(), State::accept(state_), asio::detached);
}

void HttpEndpoint::stop()
{
    error_code ignored;
    state_->acceptor.close(ignored);
    for (auto* stream : state_->open)
        stream->close();
}

}  // namespace onceward
