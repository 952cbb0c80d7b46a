// Every interleaving of two retries of one request, with the janitor, an operator and a drain, and
// at most one fault at any call.
#include "fakes/explorer.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

using namespace onceward;
using namespace onceward::test;

namespace {

std::string spelled(const std::vector<int>& schedule)
{
    std::string text;
    for (const int choice : schedule)
        text += " " + std::to_string(choice);
    return text;
}

// ONCEWARD_SCHEDULE="NAME: 1 0 2", as a failure prints it: that one schedule, told step by step.
struct Wanted {
    std::string name;
    std::vector<int> schedule;
};
std::optional<Wanted> wanted()
{
    const char* text = std::getenv("ONCEWARD_SCHEDULE");
    if (text == nullptr) return std::nullopt;
    const std::string_view all(text);
    const auto colon = all.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    Wanted made;
    made.name = all.substr(0, colon);
    std::istringstream numbers{std::string(all.substr(colon + 1))};
    for (int choice = 0; numbers >> choice;)
        made.schedule.push_back(choice);
    return made;
}

struct Totals {
    std::uint64_t runs = 0;
    double schedules = 0;
    std::uint64_t checks = 0;
};

// ONCEWARD_FAULTS=2: deeper, for hours when nobody waits.
int faults_allowed()
{
    const char* text = std::getenv("ONCEWARD_FAULTS");
    return text == nullptr ? 1 : std::atoi(text);
}

void explore_and_tell(Setup setup, Totals& totals)
{
    if (setup.faults > 0) setup.faults = faults_allowed();
    if (const auto only = wanted()) {
        if (only->name != setup.name) return;
        std::printf("%s:%s\n", setup.name.c_str(), spelled(only->schedule).c_str());
        const auto seen = replay(setup, only->schedule);
        CHECK_MESSAGE(!seen.violation, seen.violation.value_or(""));
        return;
    }
    const auto began = std::chrono::steady_clock::now();
    const auto found = explore(setup);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf(
        "%-44s %12.0f schedules  %7llu runs  %7llu states  %8llu checks  %5zu ends  %5.2f s\n",
        setup.name.c_str(), found.schedules, static_cast<unsigned long long>(found.runs),
        static_cast<unsigned long long>(found.states),
        static_cast<unsigned long long>(found.checks), found.ends.size(), took.count());
    totals.runs += found.runs;
    totals.schedules += found.schedules;
    totals.checks += found.checks;
    CHECK_MESSAGE(!found.violation, setup.name, ": ", found.violation.value_or(""),
                  "\n  look again with ONCEWARD_SCHEDULE=\"", setup.name, ":",
                  spelled(found.schedule), "\"");
}

const std::vector<std::pair<std::string, Api>> apis{
    {"201", Api::created},      {"422", Api::declined}, {"500", Api::failing},
    {"refused", Api::refusing}, {"429", Api::limiting}, {"oversized", Api::oversized},
};

void explore_each_api(const Setup& base)
{
    Totals totals;
    for (const auto& [name, api] : apis) {
        auto setup = base;
        setup.api = api;
        setup.name = base.name + "/" + name;
        explore_and_tell(setup, totals);
    }
    std::printf("%-44s %12.0f schedules  %7llu runs  %26llu checks\n\n", base.name.c_str(),
                totals.schedules, static_cast<unsigned long long>(totals.runs),
                static_cast<unsigned long long>(totals.checks));
}

}  // namespace

TEST_CASE("two workers, no fault")
{
    explore_each_api({.name = "two workers, no fault", .faults = 0});
}
TEST_CASE("two workers, one fault")
{
    explore_each_api({.name = "two workers"});
}
TEST_CASE("two workers, one fault, store calls repeated")
{
    explore_each_api({.name = "two workers, repeats", .repeats = true});
}
TEST_CASE("two workers, one fault, a lease ends at any moment")
{
    explore_each_api({.name = "two workers, lease ends", .sweeps = 1});
}
TEST_CASE("one worker, one fault")
{
    explore_each_api({.name = "one worker", .one_worker = true});
}
TEST_CASE("one worker, one fault, a lease ends at any moment")
{
    explore_each_api({.name = "one worker, lease ends", .one_worker = true, .sweeps = 1});
}
TEST_CASE("two workers, one fault, the same key for two requests")
{
    explore_each_api({.name = "two workers, two requests", .other_body = true, .sweeps = 1});
}
TEST_CASE("two workers, one fault, lease and retention end at any moment")
{
    explore_each_api({.name = "two workers, retention ends", .sweeps = 2, .retention = true});
}
TEST_CASE("two workers, one fault, drained at any moment")
{
    explore_each_api(
        {.name = "two workers, drained", .repeats = true, .sweeps = 1, .drains = true});
}
TEST_CASE("three workers, an operator re-opens the key")
{
    explore_each_api({.name = "three workers, re-opened, no fault",
                      .faults = 0,
                      .clients = 3,
                      .sweeps = 1,
                      .reopens = true});
}
TEST_CASE("three workers, one fault, an operator re-opens the key")
{
    explore_each_api(
        {.name = "three workers, re-opened", .clients = 3, .sweeps = 1, .reopens = true});
}

TEST_CASE("leaving out known states changes neither the schedules nor their ends")
{
    if (wanted()) return;
    for (const auto api : {Api::created, Api::failing, Api::oversized}) {
        for (const bool one_worker : {false, true}) {
            Setup setup{
                .name = "", .api = api, .one_worker = one_worker, .sweeps = one_worker ? 0 : 1};
            const auto pruned = explore(setup);
            setup.prunes = false;
            const auto whole = explore(setup);
            CHECK(pruned.schedules == static_cast<double>(whole.runs));
            CHECK(pruned.ends == whole.ends);
        }
    }
}
