// Sending a guarded request, and reading what is proved about it.
#include "upstream/http_upstream.hpp"

#include "upstream/completeness.hpp"
#include "wire/body.hpp"
#include "wire/text.hpp"

namespace onceward {

using wire::BodyReader;

namespace {

core::Reason reason_of(wire::IoError error)
{
    switch (error) {
        case wire::IoError::timeout: return core::Reason::timeout;
        case wire::IoError::closed:
        case wire::IoError::reset: return core::Reason::reset;
        case wire::IoError::too_large:
        case wire::IoError::malformed: return core::Reason::garbage;
    }
    return core::Reason::reset;
}

core::Reason reason_of(BodyReader::State state)
{
    switch (state) {
        case BodyReader::State::timeout: return core::Reason::timeout;
        case BodyReader::State::malformed: return core::Reason::garbage;
        case BodyReader::State::more:
        case BodyReader::State::ended:
        case BodyReader::State::closed:
        case BodyReader::State::truncated: return core::Reason::truncated;
    }
    return core::Reason::truncated;
}

// One Content-Length, whatever framing the client used (HTP-13), and an answer that any later retry
// can read (RPL-10).
std::string head_of(const core::Request& request)
{
    std::string head;
    head.reserve(request.fields.encoded().size() + request.target.size() + 128);
    wire::append_request_line(head, request.method, request.target);
    for (const auto field : request.fields) {
        if (!core::same_name(field.name, "Accept-Encoding")) {
            wire::append_field(head, field.name, field.value);
        }
    }
    wire::append_field(head, "Accept-Encoding", "identity");
    wire::append_field(head, "Content-Length", std::to_string(request.body.size()));
    return head.append("\r\n");
}

// The rest of an oversized answer, with the connection it comes on.
class AnswerRest final : public BodyStream {
public:
    AnswerRest(ConnectionPool& pool, std::unique_ptr<wire::Stream> stream,
               std::unique_ptr<BodyReader> reader, bool keep)
        : pool_(pool), stream_(std::move(stream)), reader_(std::move(reader)), keep_(keep)
    {
    }

    awaitable<Piece> next() override
    {
        const auto piece = co_await reader_->next();
        switch (piece.state) {
            case BodyReader::State::more: co_return Piece{State::more, std::string(piece.bytes)};
            case BodyReader::State::ended:
            case BodyReader::State::closed: {
                Piece last{State::ended, std::string(piece.bytes)};
                reader_.reset();
                if (keep_) pool_.give_back(std::move(stream_));
                co_return last;
            }
            case BodyReader::State::truncated:
            case BodyReader::State::malformed:
            case BodyReader::State::timeout: break;
        }
        co_return Piece{State::truncated, {}};
    }

private:
    ConnectionPool& pool_;
    std::unique_ptr<wire::Stream> stream_;
    std::unique_ptr<BodyReader> reader_;  // Refers to the stream: goes first.
    bool keep_;
};

// Reads one answer on one connection.
class AnswerReading {
public:
    AnswerReading(ConnectionPool& pool, std::unique_ptr<wire::Stream> stream,
                  std::shared_ptr<const core::Route> route, std::string method)
        : pool_(pool),
          stream_(std::move(stream)),
          route_(std::move(route)),
          method_(std::move(method))
    {
    }

    awaitable<Sent> run()
    {
        for (int interim = 0; interim < wire::interim_answers_max; ++interim) {
            const auto raw = co_await stream_->read_head(wire::receive_buffer_max);
            if (!raw) co_return NoAnswer{reason_of(raw.error())};
            auto checked = wire::check_response_head(*raw, method_);
            if (std::holds_alternative<wire::Violation>(checked))
                co_return NoAnswer{core::Reason::garbage};
            stream_->consume(raw->size());
            head_ = std::get<wire::ResponseHead>(std::move(checked));
            if (head_.status >= 200) {
                auto sent = co_await read_body();
                co_return sent;
            }
            if (head_.status == 101) break;  // Nobody asked to switch protocols.
        }
        co_return NoAnswer{core::Reason::garbage};
    }

private:
    awaitable<Sent> read_body()
    {
        core::Response answer{head_.status, wire::end_to_end(head_.fields, head_.nominated), {}};
        answer.fields.remove("Content-Length");
        auto reader = std::make_unique<BodyReader>(*stream_, head_.framing, head_.length);
        const auto limit = route_->stored_response_max;
        const bool known_too_large = head_.framing == wire::Framing::length && head_.length > limit;
        auto state = BodyReader::State::more;
        while (state == BodyReader::State::more && answer.body.size() <= limit &&
               !known_too_large) {
            const auto piece = co_await reader->next();
            answer.body.append(piece.bytes);
            state = piece.state;
        }
        const bool complete =
            state == BodyReader::State::ended || state == BodyReader::State::closed;
        if (state != BodyReader::State::more && !complete) co_return NoAnswer{reason_of(state)};
        if (!complete) {
            const auto end = head_.framing == wire::Framing::until_close ? core::BodyEnd::unproved
                                                                         : core::BodyEnd::framed;
            auto rest = std::make_unique<AnswerRest>(pool_, std::move(stream_), std::move(reader),
                                                     head_.keep_alive);
            co_return Oversized{std::move(answer), end, std::move(rest)};
        }
        reader.reset();
        if (head_.keep_alive) pool_.give_back(std::move(stream_));
        const auto end = end_of(state, answer.body);
        co_return Answered{std::move(answer), end};
    }

    core::BodyEnd end_of(BodyReader::State state, std::string_view body) const
    {
        if (state == BodyReader::State::ended) return core::BodyEnd::framed;
        const bool accepted = route_->close_delimited == core::CloseDelimited::accept &&
                              looks_complete(route_->complete_if, body);
        return accepted ? core::BodyEnd::accepted : core::BodyEnd::unproved;
    }

    ConnectionPool& pool_;
    std::unique_ptr<wire::Stream> stream_;
    std::shared_ptr<const core::Route> route_;
    std::string method_;
    wire::ResponseHead head_;
};

}  // namespace

awaitable<Sent> HttpUpstream::send(std::shared_ptr<const core::Route> route, core::Request request)
{
    auto& pool = *pools_[static_cast<std::size_t>(route->upstream)];
    const auto deadline = pool.now() + route->timeout;
    auto acquired = co_await pool.acquire(deadline);
    if (const auto* failure = std::get_if<ConnectFailure>(&acquired)) {
        co_return NotSent{failure->status, failure->proxy_status};
    }
    auto stream = std::move(std::get<Connection>(acquired).stream);

    const auto head = head_of(request);
    const auto written = co_await stream->write({head, request.body, {}});
    if (written.failed && written.bytes == 0) co_return NotSent{502, "connection_terminated"};

    // A write that broke midway may still have been answered: an origin may refuse a body it has
    // not read.
    AnswerReading reading(pool, std::move(stream), std::move(route), std::move(request.method));
    auto sent = co_await reading.run();
    co_return sent;
}

}  // namespace onceward
