// From batches to arrays and back.
#include "store/postgres_batches.hpp"

#include "store/postgres_statements.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace onceward {

namespace {

constexpr core::Millis patience_in_halves{10};
constexpr std::chrono::seconds trouble_lasts{5};
constexpr std::size_t troubled_max = 1'024;
constexpr std::size_t settle_bytes_max = 4 << 20;

StoreError verdict(const PgError& error)
{
    return error.may_have_happened ? StoreError::ambiguous : StoreError::unavailable;
}

// In the order of the digests: whoever locks many rows does so in one order.
template <class Batch>
void sort(Batch& batch)
{
    std::sort(batch.begin(), batch.end(),
              [](const auto* a, const auto* b) { return a->call.digest < b->call.digest; });
}

template <class Batch>
std::pair<Batch, Batch> halves(const Batch& batch)
{
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    return {Batch(batch.begin(), middle), Batch(middle, batch.end())};
}

// yes for each item whose digest the statement returned, no for the others. The batch has no
// digest twice.
template <class Batch>
void answer_by_digest(const Batch& batch, const PgResult& result)
{
    std::set<core::Digest> met;
    for (std::size_t line = 0; line < result.rows(); ++line) {
        core::Digest digest;
        if (read_id(result.bytes(line, 0), digest)) met.insert(digest);
    }
    for (auto* item : batch)
        item->answer = met.contains(item->call.digest) ? Met::yes : Met::no;
}

template <class Batch, class Item>
bool has_digest_of(const Batch& batch, const Item& item)
{
    return std::any_of(batch.begin(), batch.end(),
                       [&](const auto* other) { return other->call.digest == item.call.digest; });
}

bool over(const ReadRow& read)
{
    return read.now >= read.row.until;
}

// Past its time a record says nothing but EXPIRED; only a RELEASED one still says what it was told.
bool answer_counts(const ReadRow& read)
{
    return read.body_day != 0 && (!over(read) || read.row.state == core::State::released);
}

}  // namespace

void TroubledKeys::add(const core::Digest& digest)
{
    const auto now = std::chrono::steady_clock::now();
    if (until_.size() >= troubled_max)
        std::erase_if(until_, [&](const auto& key) { return key.second < now; });
    if (until_.size() >= troubled_max) until_.clear();
    until_[digest] = now + trouble_lasts;
}

bool TroubledKeys::has(const core::Digest& digest) const
{
    const auto found = until_.find(digest);
    return found != until_.end() && std::chrono::steady_clock::now() < found->second;
}

awaitable<void> InsertBatcher::work(Batch batch)
{
    sort(batch);
    Batch first;
    for (auto* item : batch) {
        if (first.empty() || first.back()->call.digest != item->call.digest) first.push_back(item);
    }
    co_await attempt(first, lane().session().limits.lock_wait);
    // Of several claims of one key the first was sent; the others have lost to it, or share its
    // doubt.
    const Item* sent = nullptr;
    for (auto* item : batch) {
        if (sent != nullptr && sent->call.digest == item->call.digest) {
            if (sent->answer.has_value()) {
                item->answer = Met::no;
            } else {
                item->answer = sent->answer;
            }
        } else {
            sent = item;
        }
    }
}

awaitable<void> InsertBatcher::attempt(Batch batch, core::Millis patience)
{
    PgArray digests(PgType::uuid), tokens(PgType::uuid), fingerprints(PgType::uuid);
    PgArray rules(PgType::int4), tiers(PgType::int2), leases(PgType::int8);
    for (const auto* item : batch) {
        const auto& claim = item->call.claim;
        digests.add(item->call.digest);
        tokens.add(claim.token);
        fingerprints.add(claim.fingerprint);
        rules.add_integer(claim.fingerprint_rule);
        tiers.add_integer(item->call.tier);
        leases.add_integer(claim.lease.count());
    }
    PgParameters parameters{digests.take(),
                            tokens.take(),
                            fingerprints.take(),
                            rules.take(),
                            tiers.take(),
                            leases.take(),
                            std::to_string(patience.count()) + "ms"};
    const auto answer = co_await execute(&statements::insert, std::move(parameters));
    if (!answer.error) {
        answer_by_digest(batch, answer.result);
        for (const auto* item : batch)
            troubled_.remove(item->call.digest);
        co_return;
    }
    const auto& error = *answer.error;
    if (worth_splitting(error) && batch.size() > 1) {
        count(lane().session().stats->split, 1);
        const auto parts = halves(batch);
        co_await attempt(parts.first, patience_in_halves);
        co_await attempt(parts.second, patience_in_halves);
        co_return;
    }
    const bool in_doubt = error.fault == PgFault::lock_not_available ||
                          error.fault == PgFault::deadlock || error.fault == PgFault::serialization;
    if (in_doubt && batch.size() == 1) troubled_.add(batch.front()->call.digest);
    // Somebody else's transaction holds the key and may end either way: asking again with the same
    // token tells.
    fail(batch, in_doubt ? StoreError::ambiguous : verdict(error));
}

