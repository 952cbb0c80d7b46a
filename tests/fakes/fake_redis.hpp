// A Redis that says what a test makes it say: right, late, wrong, or nothing.
#pragma once

#include "gate/resp_codec.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onceward::test {

// Lives on the test's own io_context, so nothing runs beside the test. Stop it, and run the context
// empty, before it goes.
class FakeRedis {
public:
    using Command = std::vector<std::string>;
    // The bytes that answer a command; none: silence.
    using Script = std::function<std::string(const Command&)>;

    FakeRedis(boost::asio::io_context& context, Script script)
        : context_(context),
          acceptor_(context, {boost::asio::ip::address_v4::loopback(), 0}),
          script_(std::move(script))
    {
        boost::asio::co_spawn(context_, accept(), boost::asio::detached);
    }

    std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }
    const std::vector<Command>& commands() const { return commands_; }
    std::size_t connections() const { return connections_.size(); }

    // What was asked with this first word.
    std::size_t count(const std::string& word) const
    {
        std::size_t found = 0;
        for (const auto& command : commands_)
            found += command.front() == word ? 1u : 0u;
        return found;
    }

    // Bytes nobody asked for, on one of its connections; dropped when the peer has gone.
    void say(std::size_t connection, const std::string& bytes)
    {
        boost::system::error_code ignored;
        boost::asio::write(*connections_[connection], boost::asio::buffer(bytes), ignored);
    }

    void stop()
    {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        for (auto& connection : connections_)
            connection->close(ignored);
    }

    static constexpr const char* ok = "+OK\r\n";
    static constexpr const char* nil = "$-1\r\n";
    static std::string bulk(const std::string& bytes)
    {
        return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
    }

private:
    using Socket = boost::asio::ip::tcp::socket;

    boost::asio::awaitable<void> accept()
    {
        constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(token);
            if (error) co_return;
            auto connection = std::make_shared<Socket>(std::move(socket));
            connections_.push_back(connection);
            boost::asio::co_spawn(context_, serve(connection), boost::asio::detached);
        }
    }

    boost::asio::awaitable<void> serve(std::shared_ptr<Socket> socket)
    {
        constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
        RespReader reader;
        std::array<char, 16'384> buffer;
        for (;;) {
            const auto room = boost::asio::buffer(buffer);
            const auto [error, bytes] = co_await socket->async_read_some(room, token);
            if (error) co_return;
            reader.feed({buffer.data(), bytes});
            std::string answers;
            while (auto asked = reader.next()) {
                Command command;
                for (const auto& word : asked->elements)
                    command.push_back(word.text);
                commands_.push_back(command);
                answers += script_(command);
            }
            const auto said = boost::asio::buffer(answers);
            co_await boost::asio::async_write(*socket, said, token);
        }
    }

    boost::asio::io_context& context_;
    boost::asio::ip::tcp::acceptor acceptor_;
    Script script_;
    std::vector<std::shared_ptr<Socket>> connections_;
    std::vector<Command> commands_;
};

}  // namespace onceward::test
