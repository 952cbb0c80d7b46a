// Random operations, given to the model and to PostgreSQL alike: every answer must be the same.
#include "contract/model_rig.hpp"
#include "postgres/crowd.hpp"
#include "postgres/postgres_rig.hpp"

#include <random>
#include <sstream>

using namespace onceward;
using namespace onceward::test;
using core::Millis;
using core::State;

namespace {

constexpr unsigned groups = 6;
constexpr unsigned sequences = 128;  // Side by side, so that they share statements.
constexpr unsigned keys_of_a_sequence = 3;
constexpr unsigned steps = 25;

using Random = std::mt19937;

template <class T>
T one_of(Random& random, std::initializer_list<T> choices)
{
    return choices.begin()[random() % choices.size()];
}

void print(std::ostream& out, const core::Record& record)
{
    out << "state " << static_cast<int>(record.state) << " reason "
        << static_cast<int>(record.reason) << " kept " << static_cast<int>(record.kept) << " epoch "
        << record.epoch << " fingerprint " << record.fingerprint.hex() << '/'
        << record.fingerprint_rule << " tier " << record.tier << " remaining "
        << record.remaining.count() << " age " << record.age.count() << " settled "
        << record.settled_at.time_since_epoch().count() << " status " << record.answer.status
        << " fields " << record.answer.fields.encoded() << " body "
        << std::hash<std::string>()(record.answer.body);
}

std::string text_of(const StoreResult<core::Reservation>& result)
{
    std::ostringstream out;
    if (!result) return "failed";
    if (const auto* won = std::get_if<core::Won>(&*result)) {
        out << "won " << won->ticket.token.hex() << ' ' << won->ticket.epoch;
    } else {
        print(out << "held ", std::get<core::Held>(*result).record);
    }
    return out.str();
}

std::string text_of(const StoreResult<core::Settled>& result)
{
    if (!result) return "failed";
    return *result == core::Settled::recorded ? "recorded" : "fenced";
}

std::string text_of(const StoreResult<std::optional<core::Record>>& result)
{
    std::ostringstream out;
    if (!result) return "failed";
    if (*result) print(out, **result);
    return out.str();
}

std::string text_of(const std::vector<Listed>& listed)
{
    std::ostringstream out;
    for (const auto& entry : listed)
        print(out << entry.digest.hex() << ' ', entry.record);
    return out.str();
}

// How many pages a pass looks at is the store's own affair; what it did is not.
std::string text_of(const SweepReport& report)
{
    std::ostringstream out;
    out << report.became_unknown << ' ' << report.expired << ' ' << report.purged;
    return out.str();
}

core::Settlement random_settlement(Random& random)
{
    const auto state =
        one_of(random, {State::done, State::failed, State::unknown, State::released});
    auto settlement = settlement_of(state, one_of(random, {0, 200, 201, 402, 500}), "");
    settlement.keep = one_of(random, {Millis{1'000}, Millis{100'000}, Millis{50'000'000}});
    if (state == State::released && random() % 2 == 0) settlement.reason = core::Reason::reopened;
    if (settlement.kept == core::Kept::full && random() % 2 == 0) {
        settlement.answer.body = std::string(random() % 6'000, static_cast<char>(random()));
    }
    return settlement;
}

// The same operations, on a store each: their answers in order.
std::vector<std::string> perform(StoreRig& rig, KeyStore& store, unsigned seed)
{
    Random random(seed);
    std::vector<std::string> answers(sequences);
    for (unsigned sequence = 0; sequence < sequences; ++sequence) {
        const auto digest = digest_of(sequence * keys_of_a_sequence +
                                      static_cast<unsigned>(random() % keys_of_a_sequence));
        auto claim =
            claim_of(static_cast<unsigned>(random() % 4) + 1, static_cast<unsigned>(random() % 2));
        claim.tier = static_cast<std::uint16_t>(random() % 2);
        claim.lease = one_of(random, {Millis{1'000}, Millis{60'000}});
        const core::Ticket ticket{token_of(static_cast<unsigned>(random() % 4) + 1),
                                  one_of<core::Epoch>(random, {1, 1, 1, 2, 3})};
        auto settlement = random_settlement(random);
        const auto keep = [&answers, sequence](std::exception_ptr failed, auto result) {
            CHECK_FALSE(failed);
            answers[sequence] = text_of(result);
        };
        switch (random() % 5) {
            case 0:
            case 1: boost::asio::co_spawn(rig.io, store.reserve(digest, claim), keep); break;
            case 2:
            case 3:
                boost::asio::co_spawn(rig.io, store.settle(digest, ticket, std::move(settlement)),
                                      keep);
                break;
            default: boost::asio::co_spawn(rig.io, store.find(digest), keep); break;
        }
    }
    rig.io.restart();
    rig.io.run();
    return answers;
}

void run_group(unsigned seed)
{
    CAPTURE(seed);
    Random random(seed);
    ModelRig model;
    PostgresRig postgres;
    for (unsigned step = 0; step < steps; ++step) {
        CAPTURE(step);
        const auto choice = static_cast<unsigned>(random());
        REQUIRE(perform(model, model.store(), choice) ==
                perform(postgres, postgres.store(), choice));
        const auto pause = one_of(random, {Millis{0}, Millis{1}, Millis{1'000}, Millis{60'000},
                                           Millis{100'000}, Millis{300'000}, Millis{1'000'000}});
        model.advance(pause);
        postgres.advance(pause);
        if (random() % 3 == 0) {
            CHECK(text_of(model.done(model.store().sweep(10'000))) ==
                  text_of(postgres.done(postgres.store().sweep(10'000))));
        }
        if (random() % 3 == 0) {
            const auto limit = one_of<std::size_t>(random, {3, 1'000});
            CHECK(text_of(model.done(model.store().unknown(limit))) ==
                  text_of(postgres.done(postgres.store().unknown(limit))));
        }
    }
}

}  // namespace

TEST_CASE("768 random sequences are answered by PostgreSQL as by the model")
{
    for (unsigned group = 1; group <= groups; ++group)
        run_group(group);
}
