// Unguarded traffic: streamed through in both directions, unchanged, with back-pressure.
#pragma once

#include "http/edge.hpp"
#include "http/forwarding.hpp"
#include "wire/body.hpp"

#include <optional>
#include <string>

namespace onceward {

// What became of a relayed request.
struct RelayEnd {
    std::optional<core::Problem> problem;  // Nothing was answered yet: say this.
    int status = 0;                        // The upstream's; zero: none.
    bool keep_client = false;              // The connection is in a state to go on.
    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
};

// One request and its answer. Bytes move as both sides take them: nothing is collected.
class Relay {
public:
    // All references outlive the relay; the client's head has been consumed from its stream.
    Relay(Edge& edge, ConnectionPool& pool, wire::Stream& client, const wire::RequestHead& head,
          Peer peer);

    awaitable<RelayEnd> run();

private:
    awaitable<bool> open(bool fresh);
    awaitable<bool> send_head();
    awaitable<void> pump_request();
    awaitable<void> relay_response();
    awaitable<bool> relay_interim(const wire::ResponseHead& interim);
    awaitable<bool> relay_body(const wire::ResponseHead& answer);
    awaitable<bool> write_client(std::string_view head, std::string_view bytes,
                                 std::string_view after);
    bool may_try_again() const;
    void fail(core::ProblemCode code, int status, std::string_view proxy_status);
    void fail(wire::IoError error);
    void refuse_body();
    void finish(const wire::ResponseHead& answer, bool complete);
    void watch_client();
    void touch();

    Edge& edge_;
    ConnectionPool& pool_;
    wire::Stream& client_;
    const wire::RequestHead& head_;
    Peer peer_;
    wire::BodyReader body_;
    wire::BodyReader::Piece first_;  // What had arrived together with the head.
    std::string first_bytes_;
    std::unique_ptr<wire::Stream> upstream_;
    bool reused_ = false;
    bool answered_ = false;         // A byte of the answer was seen.
    bool upstream_closed_ = false;  // It ended the connection instead of answering.
    bool body_malformed_ = false;   // The request's chunked coding.
    bool client_failed_ = false;    // The client cannot be written to.
    bool request_sent_ = false;     // The whole request has gone out.
    bool response_over_ = false;
    RelayEnd end_;
};

}  // namespace onceward