awaitable<void> ClaimBatcher::work(Batch batch)
{
    sort(batch);
    PgArray digests(PgType::uuid), tokens(PgType::uuid), fingerprints(PgType::uuid);
    PgArray epochs(PgType::int4), rules(PgType::int4), tiers(PgType::int2), leases(PgType::int8);
    for (const auto* item : batch) {
        const auto& claim = item->call.claim;
        digests.add(item->call.digest);
        epochs.add_integer(item->call.epoch);
        tokens.add(claim.token);
        fingerprints.add(claim.fingerprint);
        rules.add_integer(claim.fingerprint_rule);
        tiers.add_integer(item->call.tier);
        leases.add_integer(claim.lease.count());
    }
    PgParameters parameters{digests.take(), epochs.take(), tokens.take(), fingerprints.take(),
                            rules.take(),   tiers.take(),  leases.take()};
    const auto answer = co_await execute(&statements::claim, std::move(parameters));
    if (!answer.error) {
        answer_by_digest(batch, answer.result);
    } else if (worth_splitting(*answer.error) && batch.size() > 1) {
        count(lane().session().stats->split, 1);
        const auto parts = halves(batch);
        co_await work(parts.first);
        co_await work(parts.second);
    } else {
        const bool locked = answer.error->fault == PgFault::lock_not_available;
        fail(batch, locked ? StoreError::ambiguous : verdict(*answer.error));
    }
}

bool ClaimBatcher::joins(const Batch& batch, const Item& item) const
{
    return !has_digest_of(batch, item);
}

bool SettleBatcher::joins(const Batch& batch, const Item& item) const
{
    // Large answers go in smaller company, so that none waits for megabytes of others.
    std::size_t bytes = item.call.settlement->answer.body.size();
    for (const auto* other : batch)
        bytes += other->call.settlement->answer.body.size();
    return batch.empty() || (bytes <= settle_bytes_max && !has_digest_of(batch, item));
}

awaitable<void> SettleBatcher::work(Batch batch)
{
    sort(batch);
    co_await attempt(std::move(batch));
}

awaitable<void> SettleBatcher::attempt(Batch batch)
{
    PgArray digests(PgType::uuid), tokens(PgType::uuid), epochs(PgType::int4), states(PgType::int2);
    PgArray reasons(PgType::int2), kept(PgType::int2), statuses(PgType::int2), keep(PgType::int8);
    PgArray headers(PgType::bytea), bodies(PgType::bytea);
    for (const auto* item : batch) {
        const auto& settlement = *item->call.settlement;
        const auto& answer = settlement.answer;
        digests.add(item->call.digest);
        tokens.add(item->call.ticket.token);
        epochs.add_integer(item->call.ticket.epoch);
        states.add_integer(static_cast<int>(settlement.state));
        reasons.add_integer(static_cast<int>(settlement.reason));
        kept.add_integer(static_cast<int>(settlement.kept));
        statuses.add_integer(answer.status);
        keep.add_integer(settlement.keep.count());
        if (answer.fields.empty() && answer.body.empty()) {
            headers.add_null();
            bodies.add_null();
        } else {
            headers.add_bytes(answer.fields.encoded());
            bodies.add_bytes(answer.body);
        }
    }
    PgParameters parameters{digests.take(), tokens.take(), epochs.take(),   states.take(),
                            reasons.take(), kept.take(),   statuses.take(), keep.take(),
                            headers.take(), bodies.take()};
    const auto answer = co_await execute(statement_, std::move(parameters));
    if (!answer.error) {
        answer_by_digest(batch, answer.result);
    } else if (worth_splitting(*answer.error) && batch.size() > 1) {
        count(lane().session().stats->split, 1);
        const auto parts = halves(batch);
        co_await attempt(parts.first);
        co_await attempt(parts.second);
    } else {
        fail(batch, verdict(*answer.error));
    }
}

