// Reserve, settle and find as sequences of batched statements. What a row means is decided by
// core/record.hpp, by the clock that the row came with.
#include "store/postgres_client.hpp"

#include "store/postgres_statements.hpp"

namespace onceward {

namespace {

constexpr int rounds_max = 4;  // A row that changes under each of our looks.
constexpr std::size_t uncertain_max = 8'192;
constexpr std::size_t lone_max = 16;  // Doubtful keys that wait for the side lane.

}  // namespace

void UncertainTokens::add(const core::Token& token)
{
    if (!tokens_.insert(token).second) return;
    order_.push_back(token);
    if (order_.size() <= uncertain_max) return;
    tokens_.erase(order_.front());
    order_.pop_front();
}

PostgresClient::PostgresClient(std::shared_ptr<const OpenedPostgres> opened,
                               boost::asio::any_io_executor worker)
    : opened_(std::move(opened)), worker_(std::move(worker))
{
    control_ = std::make_shared<PgControl>(worker_, opened_->session);
    make_lanes();
}

PostgresClient::~PostgresClient()
{
    for (const auto& lane : {reservations_, completions_, reads_, side_})
        lane->close();
    control_->close();
}

std::shared_ptr<PgLane> PostgresClient::lane(std::vector<const PgStatement*> statements,
                                             core::Millis limit, const PgStatement* probe)
{
    PgLaneParts parts;
    parts.session = opened_->session;
    parts.statements = std::move(statements);
    parts.statements.push_back(probe);
    parts.limit = limit;
    parts.control = control_;
    parts.probe = probe;
    return std::make_shared<PgLane>(worker_, std::move(parts));
}

void PostgresClient::make_lanes()
{
    namespace sql = statements;
    const auto& limits = opened_->session->limits;
    const auto add = [](PgLane& lane, auto batcher) {
        auto* raw = batcher.get();
        lane.add(std::move(batcher));
        return raw;
    };
    reservations_ = lane({&sql::insert, &sql::claim}, limits.statement, &sql::confirm);
    completions_ = lane({&sql::settle, &sql::heal}, limits.completion, &sql::confirm);
    reads_ = lane({&sql::read}, limits.statement, &sql::look);
    side_ = lane({&sql::insert, &sql::sweep_pending, &sql::move_mark, &sql::sweep_pages,
                  &sql::round, &sql::set_round, &sql::unknown, &sql::maintain},
                 limits.housekeeping, &sql::confirm);
    inserts_ = add(*reservations_,
                   std::make_unique<InsertBatcher>(*reservations_, pg_batch_max, troubled_));
    claims_ = add(*reservations_, std::make_unique<ClaimBatcher>(*reservations_, pg_batch_max));
    confirm_reserved_ = add(*reservations_, std::make_unique<ConfirmBatcher>(*reservations_));
    settles_ = add(*completions_, std::make_unique<SettleBatcher>(*completions_, &sql::settle));
    heals_ = add(*completions_, std::make_unique<SettleBatcher>(*completions_, &sql::heal));
    confirm_settled_ = add(*completions_, std::make_unique<ConfirmBatcher>(*completions_));
    rows_ = add(*reads_, std::make_unique<ReadBatcher>(*reads_, opened_->tiers));
    lone_inserts_ = add(*side_, std::make_unique<InsertBatcher>(*side_, 1, troubled_));
    plain_ = add(*side_, std::make_unique<PlainBatcher>(*side_));
}

awaitable<StoreResult<core::Reservation>> PostgresClient::reserve(core::Digest digest,
                                                                  core::Claim claim)
{
    // A tier that this store was not opened with has no name to be kept under.
    if (claim.tier >= opened_->tiers.configured()) co_return StoreError::unavailable;
    auto reservation = co_await try_reserve(digest, claim);
    if (reservation) {
        uncertain_.remove(claim.token);
    } else if (reservation.error() == StoreError::ambiguous) {
        uncertain_.add(claim.token);
    } else if (uncertain_.has(claim.token)) {
        co_return StoreError::ambiguous;
    }
    co_return reservation;
}

awaitable<StoreResult<core::Reservation>> PostgresClient::try_reserve(core::Digest digest,
                                                                      core::Claim claim)
{
    for (int round = 0; round < rounds_max; ++round) {
        const auto inserted = co_await insert(digest, claim);
        if (!inserted) co_return inserted.error();
        if (*inserted == Met::yes) co_return core::Reservation(core::Won{{claim.token, 1}});

        PgRead wanted{digest};
        const auto found = co_await rows_->ask(wanted);
        if (!found) co_return found.error();
        if (!*found) continue;  // Purged between the two statements.
        core::Slot slot = (*found)->row;
        auto reservation = core::reserve(slot, claim, (*found)->now);
        if (std::holds_alternative<core::Held>(reservation)) co_return reservation;

        if ((*found)->row.state == core::State::released) {
            PgClaim wish{digest, (*found)->row.epoch, claim,
                         static_cast<std::int16_t>(opened_->tiers.id_of(claim.tier))};
            const auto taken = co_await claims_->ask(wish);
            if (!taken) co_return taken.error();
            if (*taken == Met::yes) co_return reservation;
            continue;
        }
        // Our own, from an attempt whose answer was lost. That it can be read does not prove that
        // it is where the durability level wants it; a commit behind it does (W6e).
        PgConfirm nothing;
        const auto confirmed = co_await confirm_reserved_->ask(nothing);
        if (!confirmed) co_return StoreError::ambiguous;
        co_return reservation;
    }
    co_return StoreError::unavailable;
}

awaitable<StoreResult<Met>> PostgresClient::insert(core::Digest digest, core::Claim claim)
{
    PgInsert wish{digest, claim, static_cast<std::int16_t>(opened_->tiers.id_of(claim.tier))};
    if (!troubled_.has(digest)) {
        const auto inserted = co_await inserts_->ask(wish);
        co_return inserted;
    }
    // While others ask for doubtful keys, the answer is the one that asking would most likely give.
    if (lone_inserts_->waiting() >= lone_max) co_return StoreError::ambiguous;
    const auto inserted = co_await lone_inserts_->ask(wish);
    co_return inserted;
}

awaitable<StoreResult<core::Settled>> PostgresClient::settle(core::Digest digest,
                                                             core::Ticket ticket,
                                                             core::Settlement settlement)
{
    const PgSettle wish{digest, ticket,
                        std::make_shared<const core::Settlement>(std::move(settlement))};
    for (int round = 0; round < rounds_max; ++round) {
        const auto settled = co_await settles_->ask(wish);
        if (!settled) co_return settled.error();
        if (*settled == Met::yes) co_return core::Settled::recorded;

        // A repetition, a late answer to an UNKNOWN row, or a holder that is no longer one.
        PgRead wanted{digest};
        const auto found = co_await rows_->ask(wanted);
        if (!found) co_return found.error();
        if (!*found) co_return core::Settled::fenced;
        core::Slot slot = (*found)->row;
        const auto judged = core::settle(slot, ticket, *wish.settlement, (*found)->now);
        if (judged == core::Settled::fenced) co_return judged;
        if (*slot == (*found)->row) {
            PgConfirm nothing;
            const auto confirmed = co_await confirm_settled_->ask(nothing);
            if (!confirmed) co_return StoreError::ambiguous;
            co_return judged;
        }
        if ((*found)->row.state != core::State::unknown) continue;
        const auto healed = co_await heals_->ask(wish);
        if (!healed) co_return healed.error();
        if (*healed == Met::yes) co_return core::Settled::recorded;
    }
    co_return StoreError::unavailable;
}

awaitable<StoreResult<std::optional<core::Record>>> PostgresClient::find(core::Digest digest)
{
    PgRead wanted{digest};
    const auto found = co_await rows_->ask(wanted);
    if (!found) co_return found.error();
    if (!*found) co_return std::optional<core::Record>();
    co_return std::optional<core::Record>(core::view((*found)->row, (*found)->now));
}

}  // namespace onceward
