// One worker's side of the PostgreSQL store: its lanes, and the order of questions behind each
// operation.
#pragma once

#include "ports/key_store.hpp"
#include "store/pg_control.hpp"
#include "store/postgres_batches.hpp"
#include "store/postgres_opening.hpp"

#include <deque>
#include <set>

namespace onceward {

// Tokens whose reservation may or may not have been made. While the lane is down, asking again for
// one of these must say `ambiguous` and not `unavailable`, or its row would never be given back.
class UncertainTokens {
public:
    void add(const core::Token& token);
    void remove(const core::Token& token) { tokens_.erase(token); }
    bool has(const core::Token& token) const { return tokens_.contains(token); }

private:
    std::set<core::Token> tokens_;
    std::deque<core::Token> order_;
};

class PostgresClient final : public KeyStore {
public:
    PostgresClient(std::shared_ptr<const OpenedPostgres> opened,
                   boost::asio::any_io_executor worker);
    ~PostgresClient() override;

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override;
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override;
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override;
    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override;
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override;

private:
    using Found = StoreResult<std::shared_ptr<const ReadRow>>;
    using Answered = StoreResult<std::shared_ptr<const PgResult>>;

    std::shared_ptr<PgLane> lane(std::vector<const PgStatement*> statements, core::Millis limit,
                                 const PgStatement* probe);
    void make_lanes();
    awaitable<StoreResult<core::Reservation>> try_reserve(core::Digest digest, core::Claim claim);
    awaitable<StoreResult<Met>> insert(core::Digest digest, core::Claim claim);
    awaitable<Answered> plainly(const PgStatement* statement, PgParameters parameters);
    awaitable<StoreResult<SweepReport>> sweep_round(std::size_t rows, SweepReport report);
    awaitable<void> maintain();

    std::shared_ptr<const OpenedPostgres> opened_;
    boost::asio::any_io_executor worker_;
    TroubledKeys troubled_;
    UncertainTokens uncertain_;
    std::shared_ptr<PgControl> control_;
    std::shared_ptr<PgLane> reservations_, completions_, reads_, side_;
    InsertBatcher* inserts_ = nullptr;
    InsertBatcher* lone_inserts_ = nullptr;
    ClaimBatcher* claims_ = nullptr;
    SettleBatcher* settles_ = nullptr;
    SettleBatcher* heals_ = nullptr;
    ReadBatcher* rows_ = nullptr;
    ConfirmBatcher* confirm_reserved_ = nullptr;
    ConfirmBatcher* confirm_settled_ = nullptr;
    PlainBatcher* plain_ = nullptr;
    std::chrono::steady_clock::time_point maintained_{};
};

}  // namespace onceward
