// The client of a wire test: sends exactly the bytes it is given.
#pragma once

#include "wire/message.hpp"
#include "wire/socket.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onceward::wire {

// A final answer, with the interim ones before it.
struct Answer {
    int status = 0;
    Head head;
    Body body;
    std::vector<Head> interim;

    std::string field(std::string_view name) const { return head.field(name); }
    bool has(std::string_view name) const { return head.has(name); }
    bool replayed() const { return head.field("Idempotent-Replayed") == "true"; }
    // The text of a JSON member of the body, "" when there is none. Strings without quotes.
    std::string json(std::string_view member) const;
    std::string code() const { return json("code"); }
};

// One member of a JSON object as text; "" when the text is not JSON or has no such member.
std::string json_member(std::string_view text, std::string_view member);

class Client {
public:
    explicit Client(std::uint16_t port) : socket_(Socket::connect(port)), reader_(socket_) {}
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    bool send(std::string_view bytes) { return socket_.send(bytes); }
    // `method`: of the request that is answered, because HEAD changes what a body is. Throws
    // WireError when the connection ends before a head.
    Answer read(std::string_view method = "POST", const Sink& sink = {});
    // Only the head of the next answer, interim or final.
    Head read_head();
    Answer ask(std::string_view bytes, std::string_view method = "POST");
    // The proxy ended the connection, and nothing came before that.
    bool closed() { return reader_.at_end(); }

    Socket& socket() { return socket_; }
    Reader& reader() { return reader_; }

private:
    Socket socket_;
    Reader reader_;
};

// One request on a connection of its own.
Answer ask(std::uint16_t port, std::string_view bytes, std::string_view method = "POST");

// A keyed POST. `fields`: further lines, each with its CRLF.
std::string post(std::string_view target, std::string_view key, std::string_view body = "{}",
                 std::string_view fields = "");
std::string get(std::string_view target, std::string_view fields = "");

}  // namespace onceward::wire
