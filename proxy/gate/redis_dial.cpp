// Connecting to Redis, step by step, each with its end in time.
#include "gate/redis_dial.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>

namespace onceward {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
using Words = std::initializer_list<std::string_view>;

std::string command(Words words)
{
    return encode_command({words.begin(), words.size()});
}

std::string auth_command(const std::string& user, const std::string& password)
{
    if (password.empty()) return {};
    return user.empty() ? command({"AUTH", password}) : command({"AUTH", user, password});
}

// Names us in CLIENT LIST, and proves at once that the server answers. That it may refuse the name
// is of no matter: an access list often does.
std::string name_command()
{
    return command({"CLIENT", "SETNAME", "onceward"});
}

bool is_master_place(const RespReply& reply)
{
    return reply.is(RespReply::Kind::array) && reply.elements.size() == 2 &&
           reply.elements[0].is(RespReply::Kind::text) &&
           reply.elements[1].is(RespReply::Kind::text);
}

}  // namespace

RedisDial::RedisDial(asio::io_context& context, RedisAddress address, std::shared_ptr<RedisTls> tls,
                     std::chrono::milliseconds step_limit)
    : context_(context),
      address_(std::move(address)),
      tls_(std::move(tls)),
      step_limit_(step_limit),
      resolver_(context),
      alarm_(context)
{
}

void RedisDial::stop()
{
    stopped_ = true;
    alarm_.cancel();
    resolver_.cancel();
    if (link_) link_->close();
}

awaitable<RedisDial::Dialled> RedisDial::dial()
{
    RedisEndpoint place;
    if (address_.kind == RedisAddress::Kind::tcp) place = address_.endpoints.front();
    if (address_.kind == RedisAddress::Kind::sentinel) {
        auto found = co_await find_master();
        if (auto* why = std::get_if<std::string>(&found)) co_return std::move(*why);
        place = std::get<RedisEndpoint>(std::move(found));
    }
    auto entered = co_await enter(std::move(place));
    alarm_.cancel();
    link_.reset();
    co_return entered;
}

// Connects and is let in: AUTH, SELECT and our name in one go.
awaitable<RedisDial::Dialled> RedisDial::enter(RedisEndpoint place)
{
    auto connected = co_await connect(std::move(place));
    if (std::holds_alternative<std::string>(connected)) co_return connected;

    const auto auth = auth_command(address_.user, address_.password);
    std::string select;
    if (address_.database != 0) select = command({"SELECT", std::to_string(address_.database)});
    const std::size_t checked = (auth.empty() ? 0u : 1u) + (select.empty() ? 0u : 1u);
    auto greeting = auth + select + name_command();
    const auto greeted = co_await converse(std::move(greeting), checked + 1);
    if (const auto* why = std::get_if<std::string>(&greeted)) co_return *why;
    const auto& replies = std::get<std::vector<RespReply>>(greeted);
    for (std::size_t i = 0; i < checked; ++i) {
        if (replies[i].is(RespReply::Kind::status)) continue;
        const auto* asked = i == 0 && !auth.empty() ? "AUTH" : "SELECT";
        co_return ended(std::string(asked) +
                        " was refused: " + std::string(replies[i].error_code()));
    }
    // These stand for every command to come.
    const auto last = replies.back().error_code();
    if (last == "NOAUTH" || last == "DENIED") {
        co_return ended("it lets nobody in without a password (" + std::string(last) + ")");
    }
    co_return link_;
}

awaitable<std::variant<RedisEndpoint, std::string>> RedisDial::find_master()
{
    std::string why;
    for (std::size_t i = 0; i < address_.endpoints.size() && !stopped_; ++i) {
        auto found = co_await ask_sentinel(address_.endpoints[next_sentinel_]);
        if (std::holds_alternative<RedisEndpoint>(found)) co_return found;
        why = std::get<std::string>(std::move(found));
        next_sentinel_ = (next_sentinel_ + 1) % address_.endpoints.size();
    }
    co_return "no Sentinel knows the master: " + why;
}

