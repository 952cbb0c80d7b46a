// The transition table of a record, written out: what every operation makes of every row.
#include "core/record.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string_view>

namespace {

using namespace onceward::core;

// One row of each kind; all of them end at `end`.
enum class Start {
    none,
    pending,
    done,         // 201
    failed,       // 402
    unknown,      // Overdue lease: nothing is known.
    unknown_500,  // The upstream answered 500: its bytes are kept.
    released,
    reopened,  // Released by an operator: the fingerprint still binds.
    expired,
};

constexpr Start starts[] = {Start::none,     Start::pending,  Start::done,
                            Start::failed,   Start::unknown,  Start::unknown_500,
                            Start::released, Start::reopened, Start::expired};

constexpr std::string_view name_of(Start start)
{
    switch (start) {
        case Start::none: return "none";
        case Start::pending: return "pending";
        case Start::done: return "done";
        case Start::failed: return "failed";
        case Start::unknown: return "unknown";
        case Start::unknown_500: return "unknown_500";
        case Start::released: return "released";
        case Start::reopened: return "reopened";
        case Start::expired: return "expired";
    }
    return "?";
}

constexpr StoreTime at(long long millis)
{
    return StoreTime(Millis{millis});
}

constexpr StoreTime reserved{at(1'000)};
constexpr StoreTime settled{at(2'000)};
constexpr StoreTime end{at(50'000)};
constexpr std::array<StoreTime, 3> moments{at(49'999), at(50'000), at(50'001)};  // < = >
constexpr Epoch epoch = 7;
constexpr Millis keep{600'000};
constexpr Millis lease{30'000};
const TierTimes times{Millis{7'000'000}, Millis{9'000'000}};

template <class Id>
Id filled(unsigned char with)
{
    Id id;
    id.bytes.fill(with);
    return id;
}

const Token own_token = filled<Token>(0xA1);
const Token other_token = filled<Token>(0xB2);
const Fingerprint own_print = filled<Fingerprint>(0xC3);
const Fingerprint other_print = filled<Fingerprint>(0xD4);

Response answer(int status)
{
    Response made;
    made.status = status;
    made.fields.add("Location", "/v1/payments/1");
    made.body = "{}";
    return made;
}

Row settled_row(State state, Reason reason)
{
    Row row;
    row.state = state;
    row.reason = reason;
    row.epoch = epoch;
    row.fingerprint = own_print;
    row.fingerprint_rule = 1;
    row.tier = 2;
    row.until = end;
    row.reserved_at = reserved;
    row.settled_at = settled;
    return row;
}

Row answered_row(State state, Reason reason, int status)
{
    Row row = settled_row(state, reason);
    row.kept = Kept::full;
    row.answer = answer(status);
    return row;
}

Row held_by_own(Row row)
{
    row.token = own_token;
    return row;
}

Slot slot_of(Start start)
{
    switch (start) {
        case Start::none: return std::nullopt;
        case Start::pending: {
            Row row = held_by_own(settled_row(State::pending, Reason::none));
            row.settled_at = {};
            return row;
        }
        case Start::done: return answered_row(State::done, Reason::none, 201);
        case Start::failed: return answered_row(State::failed, Reason::none, 402);
        case Start::unknown: return held_by_own(settled_row(State::unknown, Reason::lease));
        case Start::unknown_500:
            return held_by_own(answered_row(State::unknown, Reason::server_error, 500));
        case Start::released: return settled_row(State::released, Reason::not_sent);
        case Start::reopened: return settled_row(State::released, Reason::reopened);
        case Start::expired: return settled_row(State::expired, Reason::none);
    }
    return std::nullopt;
}

char letter(State state)
{
    switch (state) {
        case State::pending: return 'P';
        case State::done: return 'D';
        case State::failed: return 'F';
        case State::unknown: return 'U';
        case State::released: return 'R';
        case State::expired: return 'E';
    }
    return '?';
}

// Calls check(expected letter, moment, the row) for the three moments of one cell.
template <class Check>
void each_moment(Start start, std::string_view cell, Check check)
{
    REQUIRE(cell.size() == moments.size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
        CAPTURE(name_of(start));
        CAPTURE(cell);
        CAPTURE(i);
        check(cell[i], moments[i], slot_of(start));
    }
}

// ---------------------------------------------------------------------------------------- settle

enum class To { done_201, done_200, failed_402, failed_404, unknown, unknown_500, released };

Settlement settlement_of(To to)
{
    const auto answered = [](State state, Reason reason, int status) {
        return Settlement{state, reason, Kept::full, answer(status), keep};
    };
    switch (to) {
        case To::done_201: return answered(State::done, Reason::none, 201);
        case To::done_200: return answered(State::done, Reason::none, 200);
        case To::failed_402: return answered(State::failed, Reason::none, 402);
        case To::failed_404: return answered(State::failed, Reason::none, 404);
        case To::unknown: return {State::unknown, Reason::timeout, Kept::nothing, {}, keep};
        case To::unknown_500: return answered(State::unknown, Reason::server_error, 500);
        case To::released: return {State::released, Reason::not_sent, Kept::nothing, {}, keep};
    }
    return {};
}

// D F U R: recorded, the row is now that. =: recorded by an earlier call, unchanged. .: fenced,
// unchanged. Three letters a cell: before, at and after the row's `until`.
struct SettleLine {
    Start start;
    To to;
    std::string_view right, stale_epoch, wrong_token, both_wrong;
};

constexpr SettleLine settle_table[] = {
    // row              settled to       right  epoch  token  both
    {Start::none, To::done_201, "...", "...", "...", "..."},
    {Start::none, To::done_200, "...", "...", "...", "..."},
    {Start::none, To::failed_402, "...", "...", "...", "..."},
    {Start::none, To::failed_404, "...", "...", "...", "..."},
    {Start::none, To::unknown, "...", "...", "...", "..."},
    {Start::none, To::unknown_500, "...", "...", "...", "..."},
    {Start::none, To::released, "...", "...", "...", "..."},

    // The holder may report as long as nobody else has moved the row, also when its lease is over.
    {Start::pending, To::done_201, "DDD", "...", "...", "..."},
    {Start::pending, To::done_200, "DDD", "...", "...", "..."},
    {Start::pending, To::failed_402, "FFF", "...", "...", "..."},
    {Start::pending, To::failed_404, "FFF", "...", "...", "..."},
    {Start::pending, To::unknown, "UUU", "...", "...", "..."},
    {Start::pending, To::unknown_500, "UUU", "...", "...", "..."},
    {Start::pending, To::released, "RRR", "...", "...", "..."},

    // A settled row has no token any more: a repeat is known by epoch, state and status.
    {Start::done, To::done_201, "===", "...", "===", "..."},
    {Start::done, To::done_200, "...", "...", "...", "..."},
    {Start::done, To::failed_402, "...", "...", "...", "..."},
    {Start::done, To::failed_404, "...", "...", "...", "..."},
    {Start::done, To::unknown, "...", "...", "...", "..."},
    {Start::done, To::unknown_500, "...", "...", "...", "..."},
    {Start::done, To::released, "...", "...", "...", "..."},

    {Start::failed, To::done_201, "...", "...", "...", "..."},
    {Start::failed, To::done_200, "...", "...", "...", "..."},
    {Start::failed, To::failed_402, "===", "...", "===", "..."},
    {Start::failed, To::failed_404, "...", "...", "...", "..."},
    {Start::failed, To::unknown, "...", "...", "...", "..."},
    {Start::failed, To::unknown_500, "...", "...", "...", "..."},
    {Start::failed, To::released, "...", "...", "...", "..."},

    // A late answer of the same holder heals, inside the retention; UNKNOWN never replaces UNKNOWN.
    {Start::unknown, To::done_201, "D..", "...", "...", "..."},
    {Start::unknown, To::done_200, "D..", "...", "...", "..."},
    {Start::unknown, To::failed_402, "F..", "...", "...", "..."},
    {Start::unknown, To::failed_404, "F..", "...", "...", "..."},
    {Start::unknown, To::unknown, "===", "...", "===", "..."},
    {Start::unknown, To::unknown_500, "...", "...", "...", "..."},
    {Start::unknown, To::released, "R..", "...", "...", "..."},

    {Start::unknown_500, To::done_201, "D..", "...", "...", "..."},
    {Start::unknown_500, To::done_200, "D..", "...", "...", "..."},
    {Start::unknown_500, To::failed_402, "F..", "...", "...", "..."},
    {Start::unknown_500, To::failed_404, "F..", "...", "...", "..."},
    {Start::unknown_500, To::unknown, "...", "...", "...", "..."},
    {Start::unknown_500, To::unknown_500, "===", "...", "===", "..."},
    {Start::unknown_500, To::released, "R..", "...", "...", "..."},

    {Start::released, To::done_201, "...", "...", "...", "..."},
    {Start::released, To::done_200, "...", "...", "...", "..."},
    {Start::released, To::failed_402, "...", "...", "...", "..."},
    {Start::released, To::failed_404, "...", "...", "...", "..."},
    {Start::released, To::unknown, "...", "...", "...", "..."},
    {Start::released, To::unknown_500, "...", "...", "...", "..."},
    {Start::released, To::released, "===", "...", "===", "..."},

    {Start::reopened, To::done_201, "...", "...", "...", "..."},
    {Start::reopened, To::done_200, "...", "...", "...", "..."},
    {Start::reopened, To::failed_402, "...", "...", "...", "..."},
    {Start::reopened, To::failed_404, "...", "...", "...", "..."},
    {Start::reopened, To::unknown, "...", "...", "...", "..."},
    {Start::reopened, To::unknown_500, "...", "...", "...", "..."},
    {Start::reopened, To::released, "===", "...", "===", "..."},

    {Start::expired, To::done_201, "...", "...", "...", "..."},
    {Start::expired, To::done_200, "...", "...", "...", "..."},
    {Start::expired, To::failed_402, "...", "...", "...", "..."},
    {Start::expired, To::failed_404, "...", "...", "...", "..."},
    {Start::expired, To::unknown, "...", "...", "...", "..."},
    {Start::expired, To::unknown_500, "...", "...", "...", "..."},
    {Start::expired, To::released, "...", "...", "...", "..."},
};

void check_settle(char expected, StoreTime now, Slot slot, const Settlement& settlement,
                  const Ticket& ticket)
{
    const Slot before = slot;
    const auto said = settle(slot, ticket, settlement, now);
    if (expected == '.' || expected == '=') {
        CHECK(said == (expected == '=' ? Settled::recorded : Settled::fenced));
        CHECK(slot == before);
        return;
    }
    CHECK(said == Settled::recorded);
    REQUIRE(slot);
    CHECK(letter(slot->state) == expected);
    Row row = *before;
    row.state = settlement.state;
    row.reason = settlement.reason;
    row.kept = settlement.kept;
    row.answer = settlement.answer;
    row.until = now + keep;
    row.settled_at = now;
    row.token = expected == 'U' ? own_token : Token{};
    CHECK(*slot == row);
}

// --------------------------------------------------------------------------------------- reserve

// N: won, a first row. C: won, claimed again with the next epoch. W: won before, unchanged. A
// state's letter: held, and read as that state; unchanged.
struct ReserveLine {
    Start start;
    std::string_view own, other_attempt, own_changed, other_changed;
};

constexpr ReserveLine reserve_table[] = {
    // fingerprint      right  right  wrong  wrong
    // token            own    new    own    new
    {Start::none, "NNN", "NNN", "NNN", "NNN"},     {Start::pending, "WUU", "PUU", "WUU", "PUU"},
    {Start::done, "DEE", "DEE", "DEE", "DEE"},     {Start::failed, "FEE", "FEE", "FEE", "FEE"},
    {Start::unknown, "UEE", "UEE", "UEE", "UEE"},  {Start::unknown_500, "UEE", "UEE", "UEE", "UEE"},
    {Start::released, "CCC", "CCC", "CCC", "CCC"}, {Start::reopened, "CCC", "CCC", "RRR", "RRR"},
    {Start::expired, "EEE", "EEE", "EEE", "EEE"},
};

void check_reserve(char expected, StoreTime now, Slot slot, const Token& token,
                   const Fingerprint& print)
{
    const Slot before = slot;
    const Claim claim{token, print, 4, 5, lease};
    const auto reservation = reserve(slot, claim, now);
    const auto* won = std::get_if<Won>(&reservation);
    if (expected == 'N' || expected == 'C') {
        Row row;
        row.epoch = expected == 'N' ? 1 : epoch + 1;
        row.token = token;
        row.fingerprint = print;
        row.fingerprint_rule = 4;
        row.tier = 5;
        row.until = now + lease;
        row.reserved_at = now;
        REQUIRE(won);
        CHECK(won->ticket == Ticket{token, row.epoch});
        CHECK(slot == Slot(row));
        return;
    }
    CHECK(slot == before);
    if (expected == 'W') {
        REQUIRE(won);
        CHECK(won->ticket == Ticket{own_token, epoch});
        return;
    }
    const auto* held = std::get_if<Held>(&reservation);
    REQUIRE(held);
    CHECK(letter(held->record.state) == expected);
    CHECK(held->record.fingerprint == own_print);
}

// --------------------------------------- sweep, declare_crashed, reopen, view: no ticket, no claim

// A state's letter: the row is now that (view: it reads as that). x: purged. .: unchanged.
struct PlainLine {
    Start start;
    std::string_view sweep, declare_crashed, reopen, view;
};

constexpr PlainLine plain_table[] = {
    // row              sweep  crash  reopen view
    {Start::none, "...", "...", "...", ""},        {Start::pending, ".UU", "UUU", "...", "PUU"},
    {Start::done, ".EE", "...", "...", "DEE"},     {Start::failed, ".EE", "...", "...", "FEE"},
    {Start::unknown, ".EE", "...", "R..", "UEE"},  {Start::unknown_500, ".EE", "...", "R..", "UEE"},
    {Start::released, ".xx", "...", "...", "RRR"}, {Start::reopened, ".xx", "...", "...", "RRR"},
    {Start::expired, ".xx", "...", "...", "EEE"},
};

void check_change(char expected, bool changed, const Slot& before, const Slot& slot, const Row& row)
{
    CHECK(changed == (expected != '.'));
    if (expected == '.') {
        CHECK(slot == before);
    } else if (expected == 'x') {
        CHECK(!slot);
    } else {
        CHECK(letter(row.state) == expected);
        CHECK(slot == Slot(row));
    }
}

Row became_unknown(Row row, Reason reason, StoreTime now)
{
    row.state = State::unknown;
    row.reason = reason;
    row.until = now + times.unknown_retention;
    row.settled_at = now;
    return row;
}

// The tombstone's window begins where the retention ended, not where the sweep happened to run.
Row became_tombstone(Row row)
{
    row.state = State::expired;
    row.kept = Kept::nothing;
    row.answer = {};
    row.token = {};
    row.until = row.until + *times.tombstone;
    return row;
}

Row became_reopened(Row row, StoreTime now)
{
    row.state = State::released;
    row.reason = Reason::reopened;
    row.kept = Kept::nothing;
    row.answer = {};
    row.token = {};
    row.until = now + keep;
    row.settled_at = now;
    return row;
}

void check_view(char expected, StoreTime now, const Row& row)
{
    const Record record = view(row, now);
    CHECK(letter(record.state) == expected);
    CHECK(record.epoch == row.epoch);
    CHECK(record.fingerprint == row.fingerprint);
    CHECK(record.fingerprint_rule == row.fingerprint_rule);
    CHECK(record.tier == row.tier);
    CHECK(record.settled_at == row.settled_at);
    CHECK(record.remaining == (now < end ? end - now : Millis{0}));
    CHECK(record.age == now - reserved);
    const bool hidden = expected == 'E';
    CHECK(record.kept == (hidden ? Kept::nothing : row.kept));
    CHECK(record.answer == (hidden ? Response{} : row.answer));
    const bool overdue = row.state == State::pending && expected == 'U';
    CHECK(record.reason == (overdue ? Reason::lease : row.reason));
}

}  // namespace

TEST_CASE("RSV-11 RSV-12 settle: every row, settlement, ticket and moment")
{
    const Ticket right{own_token, epoch};
    const Ticket stale_epoch{own_token, epoch - 1};
    const Ticket wrong_token{other_token, epoch};
    const Ticket both_wrong{other_token, epoch - 1};
    CHECK(std::size(settle_table) == std::size(starts) * 7);
    for (const auto& line : settle_table) {
        const auto settlement = settlement_of(line.to);
        CAPTURE(static_cast<int>(line.to));
        const auto check = [&](std::string_view cell, const Ticket& ticket) {
            each_moment(line.start, cell, [&](char expected, StoreTime now, const Slot& slot) {
                check_settle(expected, now, slot, settlement, ticket);
            });
        };
        check(line.right, right);
        check(line.stale_epoch, stale_epoch);
        check(line.wrong_token, wrong_token);
        check(line.both_wrong, both_wrong);
    }
}

TEST_CASE("RSV-2 RSV-13 reserve: every row, fingerprint, token and moment")
{
    CHECK(std::size(reserve_table) == std::size(starts));
    for (const auto& line : reserve_table) {
        const auto check = [&](std::string_view cell, const Token& token,
                               const Fingerprint& print) {
            each_moment(line.start, cell, [&](char expected, StoreTime now, const Slot& slot) {
                check_reserve(expected, now, slot, token, print);
            });
        };
        check(line.own, own_token, own_print);
        check(line.other_attempt, other_token, own_print);
        check(line.own_changed, own_token, other_print);
        check(line.other_changed, other_token, other_print);
    }
}

TEST_CASE("EXP-3 EXP-5 sweep: every row and moment")
{
    for (const auto& line : plain_table) {
        each_moment(line.start, line.sweep, [&](char expected, StoreTime now, Slot slot) {
            const Slot before = slot;
            Row row;
            if (expected == 'U') row = became_unknown(*before, Reason::lease, now);
            if (expected == 'E') row = became_tombstone(*before);
            const bool changed = sweep(slot, times, now);
            check_change(expected, changed, before, slot, row);
        });
    }
}

TEST_CASE("decision 27 declare_crashed: only PENDING rows, whenever")
{
    for (const auto& line : plain_table) {
        each_moment(line.start, line.declare_crashed, [&](char expected, StoreTime now, Slot slot) {
            const Slot before = slot;
            Row row;
            if (expected == 'U') row = became_unknown(*before, Reason::crash, now);
            const bool changed = declare_crashed(slot, times, now);
            check_change(expected, changed, before, slot, row);
        });
    }
}

TEST_CASE("OUT-15 reopen: only UNKNOWN rows inside their retention")
{
    for (const auto& line : plain_table) {
        each_moment(line.start, line.reopen, [&](char expected, StoreTime now, Slot slot) {
            const Slot before = slot;
            Row row;
            if (expected == 'R') row = became_reopened(*before, now);
            const bool changed = reopen(slot, now, keep);
            check_change(expected, changed, before, slot, row);
        });
    }
}

TEST_CASE("RPL-11 EXP-5 view: every row and moment, swept or not")
{
    for (const auto& line : plain_table) {
        if (line.start == Start::none) continue;
        each_moment(line.start, line.view, [&](char expected, StoreTime now, const Slot& slot) {
            check_view(expected, now, *slot);
        });
    }
}

TEST_CASE("view: a clock that went back shows no negative age")
{
    CHECK(view(*slot_of(Start::done), reserved - Millis{1}).age == Millis{0});
}

TEST_CASE("decision 11 a tombstone that is never purged, and a row without end, outlast the clock")
{
    const TierTimes never{Millis::max(), std::nullopt};
    Slot done = slot_of(Start::done);
    CHECK(sweep(done, never, end));
    CHECK(done->until == StoreTime::max());
    CHECK_FALSE(sweep(done, never, StoreTime::max() - Millis{1}));

    Slot pending = slot_of(Start::pending);
    CHECK(sweep(pending, never, end));
    CHECK(pending->until == StoreTime::max());
    CHECK(view(*pending, end).state == State::unknown);
}

TEST_CASE("the stored numbers of states, reasons and kept parts never change")
{
    CHECK(static_cast<int>(State::pending) == 0);
    CHECK(static_cast<int>(State::done) == 1);
    CHECK(static_cast<int>(State::failed) == 2);
    CHECK(static_cast<int>(State::unknown) == 3);
    CHECK(static_cast<int>(State::released) == 4);
    CHECK(static_cast<int>(State::expired) == 5);
    CHECK(static_cast<int>(Reason::none) == 0);
    CHECK(static_cast<int>(Reason::lease) == 1);
    CHECK(static_cast<int>(Reason::crash) == 2);
    CHECK(static_cast<int>(Reason::drain) == 3);
    CHECK(static_cast<int>(Reason::timeout) == 4);
    CHECK(static_cast<int>(Reason::reset) == 5);
    CHECK(static_cast<int>(Reason::truncated) == 6);
    CHECK(static_cast<int>(Reason::garbage) == 7);
    CHECK(static_cast<int>(Reason::server_error) == 8);
    CHECK(static_cast<int>(Reason::unproved_end) == 9);
    CHECK(static_cast<int>(Reason::listed) == 10);
    CHECK(static_cast<int>(Reason::not_sent) == 11);
    CHECK(static_cast<int>(Reason::declined) == 12);
    CHECK(static_cast<int>(Reason::reopened) == 13);
    CHECK(static_cast<int>(Kept::nothing) == 0);
    CHECK(static_cast<int>(Kept::full) == 1);
    CHECK(static_cast<int>(Kept::status_only) == 2);
    CHECK(static_cast<int>(Kept::too_large) == 3);
}

TEST_CASE("states and reasons have names of their own; no reason has none")
{
    std::set<std::string_view> names;
    for (int state = 0; state <= 5; ++state) {
        CHECK(names.insert(to_string(static_cast<State>(state))).second);
    }
    CHECK(to_string(State::unknown) == "unknown");
    CHECK(to_string(State::released) == "released");
    names.clear();
    for (int reason = 0; reason <= 13; ++reason) {
        CHECK(names.insert(to_string(static_cast<Reason>(reason))).second);
    }
    CHECK(to_string(Reason::none).empty());
    CHECK(to_string(Reason::server_error) == "server_error");
    CHECK(to_string(Reason::reopened) == "reopened");
}
