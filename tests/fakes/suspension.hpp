// A coroutine's stop that a test ends by hand, with a value.
#pragma once

#include "ports/result.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace onceward::test {

// At most one coroutine waits here at a time. Whoever owns a Suspension must not live inside the
// waiting coroutine, or the two would keep each other alive; destroying it destroys the coroutine.
template <class T>
class Suspension {
public:
    bool waiting() const { return resume_ != nullptr; }

    awaitable<T> wait()
    {
        const auto initiate = [this](auto handler) {
            resume_ = std::make_unique<Resume<decltype(handler)>>(std::move(handler));
        };
        using Token = const boost::asio::use_awaitable_t<>;
        return boost::asio::async_initiate<Token, void(T)>(initiate, boost::asio::use_awaitable);
    }

    // The coroutine goes on when its executor runs next, never inside this call.
    void resume(T value)
    {
        const auto stopped = std::move(resume_);
        stopped->run(std::move(value));
    }

    void drop() { resume_.reset(); }

private:
    struct Resumable {
        virtual ~Resumable() = default;
        virtual void run(T value) = 0;
    };
    template <class Handler>
    struct Resume final : Resumable {
        explicit Resume(Handler made) : handler(std::move(made)) {}
        void run(T value) override
        {
            const auto executor = boost::asio::get_associated_executor(handler);
            boost::asio::post(executor,
                              [on = std::move(handler), with = std::move(value)]() mutable {
                                  std::move(on)(std::move(with));
                              });
        }
        Handler handler;
    };

    std::unique_ptr<Resumable> resume_;
};

}  // namespace onceward::test