awaitable<std::variant<RedisEndpoint, std::string>> RedisDial::ask_sentinel(RedisEndpoint sentinel)
{
    auto connected = co_await connect(std::move(sentinel));
    if (auto* why = std::get_if<std::string>(&connected)) co_return std::move(*why);

    const auto auth = auth_command(address_.sentinel_user, address_.sentinel_password);
    const auto question = command({"SENTINEL", "get-master-addr-by-name", address_.master_name});
    const std::size_t replies = auth.empty() ? 1 : 2;
    auto commands = auth + question;
    const auto answered = co_await converse(std::move(commands), replies);
    link_->close();
    if (const auto* why = std::get_if<std::string>(&answered)) co_return *why;
    const auto& reply = std::get<std::vector<RespReply>>(answered).back();
    if (reply.is(RespReply::Kind::nil)) co_return "it does not know this name";
    if (!is_master_place(reply)) co_return "its answer is no address";
    co_return RedisEndpoint{reply.elements[0].text, reply.elements[1].text};
}

// Looks the name up and connects; link_ is the stream then.
awaitable<RedisDial::Dialled> RedisDial::connect(RedisEndpoint place)
{
    begin_step();
    error_code error;
    if (address_.kind == RedisAddress::Kind::unix_socket) {
        link_ = make_link({});
        const auto link = link_;
        const RedisLink::Endpoint file = asio::local::stream_protocol::endpoint(address_.path);
        error = co_await link->connect(file);
    } else {
        auto [unknown, places] = co_await resolver_.async_resolve(place.host, place.port, token);
        error = unknown;
        if (!unknown) {
            error = co_await try_each(std::move(places), std::move(place.host));
        }
    }
    if (error || late_ || stopped_) co_return ended(error.message());
    co_return link_;
}

awaitable<error_code> RedisDial::try_each(tcp::resolver::results_type places, std::string host)
{
    error_code error = asio::error::host_not_found;
    for (const auto& place : places) {
        if (late_ || stopped_) break;
        link_ = make_link(host);
        const auto link = link_;
        const RedisLink::Endpoint endpoint = place.endpoint();
        error = co_await link->connect(endpoint);
        if (!error) break;
        link->close();
    }
    co_return error;
}

// Sends commands and reads that many replies; more than asked for is as wrong as none.
awaitable<RedisDial::Replies> RedisDial::converse(std::string commands, std::size_t count)
{
    const auto link = link_;
    const auto refused = co_await link->write(commands);
    if (refused) co_return ended(refused.message());

    RespReader reader({16 << 10, 64});
    std::vector<RespReply> replies;
    std::array<char, 1'024> buffer;
    while (replies.size() < count) {
        const auto got = co_await link->read_some(buffer);
        if (got.error) co_return ended(got.error.message());
        reader.feed({buffer.data(), got.bytes});
        while (auto reply = reader.next())
            replies.push_back(std::move(*reply));
        if (reader.failed()) co_return ended(reader.error());
    }
    if (replies.size() > count || late_ || stopped_) co_return ended("an answer nobody asked for");
    co_return replies;
}

std::shared_ptr<RedisLink> RedisDial::make_link(const std::string& host)
{
    if (address_.tls) return make_tls_link(context_.get_executor(), tls_, host);
    return make_plain_link(context_.get_executor());
}

void RedisDial::begin_step()
{
    late_ = false;
    alarm_.expires_after(step_limit_);
    alarm_.async_wait([this](const error_code& error) {
        if (error || stopped_) return;
        late_ = true;
        resolver_.cancel();
        if (link_) link_->close();
    });
}

// Nothing more goes over this stream; a deadline outranks the error it caused.
std::string RedisDial::ended(std::string why)
{
    alarm_.cancel();
    if (link_) link_->close();
    if (stopped_) return "stopped";
    return late_ ? "no answer in time" : why;
}

}  // namespace onceward
