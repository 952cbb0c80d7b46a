// What becomes of a row is computed by core/record.hpp, always. The usual case of a claim and of a
// settlement takes one statement that needs no reading; whatever it does not meet is read, judged
// and written.
#include "store/sqlite_keys.hpp"

#include <algorithm>

namespace onceward {

namespace {

// The row that a first claim makes.
core::Row first_row(const core::Claim& claim, core::StoreTime now)
{
    core::Slot slot;
    core::reserve(slot, claim, now);
    return std::move(slot).value_or(core::Row{});
}

// The row that a settlement makes of a PENDING one, without the answer's headers and body.
core::Row settled_row(const core::Ticket& ticket, const core::Settlement& settlement,
                      core::StoreTime now)
{
    core::Settlement head;
    head.state = settlement.state;
    head.reason = settlement.reason;
    head.kept = settlement.kept;
    head.answer.status = settlement.answer.status;
    head.keep = settlement.keep;
    core::Slot slot = core::Row{};
    slot->epoch = ticket.epoch;
    slot->token = ticket.token;
    core::settle(slot, ticket, head, now);
    return std::move(slot).value_or(core::Row{});
}

core::Slot slot_of(const std::optional<StoredRow>& stored)
{
    if (!stored) return std::nullopt;
    return stored->row;
}

}  // namespace

DatabaseResult<core::Reservation> SqliteKeys::reserve(const core::Digest& digest,
                                                      const core::Claim& claim, core::StoreTime now)
{
    const auto inserted = rows_.insert(digest, first_row(claim, now));
    if (!inserted) return inserted.error();
    if (*inserted == Write::done) return core::Reservation(core::Won{{claim.token, 1}});

    const auto loaded = rows_.load(digest);
    if (!loaded) return loaded.error();
    const std::optional<StoredRow>& stored = *loaded;
    auto slot = slot_of(stored);
    auto reservation = core::reserve(slot, claim, now);
    if (stored && slot && *slot == stored->row) return reservation;

    // This connection is the only one and the transaction saw the row, so neither the row nor its
    // guard can be missed; unless the file is damaged, and then nobody may win.
    if (!stored || !slot) return DatabaseError{DatabaseFault::corrupt, "a claimed key has no row"};
    const auto written = rows_.claim(digest, *stored, *slot);
    if (!written) return written.error();
    if (*written == Write::none) return DatabaseError{DatabaseFault::corrupt, "a claim met no row"};
    return reservation;
}

DatabaseResult<core::Settled> SqliteKeys::settle(const core::Digest& digest,
                                                 const core::Ticket& ticket,
                                                 const core::Settlement& settlement,
                                                 core::StoreTime now)
{
    const auto row = settled_row(ticket, settlement, now);
    const auto written = rows_.settle(digest, ticket, row, settlement.answer);
    if (!written) return written.error();
    if (*written == Write::done) return core::Settled::recorded;
    return settle_again(digest, ticket, settlement, now);
}

// A repetition, a late answer to an UNKNOWN row, or a holder that is no longer one.
DatabaseResult<core::Settled> SqliteKeys::settle_again(const core::Digest& digest,
                                                       const core::Ticket& ticket,
                                                       const core::Settlement& settlement,
                                                       core::StoreTime now)
{
    const auto loaded = rows_.load(digest);
    if (!loaded) return loaded.error();
    const std::optional<StoredRow>& stored = *loaded;
    auto slot = slot_of(stored);
    const auto settled = core::settle(slot, ticket, settlement, now);
    if (!stored || !slot || *slot == stored->row) return settled;

    const auto written = rows_.change(digest, *stored, *slot, StoredAnswer::replace);
    if (!written) return written.error();
    return *written == Write::done ? settled : core::Settled::fenced;
}

DatabaseResult<std::optional<core::Record>> SqliteKeys::find(const core::Digest& digest,
                                                             core::StoreTime now)
{
    const auto loaded = rows_.load(digest);
    if (!loaded) return loaded.error();
    const std::optional<StoredRow>& stored = *loaded;
    if (!stored) return std::optional<core::Record>();
    return std::optional<core::Record>(core::view(stored->row, now));
}

DatabaseResult<SweepReport> SqliteKeys::sweep(std::size_t rows, core::StoreTime now)
{
    SweepReport report;
    const auto walk = rows_.walk(swept_to_, rows, now);
    if (!walk) return walk.error();
    report.examined = walk->examined;
    swept_to_ = walk->last;
    for (const auto& digest : walk->due) {
        const auto swept = sweep_row(digest, now, report);
        if (!swept) return swept.error();
    }
    // After the walk: what it made UNKNOWN is not overdue any more, so no row moves twice in one
    // pass.
    const auto overdue = rows_.overdue(now, rows);
    if (!overdue) return overdue.error();
    for (const auto& entry : *overdue) {
        const auto swept = sweep_row(entry.digest, now, report);
        if (!swept) return swept.error();
    }
    const auto waiting = rows_.count_unknown();
    if (!waiting) return waiting.error();
    report.unknown = *waiting;
    return report;
}

DatabaseResult<void> SqliteKeys::sweep_row(const core::Digest& digest, core::StoreTime now,
                                           SweepReport& report)
{
    const auto loaded = rows_.load_head(digest);
    if (!loaded) return loaded.error();
    const std::optional<StoredRow>& stored = *loaded;
    if (!stored) return {};
    core::Slot slot = stored->row;
    if (!core::sweep(slot, rows_.tiers().times_of(stored->tier_id), now)) return {};
    if (!slot) {
        ++report.purged;
        return rows_.remove(digest, *stored);
    }
    const bool lease_over = slot->state == core::State::unknown;
    ++(lease_over ? report.became_unknown : report.expired);
    const auto answer = lease_over ? StoredAnswer::keep : StoredAnswer::replace;
    const auto written = rows_.change(digest, *stored, *slot, answer);
    if (!written) return written.error();
    return {};
}

DatabaseResult<std::vector<Listed>> SqliteKeys::unknown(std::size_t limit, core::StoreTime now)
{
    auto found = rows_.unknown(now, limit);
    if (!found) return found.error();
    const auto overdue = rows_.overdue(now, limit);
    if (!overdue) return overdue.error();
    found->insert(found->end(), overdue->begin(), overdue->end());
    std::sort(found->begin(), found->end());
    if (found->size() > limit) found->resize(limit);

    std::vector<Listed> listed;
    listed.reserve(found->size());
    for (const auto& entry : *found) {
        auto told = find(entry.digest, now);
        if (!told) return told.error();
        std::optional<core::Record>& record = *told;
        if (record) listed.push_back({entry.digest, std::move(*record)});
    }
    return listed;
}

DatabaseResult<std::size_t> SqliteKeys::declare_crashed(core::StoreTime now)
{
    const auto pending = rows_.pending();
    if (!pending) return pending.error();
    for (const auto& digest : *pending) {
        const auto loaded = rows_.load_head(digest);
        if (!loaded) return loaded.error();
        const std::optional<StoredRow>& stored = *loaded;
        if (!stored) continue;
        core::Slot slot = stored->row;
        const auto times = rows_.tiers().times_of(stored->tier_id);
        if (!core::declare_crashed(slot, times, now) || !slot) continue;
        const auto written = rows_.change(digest, *stored, *slot, StoredAnswer::keep);
        if (!written) return written.error();
    }
    return pending->size();
}

}  // namespace onceward
