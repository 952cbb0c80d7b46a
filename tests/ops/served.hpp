// A side listener on a real socket, and a client that sends it any bytes.
#pragma once

#include "ops/http_endpoint.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <string>
#include <thread>

namespace onceward {

// Serves on a thread of its own until it is destroyed.
class Served {
public:
    explicit Served(SideHandler handler, EndpointLimits limits = {})
        : endpoint_(context_.get_executor(), {boost::asio::ip::address_v4::loopback(), 0},
                    std::move(handler), limits)
    {
        endpoint_.start();
        thread_ = std::thread([this] { context_.run(); });
    }
    ~Served()
    {
        stop();
        thread_.join();
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    boost::asio::ip::tcp::endpoint where() const { return where_; }
    void stop()
    {
        boost::asio::post(context_, [this] { endpoint_.stop(); });
    }

    // Everything that comes back until the server closes.
    std::string send(const std::string& bytes) const
    {
        boost::asio::io_context context;
        boost::asio::ip::tcp::socket socket(context);
        socket.connect(where_);
        boost::system::error_code error;
        boost::asio::write(socket, boost::asio::buffer(bytes), error);
        std::string answer;
        boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
        return answer;
    }

    std::string get(const std::string& target, const std::string& fields = "") const
    {
        return send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
                    fields + "\r\n");
    }

    std::string post(const std::string& target, const std::string& body,
                     const std::string& fields = "Content-Type: application/json\r\n") const
    {
        return send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                    fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }

private:
    boost::asio::io_context context_{1};
    HttpEndpoint endpoint_;
    boost::asio::ip::tcp::endpoint where_ = endpoint_.local();
    std::thread thread_;
};

inline int status_of(const std::string& answer)
{
    return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

inline std::string body_of(const std::string& answer)
{
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace onceward
