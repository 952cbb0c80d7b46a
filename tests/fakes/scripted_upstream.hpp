// A legacy API that answers as a test scripted it, at once or when the test says so.
#pragma once

#include "fakes/suspension.hpp"
#include "ports/upstream.hpp"

#include <deque>
#include <vector>

namespace onceward::test {

// A body that goes on: its pieces, one by one.
class ScriptedBody final : public BodyStream {
public:
    explicit ScriptedBody(std::deque<Piece> pieces) : pieces_(std::move(pieces)) {}

    awaitable<Piece> next() override
    {
        auto piece = std::move(pieces_.front());
        pieces_.pop_front();
        co_return piece;
    }

private:
    std::deque<Piece> pieces_;
};

// Every call beyond the script is held until answer() is called.
class ScriptedUpstream final : public Upstream {
public:
    awaitable<Sent> send(std::shared_ptr<const core::Route>, core::Request request) override
    {
        requests.push_back(std::move(request));
        if (!script_.empty()) {
            auto sent = std::move(script_.front());
            script_.pop_front();
            co_return sent;
        }
        held_.push_back(std::make_unique<Suspension<Sent>>());
        auto& stop = *held_.back();
        auto sent = co_await stop.wait();
        co_return sent;
    }

    // The next call without an answer gets this one.
    void will(Sent sent) { script_.push_back(std::move(sent)); }

    // Ends the oldest call that is held.
    void answer(Sent sent)
    {
        const auto oldest = std::move(held_.front());
        held_.pop_front();
        oldest->resume(std::move(sent));
    }

    std::size_t sends() const { return requests.size(); }
    std::size_t held() const { return held_.size(); }
    void drop_all() { held_.clear(); }

    std::vector<core::Request> requests;

private:
    std::deque<Sent> script_;
    std::deque<std::unique_ptr<Suspension<Sent>>> held_;
};

}  // namespace onceward::test
