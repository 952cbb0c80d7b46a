// Natural batching: what gathers while one round trip is under way becomes the next statement. A
// lone item is a batch of one and waits for no timer (decision 27).
#pragma once

#include "store/pg_lane.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace onceward {

inline constexpr std::size_t pg_batch_max = 256;
inline constexpr std::size_t pg_queue_max = 8'192;

template <class Call, class Answer>
class PgBatcher : public PgWork {
public:
    struct Item {
        using Pointer = std::unique_ptr<Item>;
        using Handler = boost::asio::any_completion_handler<void(Pointer)>;
        explicit Item(Call made) : call(std::move(made)) {}

        Call call;
        StoreResult<Answer> answer{StoreError::unavailable};
        std::optional<Handler> handler;  // Never assigned: that recurses for ever in Boost 1.81.
    };
    using ItemPtr = typename Item::Pointer;
    using Batch = std::vector<Item*>;

    PgBatcher(PgLane& lane, std::size_t most) : lane_(lane), most_(most) {}

    // Resumes on the lane's executor, never from inside.
    awaitable<StoreResult<Answer>> ask(Call call)
    {
        if (items_.size() >= pg_queue_max) co_return StoreError::overloaded;
        if (lane_.refusing()) {
            lane_.kick();
            count(lane_.session().stats->refused, 1);
            co_return StoreError::unavailable;
        }
        auto item = std::make_unique<Item>(std::move(call));
        auto start = [this](auto handler, ItemPtr started) {
            started->handler.emplace(std::move(handler));
            items_.push_back(std::move(started));
            lane_.kick();
        };
        using Token = boost::asio::use_awaitable_t<>;
        const auto& token = boost::asio::use_awaitable;
        auto done = co_await boost::asio::async_initiate<const Token&, void(ItemPtr)>(
            start, token, std::move(item));
        co_return std::move(done->answer);
    }

    bool empty() const override { return items_.empty(); }
    std::size_t waiting() const { return items_.size(); }

    awaitable<void> run(PgLane&) override
    {
        std::vector<ItemPtr> taken;
        Batch batch;
        while (!items_.empty() && batch.size() < most_ && joins(batch, *items_.front())) {
            batch.push_back(items_.front().get());
            taken.push_back(std::move(items_.front()));
            items_.pop_front();
        }
        count(lane_.session().stats->items, batch.size());
        co_await work(std::move(batch));
        deliver(std::move(taken));
    }

    void refuse() override
    {
        std::vector<ItemPtr> refused;
        for (auto& item : items_)
            refused.push_back(std::move(item));
        items_.clear();
        count(lane_.session().stats->refused, refused.size());
        deliver(std::move(refused));
    }

protected:
    // Answers every item of the batch, which is not empty. An item that is not answered was not
    // attempted.
    virtual awaitable<void> work(Batch batch) = 0;
    // May this item, the next one, be in the same statement? The first always is.
    virtual bool joins(const Batch&, const Item&) const { return true; }

    awaitable<PgAnswer> execute(const PgStatement* statement, PgParameters parameters)
    {
        count(lane_.session().stats->statements, 1);
        auto answer = co_await lane_.execute(statement, std::move(parameters));
        co_return answer;
    }

    // For a statement that is not one of the lane's: prepared and executed in one round trip.
    awaitable<PgAnswer> execute_once(const PgStatement* statement, PgParameters parameters)
    {
        count(lane_.session().stats->statements, 1);
        auto answer = co_await lane_.execute_once(statement, std::move(parameters));
        co_return answer;
    }

    static void fail(const Batch& batch, StoreError error)
    {
        for (auto* item : batch)
            item->answer = error;
    }

    // Trouble that one item may have brought over all of them: they are tried in halves.
    static bool worth_splitting(const PgError& error)
    {
        return !error.may_have_happened && !ends_connection(error.fault) &&
               error.fault != PgFault::disk_full;
    }

    PgLane& lane() { return lane_; }

    static void count(std::atomic<std::uint64_t>& counter, std::size_t by)
    {
        counter.fetch_add(by, std::memory_order_relaxed);
    }

private:
    void deliver(std::vector<ItemPtr> items)
    {
        if (items.empty()) return;
        boost::asio::post(lane_.executor(), [items = std::move(items)]() mutable {
            for (auto& item : items) {
                typename Item::Handler handler(std::move(*item->handler));
                std::move(handler)(std::move(item));
            }
        });
    }

    PgLane& lane_;
    const std::size_t most_;
    std::deque<ItemPtr> items_;
};

}  // namespace onceward
