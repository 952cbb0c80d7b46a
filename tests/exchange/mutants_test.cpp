// The explorer is worth what it finds: it must catch every protocol bug that is planted.
#include "exchange/mutants.hpp"

#include <doctest/doctest.h>

using namespace onceward;
using namespace onceward::test;

namespace {

// Explored one after the other until one of them shows the bug. The product itself passes all of
// them.
const std::vector<Setup>& setups()
{
    static const std::vector<Setup> all{
        {.name = "two workers"},
        {.name = "lease ends", .sweeps = 1},
        {.name = "retention ends", .sweeps = 2, .retention = true},
        {.name = "re-opened", .faults = 0, .clients = 3, .sweeps = 1, .reopens = true},
    };
    return all;
}

void must_be_caught(const Mutant& mutant)
{
    std::uint64_t runs = 0;
    for (const auto& setup : setups()) {
        const auto found = explore(setup, &mutant);
        runs += found.runs;
        if (!found.violation) continue;
        std::printf("%-14s caught after %5llu schedules (%s, %zu choices): %s\n",
                    std::string(mutant.name).c_str(), static_cast<unsigned long long>(runs),
                    setup.name.c_str(), found.schedule.size(),
                    std::string(*found.violation).c_str());
        // A failure must be repeatable from its printed list alone.
        Choices again(found.schedule);
        Findings repeated;
        const auto rules = mutant.rules ? mutant.rules() : std::make_unique<StoreRules>();
        Run run(setup, &mutant, *rules, again, repeated);
        run.go(false);
        CHECK(run.violation() == found.violation);
        return;
    }
    FAIL_CHECK(mutant.name, " was not caught in ", runs, " schedules");
}

}  // namespace

TEST_CASE("mutant SEND_FIRST")
{
    must_be_caught(port_mutant<SendFirst>("SEND_FIRST"));
}
TEST_CASE("mutant DELETE")
{
    must_be_caught(store_mutant<Deleting>("DELETE"));
}
TEST_CASE("mutant STEAL")
{
    must_be_caught(store_mutant<Stealing>("STEAL"));
}
TEST_CASE("mutant PARTIAL_DONE")
{
    must_be_caught(port_mutant<PartialDone>("PARTIAL_DONE"));
}
TEST_CASE("mutant RESET_RELEASE")
{
    must_be_caught(port_mutant<ResetRelease>("RESET_RELEASE"));
}
TEST_CASE("mutant AUTORETRY")
{
    must_be_caught(port_mutant<AutoRetry>("AUTORETRY"));
}
TEST_CASE("mutant REPLY_FIRST")
{
    must_be_caught(port_mutant<ReplyFirst>("REPLY_FIRST"));
}
TEST_CASE("mutant OPTIMISTIC")
{
    must_be_caught(port_mutant<Optimistic>("OPTIMISTIC"));
}
TEST_CASE("mutant FALSE_SUCCESS")
{
    must_be_caught(port_mutant<FalseSuccess>("FALSE_SUCCESS"));
}
TEST_CASE("mutant NOFENCE")
{
    must_be_caught(store_mutant<Unfenced>("NOFENCE"));
}
TEST_CASE("mutant PUBLISH_FIRST")
{
    must_be_caught(port_mutant<PublishFirst>("PUBLISH_FIRST"));
}
TEST_CASE("mutant SETNX_LOST")
{
    must_be_caught(port_mutant<MarkBelieved>("SETNX_LOST"));
}
TEST_CASE("mutant ARBITER")
{
    must_be_caught(port_mutant<Arbiter>("ARBITER"));
}
TEST_CASE("mutant RETENTION")
{
    must_be_caught(store_mutant<Forgetful>("RETENTION"));
}
TEST_CASE("mutant NOCLEAN")
{
    must_be_caught(store_mutant<Uncleaned>("NOCLEAN"));
}
TEST_CASE("no mutant: the product passes what catches them")
{
    for (const auto& setup : setups())
        CHECK(!explore(setup).violation);
}
