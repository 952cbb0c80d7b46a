// A lane's life: connected, down until the next try, or stalled until a probe comes back.
#include "store/pg_lane.hpp"

#include "store/pg_control.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace onceward {

PgLane::PgLane(boost::asio::any_io_executor executor, PgLaneParts parts)
    : executor_(executor), parts_(std::move(parts)), connection_(executor)
{
}

void PgLane::kick()
{
    if (serving_ || closed_) return;
    serving_ = true;
    boost::asio::co_spawn(executor_, serve(shared_from_this()), boost::asio::detached);
}

bool PgLane::refusing() const
{
    if (stalled_) return true;
    return !connection_.is_open() && pause_ > core::Millis{0} &&
           std::chrono::steady_clock::now() < next_try_;
}

void PgLane::refuse_all()
{
    for (auto& queue : queues_)
        queue->refuse();
}

awaitable<void> PgLane::serve(std::shared_ptr<PgLane> self)
{
    auto& lane = *self;
    for (;;) {
        if (lane.stalled_) {
            lane.refuse_all();
            co_await lane.make_ready();
        }
        std::size_t looked = 0;
        while (looked < lane.queues_.size() && lane.queues_[lane.turn_]->empty()) {
            lane.turn_ = (lane.turn_ + 1) % lane.queues_.size();
            ++looked;
        }
        if (looked == lane.queues_.size() || lane.closed_) break;
        const auto ready = co_await lane.make_ready();
        if (lane.closed_) break;
        if (!ready) {
            lane.refuse_all();
            continue;
        }
        auto& queue = *lane.queues_[lane.turn_];
        lane.turn_ = (lane.turn_ + 1) % lane.queues_.size();
        co_await queue.run(lane);
    }
    lane.serving_ = false;
}

awaitable<bool> PgLane::make_ready()
{
    if (!stalled_ && connection_.usable()) co_return true;
    if (std::chrono::steady_clock::now() < next_try_) co_return false;
    if (parts_.control) {
        const auto there = co_await parts_.control->ensure();
        if (!there) {
            back_off("the control connection cannot be opened");
            co_return false;
        }
    }
    const auto ended = co_await end_given_up();
    if (!ended) co_return false;
    const auto connected = co_await connect();
    if (!connected) co_return false;
    const auto back = co_await probe();
    co_return back && !closed_;
}

awaitable<bool> PgLane::end_given_up()
{
    if (!given_up_ || !parts_.control) co_return true;
    const auto backend = *given_up_;
    const auto ended = co_await parts_.control->end(backend);
    if (ended) {
        given_up_.reset();
        co_return true;
    }
    back_off("a backend that does not answer could not be ended");
    co_return false;
}

awaitable<bool> PgLane::connect()
{
    const auto timeline = facts_.timeline;
    auto failed = co_await begin_session(connection_, parts_.session, parts_.statements, facts_);
    if (!failed) {
        if (!timeline.empty() && timeline != facts_.timeline) note_promotion(timeline);
        co_return true;
    }
    connection_.close();
    back_off(failed->text);
    co_return false;
}

// What the old primary had acknowledged may be missing here, unless a synchronous standby took
// over.
void PgLane::note_promotion(const std::string& before)
{
    parts_.session->stats->promotions.fetch_add(1, std::memory_order_relaxed);
    parts_.session->say("another server is the primary: timeline " + before + " before, " +
                        facts_.timeline + " now");
}

awaitable<bool> PgLane::probe()
{
    if (stalled_ && parts_.probe != nullptr) {
        auto answer = co_await connection_.execute(parts_.probe, {}, parts_.limit);
        if (answer.error) {
            note(*answer.error);
            connection_.close();
            back_off(answer.error->text);
            co_return false;
        }
    }
    stalled_ = false;
    pause_ = core::Millis{0};
    if (!trouble_.empty()) parts_.session->say("PostgreSQL answers again");
    trouble_.clear();
    co_return true;
}

awaitable<PgAnswer> PgLane::execute(const PgStatement* statement, PgParameters parameters)
{
    auto answer = co_await connection_.execute(statement, std::move(parameters), parts_.limit);
    if (answer.error) note(*answer.error);
    co_return answer;
}

awaitable<PgAnswer> PgLane::execute_once(const PgStatement* statement, PgParameters parameters)
{
    std::vector<PgStep> steps(2);
    steps[0].prepare = statement;
    steps[1].execute = statement;
    steps[1].parameters = std::move(parameters);
    auto answers = co_await connection_.pipeline(std::move(steps), parts_.limit);
    auto& answer = answers[answers[0].error ? 0 : 1];
    if (answer.error) note(*answer.error);
    co_return std::move(answer);
}

void PgLane::note(const PgError& error)
{
    auto& stats = *parts_.session->stats;
    if (error.may_have_happened) stats.ambiguous.fetch_add(1, std::memory_order_relaxed);
    if (error.fault == PgFault::lock_not_available)
        stats.lock_waits.fetch_add(1, std::memory_order_relaxed);
    if (!ends_connection(error.fault)) return;
    connection_.close();
    if (error.fault != PgFault::late) return;
    stats.given_up.fetch_add(1, std::memory_order_relaxed);
    given_up_ = facts_;
    stalled_ = true;
}

void PgLane::back_off(const std::string& why)
{
    const auto& limits = parts_.session->limits;
    pause_ = std::clamp(pause_ * 2, limits.first_pause, limits.longest_pause);
    next_try_ = std::chrono::steady_clock::now() + pause_;
    if (why == trouble_) return;
    trouble_ = why;
    parts_.session->say("PostgreSQL is not available: " + why);
}

void PgLane::close()
{
    closed_ = true;
    connection_.close();
}

}  // namespace onceward
