// Streaming a request and its answer.
#include "http/relay.hpp"

#include "http/answer_text.hpp"
#include "wire/text.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace onceward {

using wire::BodyReader;
using wire::Framing;

namespace {

constexpr std::chrono::milliseconds client_grace{1'000};

// A method override may make anything of a GET.
bool is_safe(const wire::RequestHead& head)
{
    const bool safe_method =
        head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
    return safe_method && !core::overrides_method(head.fields);
}

// What goes before, and what after, a piece of a chunked body.
std::string chunk_head(std::string_view bytes)
{
    return bytes.empty() ? std::string() : wire::chunk_begin(bytes.size());
}

std::string_view chunk_tail(std::string_view bytes, bool last)
{
    static const std::string end_and_last =
        std::string(wire::chunk_end) + std::string(wire::last_chunk);
    if (bytes.empty()) return last ? wire::last_chunk : std::string_view{};
    return last ? std::string_view(end_and_last) : wire::chunk_end;
}

bool is_complete(BodyReader::State state)
{
    return state == BodyReader::State::ended || state == BodyReader::State::closed;
}

}  // namespace

Relay::Relay(Edge& edge, ConnectionPool& pool, wire::Stream& client, const wire::RequestHead& head,
             Peer peer)
    : edge_(edge),
      pool_(pool),
      client_(client),
      head_(head),
      peer_(peer),
      body_(client, head.framing, head.length),
      first_(body_.take_buffered()),
      first_bytes_(first_.bytes)
{
}

awaitable<RelayEnd> Relay::run()
{
    // Nothing is sent on for a body that is broken already.
    if (first_.state == BodyReader::State::malformed) {
        refuse_body();
        co_return std::move(end_);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
        end_.problem.reset();
        upstream_closed_ = false;
        const bool opened = co_await open(attempt > 0);
        if (!opened) break;
        const bool sent = co_await send_head();
        if (!sent) {
            // An idle connection that took no byte was closed before: a new one carries the request
            // just once.
            if (reused_ && attempt == 0) continue;
            break;
        }
        request_sent_ = body_.state() == BodyReader::State::ended;
        if (request_sent_) {
            watch_client();
            co_await relay_response();
        } else {
            using namespace boost::asio::experimental::awaitable_operators;
            auto both = pump_request() && relay_response();
            co_await std::move(both);
        }
        if (!may_try_again()) break;
        reused_ = false;
    }
    // The upstream's part broke off because of the client's.
    if (body_malformed_ && end_.problem) refuse_body();
    co_return std::move(end_);
}

// A safe request without a body, on a connection that the upstream had closed meanwhile: nothing
// can happen twice that matters (RFC 9110 section 9.2.2).
bool Relay::may_try_again() const
{
    return upstream_closed_ && reused_ && !answered_ && !client_failed_ && is_safe(head_) &&
           head_.framing == Framing::none;
}

awaitable<bool> Relay::open(bool fresh)
{
    const auto deadline = edge_.watchdog.now() + edge_.policy.timeouts.progress;
    auto acquired = fresh ? co_await pool_.connect(deadline) : co_await pool_.acquire(deadline);
    if (const auto* failure = std::get_if<ConnectFailure>(&acquired)) {
        fail(core::ProblemCode::upstream_unreached, failure->status, failure->proxy_status);
        co_return false;
    }
    auto& connection = std::get<Connection>(acquired);
    upstream_ = std::move(connection.stream);
    reused_ = connection.reused;
    co_return true;
}

awaitable<bool> Relay::send_head()
{
    std::string head;
    wire::append_request_line(head, head_.method, head_.target);
    const auto forwarded = forwarded_fields(head_, peer_, edge_.policy, pool_.origin());
    if (forwarded.dropped > 0 && edge_.fields_dropped) edge_.fields_dropped(forwarded.dropped);
    wire::append_fields(head, forwarded.fields);
    const bool chunked = head_.framing == Framing::chunked;
    if (chunked) {
        wire::append_field(head, "Transfer-Encoding", "chunked");
    } else if (head_.framing == Framing::length || head_.fields.has("Content-Length")) {
        wire::append_field(head, "Content-Length", std::to_string(head_.length));
    }
    head.append("\r\n");
    const bool over = body_.state() == BodyReader::State::ended;
    if (chunked) head.append(chunk_head(first_bytes_));
    const auto after = chunked ? chunk_tail(first_bytes_, over) : std::string_view{};

    touch();
    const auto written = co_await upstream_->write({head, first_bytes_, after});
    end_.request_bytes = first_bytes_.size();
    if (!written.failed) co_return true;
    if (written.bytes > 0) reused_ = false;  // It may have been carried out.
    fail(core::ProblemCode::upstream_failed, 502, "connection_terminated");
    co_return false;
}

// The rest of the request's body, until it ends, its sender fails, or the answer is over.
awaitable<void> Relay::pump_request()
{
    if (head_.expects_continue) {
        const bool told = co_await write_client(wire::continue_answer, {}, {});
        if (!told) upstream_->abort();
    }
    const bool chunked = head_.framing == Framing::chunked;
    while (!response_over_ && !client_failed_) {
        touch();
        const auto piece = co_await body_.next();
        const bool failed =
            piece.state != BodyReader::State::more && piece.state != BodyReader::State::ended;
        if (failed) {
            if (response_over_) break;
            // Half a request must not look like a whole one to the upstream.
            body_malformed_ = piece.state == BodyReader::State::malformed;
            client_failed_ = client_failed_ || !body_malformed_;
            upstream_->abort();
            break;
        }
        const bool over = piece.state == BodyReader::State::ended;
        const auto before = chunked ? chunk_head(piece.bytes) : std::string();
        const auto after = chunked ? chunk_tail(piece.bytes, over) : std::string_view{};
        const auto written = co_await upstream_->write({before, piece.bytes, after});
        if (written.failed) break;  // The upstream may have answered early: the other half sees.
        end_.request_bytes += piece.bytes.size();
        request_sent_ = over;
        if (over) break;
    }
    if (request_sent_ && !response_over_) watch_client();
}

// A client that leaves while the upstream is silent frees the upstream: nobody waits for that
// answer. A client that only ends its own side counts as gone, as it does for other proxies.
void Relay::watch_client()
{
    client_.watch_end([this] {
        client_failed_ = true;
        end_.keep_client = false;
        if (upstream_) upstream_->abort();
    });
}

awaitable<void> Relay::relay_response()
{
    bool complete = false;
    wire::ResponseHead answer;
    for (int interim = 0; interim < wire::interim_answers_max; ++interim) {
        touch();
        const auto raw = co_await upstream_->read_head(wire::receive_buffer_max);
        answered_ = answered_ || !upstream_->buffered().empty();
        if (!raw) {
            fail(raw.error());
            break;
        }
        auto checked = wire::check_response_head(*raw, head_.method);
        if (std::holds_alternative<wire::Violation>(checked)) {
            fail(wire::IoError::malformed);
            break;
        }
        upstream_->consume(raw->size());
        answer = std::get<wire::ResponseHead>(std::move(checked));
        if (answer.status == 101) {
            fail(wire::IoError::malformed);
            break;
        }
        if (answer.status >= 200) {
            end_.status = answer.status;
            complete = co_await relay_body(answer);
            break;
        }
        const bool relayed = co_await relay_interim(answer);
        if (!relayed) break;
        if (interim + 1 == wire::interim_answers_max) fail(wire::IoError::malformed);
    }
    finish(answer, complete);
}

// 100 is ours to send and was sent; the others go on to clients that know them (OUT-12).
awaitable<bool> Relay::relay_interim(const wire::ResponseHead& interim)
{
    if (interim.status == 100 || head_.minor == 0) co_return true;
    std::string text;
    wire::append_status_line(text, interim.status, interim.reason);
    wire::append_fields(text, wire::end_to_end(interim.fields, interim.nominated));
    text.append("\r\n");
    const bool written = co_await write_client(text, {}, {});
    co_return written;
}

awaitable<bool> Relay::relay_body(const wire::ResponseHead& answer)
{
    const bool unframed =
        answer.framing == Framing::chunked || answer.framing == Framing::until_close;
    const bool chunked = unframed && head_.minor == 1;
    const bool keep =
        head_.keep_alive && !edge_.draining && request_sent_ && (!unframed || chunked);
    end_.keep_client = keep;

    std::string text;
    wire::append_status_line(text, answer.status, answer.reason);
    auto fields = wire::end_to_end(answer.fields, answer.nominated);
    const auto length = fields.find("Content-Length");
    const bool tells_length = length.has_value() && answer.status >= 200 && answer.status != 204;
    const std::string told(length.value_or(""));
    fields.remove("Content-Length");
    wire::append_fields(text, fields);
    if (!fields.has("Date")) wire::append_field(text, "Date", date_now());
    if (tells_length) wire::append_field(text, "Content-Length", told);
    if (chunked) wire::append_field(text, "Transfer-Encoding", "chunked");
    if (!keep) wire::append_field(text, "Connection", "close");
    if (keep && head_.minor == 0) wire::append_field(text, "Connection", "keep-alive");
    text.append("\r\n");

    BodyReader reader(*upstream_, answer.framing, answer.length);
    auto piece = reader.take_buffered();
    for (;;) {
        const bool over = piece.state != BodyReader::State::more;
        if (over && !is_complete(piece.state)) {
            if (!text.empty()) co_await write_client(text, {}, {});
            break;
        }
        if (chunked) text.append(chunk_head(piece.bytes));
        const auto after = chunked ? chunk_tail(piece.bytes, over) : std::string_view{};
        const bool written = co_await write_client(text, piece.bytes, after);
        if (!written) co_return false;
        end_.response_bytes += piece.bytes.size();
        if (over) co_return true;
        text.clear();
        touch();
        piece = co_await reader.next();
    }
    // The client must not take this for the whole: no last chunk, too few bytes, or, where the end
    // of the connection is the end of the body, a reset.
    if (unframed && !chunked) {
        client_.abort();
    } else {
        client_.shutdown_send();
    }
    end_.keep_client = false;
    co_return false;
}

awaitable<bool> Relay::write_client(std::string_view head, std::string_view bytes,
                                    std::string_view after)
{
    touch();
    const auto written = co_await client_.write({head, bytes, after});
    if (written.failed) {
        client_failed_ = true;
        end_.keep_client = false;
    }
    co_return !written.failed;
}

void Relay::refuse_body()
{
    end_.problem =
        core::problem(core::ProblemCode::bad_request, "the body's chunked coding is malformed");
}

void Relay::fail(core::ProblemCode code, int status, std::string_view proxy_status)
{
    end_.problem = core::problem(code, code == core::ProblemCode::upstream_unreached
                                           ? "nothing was sent to the upstream"
                                           : "the upstream gave no usable answer");
    end_.problem->status = status;
    end_.problem->proxy_status = proxy_status;
}

void Relay::fail(wire::IoError error)
{
    upstream_closed_ = error == wire::IoError::closed || error == wire::IoError::reset;
    switch (error) {
        case wire::IoError::timeout:
            fail(core::ProblemCode::upstream_failed, 504, "http_response_timeout");
            break;
        case wire::IoError::closed:
        case wire::IoError::reset:
            fail(core::ProblemCode::upstream_failed, 502, "connection_terminated");
            break;
        case wire::IoError::too_large:
        case wire::IoError::malformed:
            fail(core::ProblemCode::upstream_failed, 502, "http_protocol_error");
            break;
    }
}

// Keeps the upstream's connection when both messages ended in good order; else ends whatever still
// runs.
void Relay::finish(const wire::ResponseHead& answer, bool complete)
{
    response_over_ = true;
    client_.unwatch_end();
    if (complete && request_sent_ && answer.keep_alive) {
        pool_.give_back(std::move(upstream_));
        return;
    }
    upstream_->close();
    if (!request_sent_) client_.cancel();
}

// Something moved: both sides get the full time again; the client a little more, so that it can
// still be told that the upstream's time is over.
void Relay::touch()
{
    const auto deadline = edge_.watchdog.now() + edge_.policy.timeouts.progress;
    client_.expires_at(deadline + client_grace);
    if (upstream_) upstream_->expires_at(deadline);
}

}  // namespace onceward
