// The upstream of a wire test: records every byte it gets and does what its script says.
#pragma once

#include "wire/message.hpp"
#include "wire/socket.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace onceward::wire {

// Something that a script waits for and a test lets happen, once.
class Gate {
public:
    Gate();
    ~Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open();
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

// One request as it arrived.
struct Received {
    std::size_t number = 0;      // 1 for the origin's first request.
    std::size_t connection = 0;  // 1 for its first connection.
    Head head;
    Body body;
};

class Origin;

// What a script may do about one request. Used within the script only.
class Call {
public:
    const Received& request() const { return request_; }
    bool send(std::string_view bytes) { return socket_.send(bytes); }
    void close() { socket_.close(); }
    void reset() { socket_.reset(); }
    void finish() { socket_.finish(); }
    Socket& socket() { return socket_; }
    Reader& reader() { return reader_; }
    // False when the test ended without opening the gate.
    bool wait(const Gate& gate);
    // The proxy ended this connection; for scripts that do not answer.
    bool left_by_peer();

private:
    friend class Origin;
    Call(Origin& origin, Socket& socket, Reader& reader, const Received& request)
        : origin_(origin), socket_(socket), reader_(reader), request_(request)
    {
    }

    Origin& origin_;
    Socket& socket_;
    Reader& reader_;
    const Received& request_;
};

using Script = std::function<void(Call&)>;

// "HTTP/1.1 STATUS\r\n", the fields (each line with its CRLF), a Content-Length and the body.
std::string answer(std::string_view status, std::string_view body, std::string_view fields = "");

// Sends exactly these bytes and keeps the connection.
Script sends(std::string bytes);
// Sends exactly these bytes, then FIN.
Script sends_and_closes(std::string bytes);

// Listens on 127.0.0.1, one thread a connection. Thread-safe.
class Origin {
public:
    // The default script answers 201 with a Location and a body that name the request's number, so
    // that a second execution cannot pass for the first.
    explicit Origin(Script script = {}, std::uint16_t port = 0);
    ~Origin();
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;

    std::uint16_t port() const { return port_; }
    void script(Script script);
    // Runs after a request's head, before its body is read.
    void on_head(Script script);
    // Bodies are counted, not kept.
    void drop_bodies() { keep_bodies_ = false; }

    std::size_t requests() const;  // Whose head arrived.
    std::size_t connections() const;
    std::size_t bytes() const { return bytes_; }  // Every byte that arrived.
    Received request(std::size_t number) const;   // From 1. Throws WireError when there is none.
    bool wait_for_requests(std::size_t count) const;
    // The peer, or the script, ended this connection (from 1).
    bool wait_for_end(std::size_t connection) const;
    // Ends every open connection, as an upstream's idle timer would.
    void close_connections();

private:
    friend class Call;
    void accept_all();
    void serve(std::size_t connection, Socket& socket);
    bool serve_one(std::size_t connection, Socket& socket, Reader& reader);
    void note_end(std::size_t connection);

    Socket listener_;
    std::uint16_t port_;
    Gate stop_;
    std::atomic<std::size_t> bytes_{0};
    std::atomic<bool> keep_bodies_{true};
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Script script_;
    Script on_head_;
    std::vector<Received> received_;
    std::vector<bool> ended_;
    std::list<Socket> sockets_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

}  // namespace onceward::wire