awaitable<void> ReadBatcher::work(Batch batch)
{
    sort(batch);
    PgArray digests(PgType::uuid);
    const Item* last = nullptr;
    for (const auto* item : batch) {
        if (last == nullptr || last->call.digest != item->call.digest)
            digests.add(item->call.digest);
        last = item;
    }
    PgParameters parameters{digests.take()};
    const auto answer = co_await execute(&statements::read, std::move(parameters));
    if (answer.error) co_return;  // Nothing is answered: unavailable.

    std::map<core::Digest, std::shared_ptr<ReadRow>> found;
    Wanted wanted;
    for (std::size_t line = 0; line < answer.result.rows(); ++line) {
        core::Digest digest;
        if (!read_id(answer.result.bytes(line, 0), digest)) co_return;
        auto row = read_row(answer.result, line, tiers_);
        const auto shared = row ? std::make_shared<ReadRow>(std::move(*row)) : nullptr;
        found[digest] = shared;
        if (shared && answer_counts(*shared)) wanted[shared->body_day].push_back(shared);
    }
    for (const auto& [day, rows] : wanted) {
        const auto whole = co_await read_bodies(day, rows);
        if (!whole) co_return;
        for (const auto& row : rows) {
            if (row->body_day != 0 && !over(*row)) found[row->digest] = nullptr;
        }
    }
    for (auto* item : batch) {
        const auto entry = found.find(item->call.digest);
        if (entry == found.end()) {
            item->answer = std::shared_ptr<const ReadRow>();
        } else if (entry->second) {
            item->answer = std::shared_ptr<const ReadRow>(entry->second);
        } else {
            lane().session().say("the record " + item->call.digest.hex() + " is damaged");
        }
    }
}

// False when they could not be read. `body_day` becomes 0 where the answer is complete.
awaitable<bool> ReadBatcher::read_bodies(std::int32_t day,
                                         std::vector<std::shared_ptr<ReadRow>> rows)
{
    PgArray digests(PgType::uuid);
    for (const auto& row : rows)
        digests.add(row->digest);
    const auto wanted = digests.take();
    auto answer = co_await select_bodies(std::to_string(day), wanted);
    // All answers of a day are in its partition, or in the default one for want of it.
    const bool no_partition = answer.error && answer.error->fault == PgFault::missing;
    if (no_partition) answer = co_await select_bodies("default", wanted);
    if (answer.error) co_return false;
    for (std::size_t line = 0; line < answer.result.rows(); ++line) {
        core::Digest digest;
        if (!read_id(answer.result.bytes(line, 0), digest)) co_return false;
        for (const auto& row : rows) {
            const bool same = row->digest == digest &&
                              row->row.epoch == answer.result.integer(line, 1) &&
                              static_cast<int>(row->row.state) == answer.result.integer(line, 2);
            if (same && read_body(answer.result, line, 3, row->row.answer)) row->body_day = 0;
        }
    }
    co_return true;
}

// Planned each time, for one partition: a statement over all of them would open every day for each
// reading.
awaitable<PgAnswer> ReadBatcher::select_bodies(std::string partition, std::string digests)
{
    const auto sql =
        "SELECT b.digest, b.epoch, b.state, b.headers, b.body FROM unnest($1::uuid[]) AS i(digest)"
        " JOIN onceward.bodies_" +
        partition + " AS b ON b.digest = i.digest";
    const PgStatement statement{"", sql.c_str(), {PgType::uuid_array}};
    PgParameters parameters{std::move(digests)};
    auto answer = co_await execute_once(&statement, std::move(parameters));
    co_return answer;
}

awaitable<void> ConfirmBatcher::work(Batch batch)
{
    const auto answer = co_await execute(&statements::confirm, {});
    for (auto* item : batch)
        item->answer = Met::yes;
    if (answer.error) fail(batch, StoreError::ambiguous);
}

awaitable<void> PlainBatcher::work(Batch batch)
{
    auto& item = *batch.front();
    auto answer = co_await execute(item.call.statement, std::move(item.call.parameters));
    if (answer.error) {
        item.answer = verdict(*answer.error);
        lane().session().say(std::string(item.call.statement->name) +
                             " failed: " + answer.error->text);
    } else {
        item.answer = std::make_shared<const PgResult>(std::move(answer.result));
    }
}

}  // namespace onceward
