// The cleaner's statements, the operators' list and the partitions of answers, on the side lane.
#include "store/postgres_client.hpp"
#include "store/postgres_statements.hpp"

#include <algorithm>

namespace onceward {

namespace {

constexpr std::int64_t rows_on_a_page = 50;  // Roughly; only the pace of the round depends on it.
constexpr std::chrono::hours between_maintenance{1};

}  // namespace

awaitable<PostgresClient::Answered> PostgresClient::plainly(const PgStatement* statement,
                                                            PgParameters parameters)
{
    PgPlain wish{statement, std::move(parameters)};
    auto answer = co_await plain_->ask(std::move(wish));
    co_return answer;
}

awaitable<StoreResult<SweepReport>> PostgresClient::sweep(std::size_t rows)
{
    co_await maintain();
    SweepReport report;
    const auto most = static_cast<std::int64_t>(rows);
    const auto lease = opened_->shortest_lease.count();
    PgParameters overdue{int8_value(most), int8_value(lease)};
    const auto swept = co_await plainly(&statements::sweep_pending, std::move(overdue));
    if (!swept) co_return swept.error();
    report.became_unknown = (*swept)->rows();
    PgParameters mark{int8_value(lease)};
    const auto moved = co_await plainly(&statements::move_mark, std::move(mark));
    if (!moved) co_return moved.error();
    auto result = co_await sweep_round(rows, report);
    co_return result;
}

// Round and round through the whole table, a few pages in a pass; all janitors share one mark.
awaitable<StoreResult<SweepReport>> PostgresClient::sweep_round(std::size_t rows,
                                                                SweepReport report)
{
    const auto most = static_cast<std::int64_t>(rows);
    const auto where = co_await plainly(&statements::round, {});
    if (!where) co_return where.error();
    const auto pages = (*where)->integer(0, 1);
    if (pages == 0) co_return report;
    auto first = (*where)->integer(0, 0);
    if (first >= pages) first = 0;
    const auto behind = std::min(pages, first + std::max<std::int64_t>(1, most / rows_on_a_page));

    PgParameters window{int8_value(first), int8_value(behind), int8_value(most)};
    const auto swept = co_await plainly(&statements::sweep_pages, std::move(window));
    if (!swept) co_return swept.error();
    report.became_unknown += static_cast<std::size_t>((*swept)->integer(0, 0));
    report.expired += static_cast<std::size_t>((*swept)->integer(0, 1));
    report.examined += static_cast<std::size_t>((*swept)->integer(0, 3));
    // More than was allowed: the same pages again.
    if ((*swept)->integer(0, 2) >= most) co_return report;
    PgParameters next{int8_value(behind == pages ? 0 : behind)};
    const auto set = co_await plainly(&statements::set_round, std::move(next));
    if (!set) co_return set.error();
    co_return report;
}

awaitable<void> PostgresClient::maintain()
{
    const auto now = std::chrono::steady_clock::now();
    if (maintained_ != decltype(maintained_){} && now < maintained_ + between_maintenance)
        co_return;
    PgParameters days{int4_value(opened_->longest_days)};
    const auto done = co_await plainly(&statements::maintain, std::move(days));
    if (!done) co_return;
    maintained_ = now;
    const auto failed = (*done)->integer(0, 2);
    const auto strays = static_cast<std::uint64_t>((*done)->integer(0, 3));
    const auto& session = *opened_->session;
    session.stats->stray_bodies.store(strays, std::memory_order_relaxed);
    if (strays > 0 || failed > 0) {
        session.say("partitions of answers: " + std::to_string(failed) +
                    " days could not be made or dropped, " + std::to_string(strays) +
                    " answers lie in bodies_default");
    }
}

awaitable<StoreResult<std::vector<Listed>>> PostgresClient::unknown(std::size_t limit)
{
    PgParameters most{int8_value(static_cast<std::int64_t>(limit))};
    const auto found = co_await plainly(&statements::unknown, std::move(most));
    if (!found) co_return found.error();
    std::vector<Listed> listed;
    for (std::size_t line = 0; line < (*found)->rows(); ++line) {
        constexpr int answer_column = 15;
        auto read = read_row(**found, line, opened_->tiers);
        const bool whole = read && (read->body_day == 0 ||
                                    read_body(**found, line, answer_column, read->row.answer));
        if (!whole) continue;
        auto record = core::view(read->row, read->now);
        if (record.state == core::State::unknown)
            listed.push_back({read->digest, std::move(record)});
    }
    co_return listed;
}

}  // namespace onceward
