// One connection of a worker with the queues that it serves in turn: reconnects with back-off, and
// never has more than one backend whose answer was given up (decision 27).
#pragma once

#include "store/pg_session.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace onceward {

class PgLane;

// A queue of operations that one statement takes together.
class PgWork {
public:
    virtual ~PgWork() = default;
    virtual bool empty() const = 0;
    // Takes a batch, executes it on the lane, answers it.
    virtual awaitable<void> run(PgLane& lane) = 0;
    // Answers everything that waits: nothing was attempted.
    virtual void refuse() = 0;
};

class PgControl;

struct PgLaneParts {
    std::shared_ptr<const PgSession> session;
    std::vector<const PgStatement*> statements;
    core::Millis limit{1'000};           // For one statement.
    std::shared_ptr<PgControl> control;  // Absent for the control connection's own lane.
    // Executed before a lane that was given up serves again. It commits where the lane's statements
    // do, so that a server whose commits hang is found out by one connection and not by every
    // request.
    const PgStatement* probe = nullptr;
};

// Used on its executor only. Nothing of it runs while nobody asks: no timer, no coroutine; a
// connection that broke meanwhile is noticed, before anything is sent, by the next batch.
class PgLane : public std::enable_shared_from_this<PgLane> {
public:
    PgLane(boost::asio::any_io_executor executor, PgLaneParts parts);

    // Before the first kick. The queue lives as long as the lane.
    void add(std::unique_ptr<PgWork> work) { queues_.push_back(std::move(work)); }

    // Something was queued.
    void kick();

    // True while it is known that nothing can be done: what is asked now is refused at once.
    bool refusing() const;

    // From inside PgWork::run only. Trouble of the connection closes it.
    awaitable<PgAnswer> execute(const PgStatement* statement, PgParameters parameters);

    awaitable<PgAnswer> execute_once(const PgStatement* statement, PgParameters parameters);

    // The connection ends; what still waits is dropped, never answered.
    void close();

    const PgSession& session() const { return *parts_.session; }
    const PgFacts& facts() const { return facts_; }
    const boost::asio::any_io_executor& executor() const { return executor_; }

private:
    using Moment = std::chrono::steady_clock::time_point;

    static awaitable<void> serve(std::shared_ptr<PgLane> self);
    awaitable<bool> make_ready();
    awaitable<bool> connect();
    awaitable<bool> probe();
    awaitable<bool> end_given_up();
    void note(const PgError& error);
    void note_promotion(const std::string& before);
    void back_off(const std::string& why);
    void refuse_all();

    boost::asio::any_io_executor executor_;
    PgLaneParts parts_;
    PgConnection connection_;
    PgFacts facts_;
    std::vector<std::unique_ptr<PgWork>> queues_;
    std::size_t turn_ = 0;
    std::optional<PgFacts>
        given_up_;          // A backend whose answer was not waited for, and which may still run.
    bool stalled_ = false;  // An answer did not come, and no probe has come back since.
    bool serving_ = false;
    bool closed_ = false;
    Moment next_try_{};
    core::Millis pause_{0};
    std::string trouble_;  // What was last logged; empty while all is well.
};

}  // namespace onceward
