// Laws that hold for every row, checked over seeded random rows and random histories.
#include "core/record.hpp"
#include "core/verdict.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <random>

namespace {

using namespace onceward::core;

constexpr int rows_per_law = 20'000;
const TierTimes times{Millis{400}, Millis{300}};

// Everything random comes from here. A failure prints the seed and the round: the same pair fails
// again.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
    bool coin() { return below(2) == 0; }

    template <class T>
    T pick(std::initializer_list<T> list)
    {
        return *(list.begin() + below(static_cast<int>(list.size())));
    }

    Token token()
    {
        Token made;
        made.bytes.fill(static_cast<unsigned char>(1 + below(4)));
        return made;
    }

    Fingerprint print()
    {
        Fingerprint made;
        made.bytes.fill(static_cast<unsigned char>(1 + below(3)));
        return made;
    }

    StoreTime moment() { return StoreTime(Millis{1'000 + below(100)}); }

    Response answer()
    {
        Response made;
        made.status = pick({200, 201, 402, 500});
        made.body = coin() ? "a" : "b";
        return made;
    }

    Settlement settlement()
    {
        Settlement made;
        made.state = pick({State::done, State::failed, State::unknown, State::released});
        made.reason = made.state == State::unknown ? Reason::reset : Reason::none;
        made.keep = Millis{below(60)};
        const bool answered = made.state == State::done || made.state == State::failed ||
                              (made.state == State::unknown && coin());
        if (answered) {
            made.kept = pick({Kept::full, Kept::status_only, Kept::too_large});
            made.answer = answer();
        }
        return made;
    }

    Claim claim() { return {token(), print(), 1, 0, Millis{1 + below(50)}}; }
    Ticket ticket() { return {token(), static_cast<Epoch>(1 + below(3))}; }

    // A row as it may lie in a store, whatever history led to it.
    Row row()
    {
        Row made;
        made.state = pick({State::pending, State::done, State::failed, State::unknown,
                           State::released, State::expired});
        made.epoch = static_cast<Epoch>(1 + below(3));
        made.fingerprint = print();
        made.reserved_at = StoreTime(Millis{900});
        made.until = moment();
        if (made.state == State::pending || made.state == State::unknown) made.token = token();
        if (made.state != State::pending) made.settled_at = StoreTime(Millis{950});
        if (made.state == State::done || made.state == State::failed ||
            (made.state == State::unknown && coin())) {
            made.kept = pick({Kept::full, Kept::status_only, Kept::too_large});
            made.answer = answer();
        }
        if (made.state == State::unknown) made.reason = pick({Reason::lease, Reason::reset});
        if (made.state == State::released) made.reason = pick({Reason::not_sent, Reason::reopened});
        return made;
    }

    // One operation, chosen and parametrised at random.
    void operate(Slot& slot, StoreTime now)
    {
        if (below(5) == 0) {
            reserve(slot, claim(), now);
        } else {
            operate_without_claim(slot, now);
        }
    }

    void operate_without_claim(Slot& slot, StoreTime now)
    {
        switch (below(4)) {
            case 0: settle(slot, ticket(), settlement(), now); break;
            case 1: sweep(slot, times, now); break;
            case 2: declare_crashed(slot, times, now); break;
            default: reopen(slot, now, Millis{below(60)}); break;
        }
    }

private:
    std::mt19937_64 engine_;
};

template <class Law>
void for_random_rows(std::uint64_t seed, Law law)
{
    Dice dice(seed);
    CAPTURE(seed);
    for (int round = 0; round < rows_per_law; ++round) {
        CAPTURE(round);
        const Row row = dice.row();
        law(dice, row, dice.moment());
    }
}

bool is_final(State state)
{
    return state == State::done || state == State::failed || state == State::expired;
}

}  // namespace

TEST_CASE("I3 OUT-15 DONE, FAILED and EXPIRED absorb: time alone moves them")
{
    for_random_rows(1, [](Dice& dice, const Row& row, StoreTime now) {
        if (!is_final(row.state)) return;
        Slot slot = row;
        for (int i = 0; i < 4; ++i) {
            reserve(slot, dice.claim(), now);
            settle(slot, dice.ticket(), dice.settlement(), now);
            declare_crashed(slot, times, now);
            reopen(slot, now, Millis{50});
        }
        CHECK(slot == Slot(row));
    });
}

TEST_CASE("EXP-4 EXPIRED never changes except by purge")
{
    for_random_rows(2, [](Dice& dice, Row row, StoreTime now) {
        row.state = State::expired;
        Slot slot = row;
        for (int i = 0; i < 8 && slot; ++i) {
            dice.operate(slot, now);
            if (slot) CHECK(*slot == row);
            if (!slot) CHECK(now >= row.until);
        }
    });
}

TEST_CASE("settle is idempotent: the same settlement again is recorded and changes nothing")
{
    for_random_rows(3, [](Dice& dice, const Row& row, StoreTime now) {
        Slot slot = row;
        const Ticket ticket{row.token, row.epoch};
        const Settlement settlement = dice.settlement();
        if (settle(slot, ticket, settlement, now) != Settled::recorded) return;
        const Slot once = slot;
        CHECK(settle(slot, ticket, settlement, now + Millis{dice.below(50)}) == Settled::recorded);
        CHECK(slot == once);
    });
}

TEST_CASE("RSV-11 a fenced settlement changes nothing, and a recorded one is what the row says")
{
    for_random_rows(4, [](Dice& dice, const Row& row, StoreTime now) {
        Slot slot = row;
        const Settlement settlement = dice.settlement();
        if (settle(slot, dice.ticket(), settlement, now) == Settled::fenced) {
            CHECK(slot == Slot(row));
        } else {
            CHECK(slot->state == settlement.state);
            CHECK(slot->answer.status == settlement.answer.status);
            CHECK(slot->epoch == row.epoch);
        }
    });
}

TEST_CASE("RSV-11 only the holder's token and epoch change a row by settling")
{
    for_random_rows(5, [](Dice& dice, const Row& row, StoreTime now) {
        Slot slot = row;
        const Ticket ticket = dice.ticket();
        settle(slot, ticket, dice.settlement(), now);
        if (slot != Slot(row)) CHECK(ticket == Ticket{row.token, row.epoch});
    });
}

TEST_CASE("W43 expiry never beats a live lease, and nobody else gets in")
{
    for_random_rows(6, [](Dice& dice, Row row, StoreTime now) {
        row.state = State::pending;
        row.until = now + Millis{1 + dice.below(50)};
        Slot slot = row;
        CHECK_FALSE(sweep(slot, times, now));
        CHECK_FALSE(reopen(slot, now, Millis{50}));
        Claim claim = dice.claim();
        if (claim.token != row.token)
            CHECK(std::holds_alternative<Held>(reserve(slot, claim, now)));
        CHECK(slot == Slot(row));
        CHECK(view(*slot, now).state == State::pending);
    });
}

TEST_CASE("RSV-12 a late answer heals UNKNOWN of the same holder and epoch, and no other")
{
    for_random_rows(7, [](Dice& dice, Row row, StoreTime now) {
        row.state = State::unknown;
        row.until = now + Millis{1 + dice.below(50)};
        Settlement late = dice.settlement();
        late.state = dice.pick({State::done, State::failed});
        late.kept = Kept::full;
        late.answer = dice.answer();
        const Ticket ticket = dice.ticket();
        Slot slot = row;
        const auto said = settle(slot, ticket, late, now);
        if (ticket == Ticket{row.token, row.epoch}) {
            CHECK(said == Settled::recorded);
            CHECK(slot->state == late.state);
            CHECK(slot->answer == late.answer);
        } else {
            CHECK(said == Settled::fenced);
            CHECK(slot == Slot(row));
        }
    });
}

TEST_CASE("RPL-11 EXP-5 view never shows an answer past its retention")
{
    for_random_rows(8, [](Dice&, const Row& row, StoreTime now) {
        const Record record = view(row, now);
        if (now < row.until) return;
        CHECK(record.remaining == Millis{0});
        CHECK(record.answer == Response{});
        CHECK(record.kept == Kept::nothing);
        CHECK(record.state != State::pending);
        CHECK(record.state != State::done);
        CHECK(record.state != State::failed);
    });
}

TEST_CASE("RPL-11 a reader cannot tell whether the sweep has run")
{
    for_random_rows(9, [](Dice& dice, const Row& row, StoreTime now) {
        const Record unswept = view(row, now);
        Slot slot = row;
        const bool changed = sweep(slot, times, now);
        CHECK(changed == (now >= row.until));
        if (!slot) {
            CHECK((unswept.state == State::released || unswept.state == State::expired));
            return;
        }
        const Record swept = view(*slot, now);
        CHECK(swept.state == unswept.state);
        CHECK(swept.reason == unswept.reason);
        CHECK(swept.kept == unswept.kept);
        CHECK(swept.answer == unswept.answer);
        CHECK(swept.epoch == unswept.epoch);
        const auto print = dice.print();
        CHECK(judge(swept, print) == judge(unswept, print));
    });
}

TEST_CASE("reserve: Won exactly when the row is now held by this claim's token")
{
    for_random_rows(10, [](Dice& dice, const Row& row, StoreTime now) {
        Slot slot = dice.below(8) == 0 ? Slot{} : Slot(row);
        const Slot before = slot;
        const Claim claim = dice.claim();
        const auto reservation = reserve(slot, claim, now);
        if (const auto* won = std::get_if<Won>(&reservation)) {
            CHECK(slot->state == State::pending);
            CHECK(now < slot->until);
            CHECK(won->ticket == Ticket{claim.token, slot->epoch});
            CHECK(slot->token == claim.token);
        } else {
            CHECK(slot == before);
            CHECK(judge(std::get<Held>(reservation).record, claim.fingerprint) !=
                  Verdict::claimable);
        }
    });
}

TEST_CASE(
    "D3 histories: epochs never fall, two tickets are never good at once, verdicts never revert")
{
    for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        Slot slot;
        StoreTime now(Millis{1'000});
        for (int step = 0; step < 60; ++step) {
            CAPTURE(step);
            now += Millis{dice.below(20)};
            const Slot before = slot;
            dice.operate(slot, now);
            if (!before || !slot) {
                const bool may_go =
                    !before || before->state == State::released || before->state == State::expired;
                CHECK(may_go);
                continue;
            }
            CHECK(slot->epoch >= before->epoch);
            CHECK(slot->reserved_at >= before->reserved_at);
            if (slot->epoch != before->epoch) {
                CHECK(slot->epoch == before->epoch + 1);
                CHECK(before->state == State::released);
                CHECK(slot->state == State::pending);
            }
            if (before->state == State::done || before->state == State::failed) {
                CHECK((slot->state == before->state || slot->state == State::expired));
                if (slot->state == before->state) CHECK(*slot == *before);
            }
            if (slot->state == State::pending && before->state != State::pending) {
                CHECK(slot->epoch == before->epoch + 1);
            }
            const bool held = slot->state == State::pending || slot->state == State::unknown;
            CHECK((slot->token != Token{}) == held);
        }
    }
}

TEST_CASE("I1 RSV-2 histories: between two wins of one key lies a release or an operator's word")
{
    for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        Slot slot;
        StoreTime now(Millis{1'000});
        bool may_win = true;
        Token winner;
        for (int step = 0; step < 60; ++step) {
            CAPTURE(step);
            now += Millis{dice.below(20)};
            if (dice.coin()) {
                Claim claim = dice.claim();
                const auto reservation = reserve(slot, claim, now);
                if (!std::holds_alternative<Won>(reservation)) continue;
                CHECK((may_win || claim.token == winner));
                winner = claim.token;
                may_win = false;
            } else {
                dice.operate_without_claim(slot, now);
                may_win = !slot || slot->state == State::released;
            }
        }
    }
}
