// Ending a backend. It is the owner of the connection that does it, so that no privilege is needed;
// and it is a termination, not a cancellation: a cancelled wait for a standby would report success
// (D6).
#include "store/pg_control.hpp"

namespace onceward {

namespace {

const PgStatement end_backend{
    "end_backend",
    "SELECT count(*) FROM (SELECT pg_terminate_backend(pid, 500) AS gone FROM pg_stat_activity"
    " WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint = $2) AS asked "
    "WHERE NOT gone",
    {PgType::int8, PgType::int8}};

}  // namespace

class PgControl::Ends : public PgBatcher<End, PgControl::Ended> {
public:
    explicit Ends(PgLane& lane) : PgBatcher(lane, 1) {}

private:
    awaitable<void> work(Batch batch) override
    {
        auto& item = *batch.front();
        item.answer = Ended::yes;
        if (item.call.pid == 0) co_return;
        PgParameters parameters{int8_value(item.call.pid), int8_value(item.call.started)};
        const auto answer = co_await execute(&end_backend, std::move(parameters));
        if (answer.error) {
            item.answer = StoreError::unavailable;
            co_return;
        }
        const bool gone = answer.result.integer(0, 0) == 0;
        item.answer = gone ? Ended::yes : Ended::no;
        if (gone) count(lane().session().stats->ended, 1);
    }
};

PgControl::PgControl(boost::asio::any_io_executor executor,
                     std::shared_ptr<const PgSession> session)
{
    PgLaneParts parts;
    parts.limit = session->limits.connect;
    parts.session = std::move(session);
    parts.statements = {&end_backend};
    lane_ = std::make_shared<PgLane>(std::move(executor), std::move(parts));
    auto ends = std::make_unique<Ends>(*lane_);
    ends_ = ends.get();
    lane_->add(std::move(ends));
}

awaitable<bool> PgControl::ensure()
{
    End nothing;
    const auto done = co_await ends_->ask(nothing);
    co_return done.has_value();
}

awaitable<bool> PgControl::end(PgFacts backend)
{
    End wish{backend.pid, backend.started};
    const auto done = co_await ends_->ask(wish);
    co_return done && *done == Ended::yes;
}

}  // namespace onceward
