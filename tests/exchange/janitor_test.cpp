// The cleaner's loop.
#include "janitor.hpp"

#include "exchange/story.hpp"

using namespace onceward;
using namespace onceward::test;
using core::State;

TEST_CASE("EXP-3 the janitor moves overdue records on, reports what changed, and stops when told")
{
    Story story;
    story.ask();
    std::vector<SweepReport> reports;
    JanitorPace pace;
    pace.interval = 10s;
    Janitor janitor(story.store, story.clock, pace,
                    [&](const SweepReport& report) { reports.push_back(report); });
    boost::asio::co_spawn(story.io, janitor.run(), boost::asio::detached);
    story.settle_down();
    CHECK(story.store.sweeps == 1);
    story.advance(59s);
    CHECK(story.row().state == State::pending);
    CHECK(reports.back().became_unknown == 0);
    story.advance(1s);
    CHECK(story.row().state == State::unknown);
    CHECK(reports.back().became_unknown == 1);

    const auto sweeps = story.store.sweeps;
    janitor.stop();
    story.settle_down();
    story.advance(1h);
    CHECK(story.store.sweeps == sweeps);
}
