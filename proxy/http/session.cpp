// Serving one client connection.
#include "http/session.hpp"

#include "core/fingerprint.hpp"
#include "http/answer_text.hpp"
#include "http/relay.hpp"
#include "wire/body.hpp"
#include "wire/text.hpp"

#include <array>

namespace onceward {

namespace {

constexpr std::chrono::milliseconds linger_time{1'000};
constexpr std::size_t linger_bytes = 256 << 10;

core::Problem problem_of(wire::IoError error)
{
    if (error == wire::IoError::too_large) {
        return core::problem(core::ProblemCode::head_too_large, "the request head is too large");
    }
    return core::problem(core::ProblemCode::bad_request, "this is not an HTTP/1.1 request");
}

// Taken from the client when it can be logged as it is, else made.
std::string request_id_of(const core::Fields& fields)
{
    constexpr std::size_t size_max = 64;
    const auto given = fields.find("X-Request-Id");
    if (given && given->size() <= size_max && core::is_token(*given)) return std::string(*given);
    return core::random_token().hex();
}

}  // namespace

// One request while it is served.
struct Session::Request {
    wire::RequestHead head;
    std::string id;
    std::chrono::steady_clock::time_point begun{};
    std::string route;
    Decision decision = Decision::passthrough;
    std::string key_id;
    std::string subject_id;
    std::string_view error_code;
    ExchangeReport report;
    int status = 0;
    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
    bool replayed = false;
    bool unread = false;  // Bytes of its body may still be on their way.
};

Session::Session(Edge& edge, boost::asio::ip::tcp::socket socket)
    : edge_(edge), stream_(edge.watchdog, std::move(socket))
{
    peer_.address = stream_.remote().address();
    peer_.trusted = edge_.policy.trusted.contains(peer_.address);
    edge_.sessions.insert(this);
}

Session::~Session()
{
    edge_.sessions.erase(this);
}

awaitable<void> Session::serve(std::unique_ptr<Session> session)
{
    try {
        co_await session->run();
    } catch (const std::exception&) {
        session->stream_.abort();
    }
}

void Session::drain()
{
    open_ = false;
    if (idle_) stream_.close();
}

awaitable<void> Session::run()
{
    const auto& timeouts = edge_.policy.timeouts;
    while (open_) {
        idle_ = true;
        const auto raw = co_await stream_.read_head_within(edge_.policy.head_limits.bytes_max,
                                                           timeouts.idle, timeouts.head);
        idle_ = false;
        Request request;
        request.begun = edge_.watchdog.now();
        if (!raw) {
            const bool answerable =
                raw.error() == wire::IoError::too_large || raw.error() == wire::IoError::malformed;
            if (!answerable) break;
            request.unread = true;
            co_await reject(request, problem_of(raw.error()));
            break;
        }
        auto checked =
            wire::check_request_head(*raw, edge_.policy.head_limits, edge_.policy.guarded_names);
        stream_.consume(raw->size());
        if (const auto* violation = std::get_if<wire::Violation>(&checked)) {
            request.unread = true;
            co_await reject(request, core::problem(violation->code, violation->why));
            break;
        }
        request.head = std::get<wire::RequestHead>(std::move(checked));
        open_ = open_ && request.head.keep_alive && !edge_.draining;
        co_await answer(request);
    }
    stream_.close();
}

awaitable<void> Session::answer(Request& request)
{
    const auto& head = request.head;
    request.id = request_id_of(head.fields);
    request.unread = head.framing != wire::Framing::none;
    if (is_loop(head.fields, edge_.policy.via)) {
        auto problem =
            core::problem(core::ProblemCode::loop_detected, "this proxy is in the request's Via");
        problem.proxy_status = "proxy_loop_detected";
        co_await reject(request, std::move(problem));
        co_return;
    }
    auto plan = core::plan(edge_.policy.plan, head.method, head.target, head.fields, peer_.trusted);
    if (auto* rejected = std::get_if<core::Reject>(&plan)) {
        request.route = std::move(rejected->route);
        co_await reject(request, std::move(rejected->problem));
    } else if (auto* guarded = std::get_if<core::Guard>(&plan)) {
        co_await guard(request, std::move(*guarded));
    } else {
        co_await pass(request, std::get<core::PassThrough>(plan));
    }
}

// Our own refusal: nothing was stored or sent.
awaitable<void> Session::reject(Request& request, core::Problem problem)
{
    if (request.route.empty() && edge_.head_rejected) edge_.head_rejected(problem.code);
    request.decision = Decision::rejected;
    Reply reply;
    reply.marks.retryable = core::kind_of(problem.code).retryable;
    reply.content = std::move(problem);
    reply.report.decision = Decision::rejected;
    co_await deliver(request, std::move(reply));
}

awaitable<void> Session::guard(Request& request, core::Guard guard)
{
    request.route = guard.route->name;
    std::string body;
    auto problem = co_await read_body(request, guard.route->request_body_max, body);
    if (problem) {
        co_await reject(request, std::move(*problem));
        co_return;
    }
    if (!stream_.is_open())
        co_return;  // The client left before its request was whole: nothing happened.

    Guarded guarded;
    const auto& policy = edge_.policy;
    core::KeyScope scope;
    scope.subject = guard.subject;
    scope.route_id = guard.route->id;
    scope.method = guard.method;
    scope.key = guard.key;
    guarded.digest = core::key_digest(policy.key_hash, scope);
    request.key_id = guarded.digest.hex().substr(0, 12);
    const auto& origin = edge_.pools[static_cast<std::size_t>(guard.route->upstream)]->origin();
    auto forwarded = forwarded_fields(request.head, peer_, policy, origin);
    if (forwarded.dropped > 0 && edge_.fields_dropped) edge_.fields_dropped(forwarded.dropped);
    guarded.request.fields = std::move(forwarded.fields);
    guarded.request.method = request.head.method;
    guarded.request.target = request.head.target;
    guarded.request.body = std::move(body);
    guarded.fingerprint = core::raw_fingerprint(policy.fingerprint_hash, guard.method,
                                                guarded.request, guard.overrides);
    guarded.fingerprint_rule = static_cast<std::uint16_t>(core::FingerprintRule::raw);
    guarded.route = std::move(guard.route);

    stream_.expires_never();
    auto reply = co_await edge_.exchange.handle(std::move(guarded));
    co_await deliver(request, std::move(reply));
}

// The whole body, bounded in size and time. What is decided by the head alone replaces a 100
// (HTP-12).
awaitable<std::optional<core::Problem>> Session::read_body(Request& request, std::size_t limit,
                                                           std::string& body)
{
    const auto& head = request.head;
    auto too_large =
        core::problem(core::ProblemCode::too_large, "the body is larger than this route allows");
    if (head.framing == wire::Framing::length && head.length > limit) co_return too_large;
    if (head.expects_continue && request.unread && stream_.buffered().empty()) {
        co_await stream_.write({wire::continue_answer, {}, {}});
    }
    stream_.expires_after(edge_.policy.timeouts.body);
    wire::BodyReader reader(stream_, head.framing, head.length);
    auto state = reader.state();
    while (state == wire::BodyReader::State::more) {
        const auto piece = co_await reader.next();
        if (body.size() + piece.bytes.size() > limit) co_return too_large;
        body.append(piece.bytes);
        state = piece.state;
    }
    request.request_bytes = body.size();
    if (state == wire::BodyReader::State::malformed) {
        co_return core::problem(core::ProblemCode::bad_request,
                                "the body's chunked coding is malformed");
    }
    if (state != wire::BodyReader::State::ended) stream_.close();
    request.unread = false;
    co_return std::nullopt;
}

awaitable<void> Session::pass(Request& request, const core::PassThrough& pass)
{
    request.route = pass.route;
    auto& pool = *edge_.pools[static_cast<std::size_t>(pass.upstream)];
    Relay relay(edge_, pool, stream_, request.head, peer_);
    auto relayed = co_await relay.run();
    request.request_bytes = relayed.request_bytes;
    if (relayed.problem && stream_.is_open()) {
        Reply reply;
        reply.content = std::move(*relayed.problem);
        reply.report.decision = Decision::passthrough;
        co_await deliver(request, std::move(reply));
        co_return;
    }
    request.status = relayed.status;
    request.response_bytes = relayed.response_bytes;
    open_ = open_ && relayed.keep_client;
    log(request);
    if (!relayed.keep_client && stream_.is_open()) co_await linger();
}

awaitable<void> Session::deliver(Request& request, Reply reply)
{
    if (request.unread) open_ = false;
    request.report = std::move(reply.report);
    if (request.decision != Decision::rejected) request.decision = request.report.decision;
    request.replayed = reply.marks.replayed;
    core::Response response;
    if (auto* problem = std::get_if<core::Problem>(&reply.content)) {
        request.error_code = core::kind_of(problem->code).code;
        response = problem_response(*problem, edge_.policy.problem_base, request.id);
    } else {
        response = std::get<core::Response>(std::move(reply.content));
    }
    request.status = response.status;
    request.response_bytes = response.body.size();
    AnswerFrame frame;
    frame.minor = request.head.minor;
    frame.body_follows = reply.rest != nullptr;
    open_ = open_ && !edge_.draining && !(frame.body_follows && frame.minor == 0);
    frame.keep_alive = open_;
    const bool bodiless = request.head.method == "HEAD" || forbids_body(response.status);
    const auto head = answer_head(response, reply.marks, frame);

    stream_.expires_after(edge_.policy.timeouts.progress);
    if (reply.rest) {
        reply.content = std::move(response);
        const auto written = co_await stream_.write({head, {}, {}});
        if (written.failed) stream_.close();
        co_await deliver_rest(request, reply);
    } else {
        const auto body = bodiless ? std::string_view{} : std::string_view(response.body);
        const auto written = co_await stream_.write({head, body, {}});
        if (written.failed) open_ = false;
    }
    log(request);
    if (!open_ && stream_.is_open()) co_await linger();
}

// Reads an oversized answer to its end, whether or not the client still listens: its end is its
// record.
awaitable<void> Session::deliver_rest(Request& request, Reply& reply)
{
    const bool chunked = request.head.minor == 1;
    BodyStream::Piece piece{BodyStream::State::more,
                            std::move(std::get<core::Response>(reply.content).body)};
    for (;;) {
        const bool ended = piece.state == BodyStream::State::ended;
        if (stream_.is_open() && piece.state != BodyStream::State::truncated) {
            stream_.expires_after(edge_.policy.timeouts.progress);
            std::string before;
            if (chunked && !piece.bytes.empty()) before = wire::chunk_begin(piece.bytes.size());
            std::string after;
            if (chunked && !piece.bytes.empty()) after = wire::chunk_end;
            if (chunked && ended) after.append(wire::last_chunk);
            const auto written = co_await stream_.write({before, piece.bytes, after});
            if (written.failed) stream_.close();
        }
        request.response_bytes += piece.bytes.size();
        if (piece.state != BodyStream::State::more) break;
        piece = co_await reply.rest->next();
    }
    if (piece.state == BodyStream::State::truncated) {
        stream_.abort();
        open_ = false;
    }
}

// Lets the client read our answer before the connection goes: closing over unread bytes would reset
// it.
awaitable<void> Session::linger()
{
    stream_.shutdown_send();
    stream_.expires_after(linger_time);
    std::size_t dropped = 0;
    while (dropped < linger_bytes) {
        stream_.consume(stream_.buffered().size());
        const auto added = co_await stream_.fill();
        if (!added) break;
        dropped += *added;
    }
}

void Session::log(const Request& request)
{
    if (!edge_.log_access) return;
    const auto address = peer_.address.to_string();
    const std::string_view target = request.head.target;
    AccessRecord record;
    record.request_id = request.id;
    record.client_ip = address;
    record.method = request.head.method;
    record.path = target.substr(0, target.find('?'));
    record.route = request.route;
    record.decision = request.decision;
    record.key_id = request.key_id;
    record.error_code = request.error_code;
    record.status = request.status;
    record.upstream_status = request.report.upstream_status;
    record.reason = core::to_string(request.report.reason);
    record.total =
        std::chrono::duration_cast<std::chrono::microseconds>(edge_.watchdog.now() - request.begun);
    record.upstream = request.report.upstream_time;
    record.request_bytes = request.request_bytes;
    record.response_bytes = request.response_bytes;
    record.replayed = request.replayed;
    edge_.log_access(record);
}

}  // namespace onceward
