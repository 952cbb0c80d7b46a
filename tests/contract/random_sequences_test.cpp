// Random operations, given to the model and to the embedded store alike: every answer and, at the
// end, every row of the file must be the same.
#include "model_rig.hpp"
#include "raw_sqlite.hpp"
#include "sqlite_rig.hpp"

#include <random>
#include <sstream>

using namespace onceward;
using namespace onceward::test;
using core::Millis;

namespace {

constexpr unsigned groups = 16;
constexpr unsigned sequences_in_a_group = 128;  // Side by side, so that they share transactions.
constexpr unsigned keys_of_a_sequence = 3;
constexpr unsigned steps = 30;

using Random = std::mt19937;

unsigned below(Random& random, unsigned limit)
{
    return static_cast<unsigned>(random() % limit);
}

template <class T>
T one_of(Random& random, std::initializer_list<T> choices)
{
    return choices.begin()[below(random, static_cast<unsigned>(choices.size()))];
}

enum class Kind { reserve, settle, find };

struct Operation {
    Kind kind = Kind::find;
    core::Digest digest;
    core::Claim claim;
    core::Ticket ticket;
    core::Settlement settlement;
};

core::Settlement random_settlement(Random& random)
{
    using core::State;
    const auto state =
        one_of(random, {State::done, State::failed, State::unknown, State::released});
    auto settlement = settlement_of(state, one_of(random, {0, 200, 201, 402, 500}), "");
    settlement.keep = one_of(random, {Millis{1'000}, Millis{100'000}, Millis{50'000'000}});
    if (state == State::released && below(random, 2) == 0)
        settlement.reason = core::Reason::reopened;
    if (settlement.kept == core::Kept::full && below(random, 2) == 0) {
        settlement.answer.body = std::string(below(random, 6'000), static_cast<char>(random()));
    }
    return settlement;
}

// Tickets and tokens are drawn from a few, right and wrong ones alike, so that they often meet.
Operation random_operation(Random& random, unsigned sequence)
{
    Operation operation;
    operation.kind =
        one_of(random, {Kind::reserve, Kind::reserve, Kind::settle, Kind::settle, Kind::find});
    operation.digest = digest_of(sequence * keys_of_a_sequence + below(random, keys_of_a_sequence));
    operation.claim = claim_of(below(random, 4) + 1, below(random, 2));
    operation.claim.tier = static_cast<std::uint16_t>(below(random, 2));
    operation.claim.lease = one_of(random, {Millis{1'000}, Millis{60'000}});
    operation.ticket = {token_of(below(random, 4) + 1),
                        one_of<core::Epoch>(random, {1, 1, 1, 2, 3})};
    operation.settlement = random_settlement(random);
    return operation;
}

void print(std::ostream& out, const core::Record& record)
{
    out << "state " << static_cast<int>(record.state) << " reason "
        << static_cast<int>(record.reason) << " kept " << static_cast<int>(record.kept) << " epoch "
        << record.epoch << " fingerprint " << record.fingerprint.hex() << '/'
        << record.fingerprint_rule << " tier " << record.tier << " remaining "
        << record.remaining.count() << " age " << record.age.count() << " settled "
        << record.settled_at.time_since_epoch().count() << " status " << record.answer.status
        << " fields " << std::hash<std::string>()(record.answer.fields.encoded()) << " body "
        << std::hash<std::string>()(record.answer.body);
}

// Everything that a caller can see of an answer.
std::string text_of(const core::Reservation& reservation)
{
    std::ostringstream out;
    if (const auto* won = std::get_if<core::Won>(&reservation)) {
        out << "won " << won->ticket.token.hex() << ' ' << won->ticket.epoch;
    } else {
        print(out << "held ", std::get<core::Held>(reservation).record);
    }
    return out.str();
}
std::string text_of(core::Settled settled)
{
    return settled == core::Settled::recorded ? "recorded" : "fenced";
}
std::string text_of(const std::optional<core::Record>& record)
{
    std::ostringstream out;
    if (record) print(out, *record);
    return out.str();
}
std::string text_of(const SweepReport& report)
{
    std::ostringstream out;
    out << report.examined << ' ' << report.became_unknown << ' ' << report.expired << ' '
        << report.purged << ' ' << report.unknown;
    return out.str();
}
std::string text_of(const std::vector<Listed>& listed)
{
    std::ostringstream out;
    for (const auto& entry : listed)
        print(out << entry.digest.hex() << ' ', entry.record);
    return out.str();
}

awaitable<void> perform(KeyStore& store, Operation operation, std::string& answer)
{
    switch (operation.kind) {
        case Kind::reserve: {
            const auto reservation = co_await store.reserve(operation.digest, operation.claim);
            answer = reservation ? text_of(*reservation) : "failed";
            break;
        }
        case Kind::settle: {
            const auto settled =
                co_await store.settle(operation.digest, operation.ticket, operation.settlement);
            answer = settled ? text_of(*settled) : "failed";
            break;
        }
        case Kind::find: {
            const auto found = co_await store.find(operation.digest);
            answer = found ? text_of(*found) : "failed";
            break;
        }
    }
}

std::vector<std::string> perform_all(StoreRig& rig, const std::vector<Operation>& operations)
{
    std::vector<std::string> answers(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
        boost::asio::co_spawn(rig.io, perform(rig.store(), operations[i], answers[i]),
                              [](std::exception_ptr failed) { CHECK_FALSE(failed); });
    }
    rig.io.restart();
    rig.io.run();
    return answers;
}

// Time moves, and at times everything is swept and listed.
void between_steps(Random& random, StoreRig& model, StoreRig& sqlite)
{
    const auto pause = one_of(random, {Millis{0}, Millis{1}, Millis{1'000}, Millis{60'000},
                                       Millis{100'000}, Millis{300'000}, Millis{1'000'000}});
    model.advance(pause);
    sqlite.advance(pause);
    if (below(random, 3) == 0) {
        CHECK(text_of(model.done(model.store().sweep(10'000))) ==
              text_of(sqlite.done(sqlite.store().sweep(10'000))));
    }
    if (below(random, 3) == 0) {
        const auto limit = one_of<std::size_t>(random, {3, 1'000});
        CHECK(text_of(model.done(model.store().unknown(limit))) ==
              text_of(sqlite.done(sqlite.store().unknown(limit))));
    }
}

void run_group(unsigned seed)
{
    CAPTURE(seed);
    Random random(seed);
    ModelRig model;
    SqliteRig sqlite;
    for (unsigned step = 0; step < steps; ++step) {
        CAPTURE(step);
        std::vector<Operation> operations;
        for (unsigned sequence = 0; sequence < sequences_in_a_group; ++sequence) {
            operations.push_back(random_operation(random, sequence));
        }
        REQUIRE(perform_all(model, operations) == perform_all(sqlite, operations));
        between_steps(random, model, sqlite);
    }
    sqlite.stop();
    CHECK(rows_in_file(sqlite.path()) == model.model.rows);
    const auto bodies = ask_file(sqlite.path(), "SELECT count(*) FROM bodies");
    const auto used = ask_file(sqlite.path(), "SELECT count(body) FROM keys");
    CHECK(bodies == used);
}

}  // namespace

TEST_CASE("2,048 random sequences are answered as by the model")
{
    for (unsigned group = 1; group <= groups; ++group)
        run_group(group);
}
