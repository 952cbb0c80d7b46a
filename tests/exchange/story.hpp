// What the stories are told with: one exchange over scripted ports, driven by hand.
#pragma once

#include "exchange.hpp"
#include "fakes/manual_clock.hpp"
#include "fakes/model_gate.hpp"
#include "fakes/recording_observer.hpp"
#include "fakes/scripted_store.hpp"
#include "fakes/scripted_upstream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

namespace onceward::test {

using namespace std::chrono_literals;

inline core::Response created(std::string body)
{
    core::Response response;
    response.status = 201;
    response.fields.add("Location", "/charges/1");
    response.fields.add("Set-Cookie", "session=1");
    response.body = std::move(body);
    return response;
}

inline core::Response status(int code, std::string body = "")
{
    core::Response response;
    response.status = code;
    response.body = std::move(body);
    return response;
}

// One client's call: absent until it is answered.
using Call = std::shared_ptr<std::optional<Reply>>;

// One worker, and another when one is needed. Nothing runs but inside its methods.
class Story {
public:
    explicit Story(ExchangeLimits limits = {})
        : exchange({store, gate, upstream, clock, observer}, limits),
          elsewhere({store, gate, upstream, clock, observer}, limits)
    {
    }
    ~Story()
    {
        clock.drop_all();
        upstream.drop_all();
    }
    Story(const Story&) = delete;
    Story& operator=(const Story&) = delete;

    // A client sends `body` under the one key of this story.
    Call ask(const std::string& body = "pay 10") { return ask_on(exchange, body); }

    Call ask_on(Exchange& worker, const std::string& body = "pay 10")
    {
        Guarded guarded;
        guarded.route = std::make_shared<const core::Route>(route);
        guarded.digest = key;
        guarded.fingerprint.bytes.fill(static_cast<unsigned char>(body.size()));
        guarded.fingerprint_rule = 1;
        guarded.request.method = "POST";
        guarded.request.body = body;
        auto call = std::make_shared<std::optional<Reply>>();
        boost::asio::co_spawn(io, run(&worker, std::move(guarded), call), boost::asio::detached);
        settle_down();
        return call;
    }

    // The oldest request at the upstream is answered.
    void answer(Sent sent)
    {
        upstream.answer(std::move(sent));
        settle_down();
    }

    void advance(core::Millis duration)
    {
        const auto target = clock.time() + duration;
        for (auto due = clock.next_due(); due && *due <= target; due = clock.next_due()) {
            clock.move_to(*due);
            settle_down();
        }
        clock.move_to(target);
        settle_down();
    }

    // Everything that can run without time passing runs.
    void settle_down()
    {
        io.restart();
        io.poll();
    }

    // How many, once all is done.
    std::shared_ptr<std::size_t> begin_abandon()
    {
        auto count = std::make_shared<std::size_t>(0);
        boost::asio::co_spawn(io, run_abandon(&exchange, count), boost::asio::detached);
        settle_down();
        return count;
    }

    std::size_t abandon() { return *begin_abandon(); }

    // Reads an oversized answer to its end; how it ended.
    BodyStream::State drain(Reply& reply, std::string& body)
    {
        auto state = std::make_shared<BodyStream::State>(BodyStream::State::more);
        boost::asio::co_spawn(io, read(reply.rest.get(), &body, state), boost::asio::detached);
        settle_down();
        return *state;
    }

    core::Row& row() { return *store.rows.at(key); }
    core::Record record() { return core::view(row(), store.now()); }

    core::Digest key{{1, 2, 3}};
    core::Route route = default_route();
    ManualClock clock;
    ScriptedStore store{clock};
    ModelGate gate;
    ScriptedUpstream upstream;
    RecordingObserver observer;
    Exchange exchange;
    Exchange elsewhere;             // Another worker over the same ports.
    boost::asio::io_context io{1};  // Last: coroutines end before what they use.

private:
    static core::Route default_route()
    {
        core::Route made;
        made.name = "charges";
        return made;
    }

    static awaitable<void> run(Exchange* exchange, Guarded guarded, Call call)
    {
        auto reply = co_await exchange->handle(std::move(guarded));
        *call = std::move(reply);
    }

    static awaitable<void> run_abandon(Exchange* exchange, std::shared_ptr<std::size_t> count)
    {
        const auto abandoned = co_await exchange->abandon_in_flight();
        *count = abandoned;
    }

    static awaitable<void> read(BodyStream* stream, std::string* body,
                                std::shared_ptr<BodyStream::State> state)
    {
        while (*state == BodyStream::State::more) {
            const auto piece = co_await stream->next();
            *body += piece.bytes;
            *state = piece.state;
        }
    }
};

inline const core::Response& response_of(const Call& call)
{
    REQUIRE(*call);
    REQUIRE(std::holds_alternative<core::Response>((*call)->content));
    return std::get<core::Response>((*call)->content);
}

inline const core::Problem& problem_of(const Call& call)
{
    REQUIRE(*call);
    REQUIRE(std::holds_alternative<core::Problem>((*call)->content));
    return std::get<core::Problem>((*call)->content);
}

inline bool is_problem(const Call& call, int code, core::ProblemCode kind)
{
    const auto& problem = problem_of(call);
    return problem.effective_status() == code && problem.code == kind;
}

}  // namespace onceward::test
