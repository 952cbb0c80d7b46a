// The steps of the demonstration, and what each must show.
#include "demo.hpp"

#include "demo_client.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

namespace onceward::demo {

namespace {

constexpr int opening_balance = 1000;
constexpr int amount = 10;

struct Row {
    const char* step;
    std::string answer;
    std::uint64_t executed = 0;
    std::string remark;
};

std::string random_name()
{
    std::random_device source;
    const std::uint64_t number = (std::uint64_t{source()} << 32) | source();
    std::string name(17, '\0');
    name.resize(static_cast<std::size_t>(std::snprintf(name.data(), name.size(), "%016llx",
                                                       static_cast<unsigned long long>(number))));
    return name;
}

class Demonstration {
public:
    explicit Demonstration(const DemoOptions& options) : options_(options) {}

    void run()
    {
        first_charge();
        same_request_again();
        parallel_taps();
        hundred_with_one_key();
        hundred_with_fresh_keys();
        other_amount();
        declined_card();
        dies_after_charging();
        new_key_on_each_retry();
    }

    const std::vector<std::string>& differences() const { return differences_; }

private:
    ChargeOrder order(const char* key, const char* account, const char* directives = "") const
    {
        return {"demo-" + run_ + "-" + key, "demo-" + run_ + "-" + account, amount, directives};
    }

    void open(const ChargeOrder& charge, int balance = opening_balance) const
    {
        open_account(options_, charge.account, balance);
    }

    // Prints the step's row, after its checks.
    void finish(const Row& row)
    {
        const bool as_expected = differences_.size() == seen_;
        seen_ = differences_.size();
        std::printf(" %-46s %-28s %-8llu %s\n", row.step, row.answer.c_str(),
                    static_cast<unsigned long long>(row.executed),
                    as_expected ? row.remark.c_str() : "<- NOT AS EXPECTED");
        std::fflush(stdout);
    }

    void expect(bool holds, const char* step, const std::string& what)
    {
        if (!holds) differences_.push_back(std::string(step) + ": expected " + what);
    }

    void expect_label(const HttpAnswer& answer, std::string_view wanted, const char* step)
    {
        expect(label(answer) == wanted, step,
               "answer " + std::string(wanted) + ", not " + label(answer) +
                   (answer.status == 0 ? " (" + answer.body + ")" : ""));
    }

    // The legacy API did it `wanted` times, and was asked as often: nothing is ever sent twice.
    void expect_counts(const KeyCounts& counts, std::uint64_t wanted, const char* step)
    {
        expect(counts.executions == wanted, step,
               std::to_string(wanted) + " executions, not " + std::to_string(counts.executions));
        expect(counts.received == wanted, step,
               std::to_string(wanted) + " requests at the legacy API, not " +
                   std::to_string(counts.received));
    }

    void expect_balance(const std::string& account, std::int64_t wanted, const char* step)
    {
        const auto balance = balance_of(options_, account);
        expect(balance == wanted, step,
               "balance " + std::to_string(wanted) + ", not " + std::to_string(balance));
    }

    // Byte for byte, with what a client needs from the head and without what was meant for the
    // first one only.
    void expect_replay(const HttpAnswer& first, const HttpAnswer& again, const char* step)
    {
        expect(replayed(again), step, "Idempotent-Replayed: true");
        expect(again.status == first.status, step, "the first answer's status");
        expect(again.body == first.body, step, "the first answer's body, byte for byte");
        for (const char* name : {"Location", "Content-Type"}) {
            expect(again.find(name) == first.find(name), step,
                   "the first answer's " + std::string(name));
        }
        expect(!again.find("Set-Cookie"), step, "no Set-Cookie on a replay");
    }

    // One of them is fresh, the others are its replays.
    void expect_one_and_replays(const std::vector<HttpAnswer>& answers, const char* step)
    {
        const auto fresh =
            std::find_if(answers.begin(), answers.end(),
                         [](const HttpAnswer& answer) { return label(answer) == "201"; });
        if (fresh == answers.end()) return expect(false, step, "one fresh 201");
        for (auto at = answers.begin(); at != answers.end(); ++at) {
            if (at == fresh) continue;
            expect_label(*at, "201 replayed", step);
            if (replayed(*at)) expect_replay(*fresh, *at, step);
        }
    }

    void first_charge()
    {
        const char* const step = "1 first charge, key k1";
        const auto charge = order("k1", "alice");
        open(charge);
        first_ = send_charge(options_, charge);
        const auto counts = counts_of(options_, charge.key);
        expect_label(first_, "201", step);
        expect(first_.find("Location").has_value(), step, "a Location");
        expect(first_.find("Set-Cookie").has_value(), step, "a Set-Cookie");
        expect_counts(counts, 1, step);
        expect_balance(charge.account, opening_balance - amount, step);
        finish({step, label(first_), counts.executions, ""});
    }

    void same_request_again()
    {
        const char* const step = "2 same request again (lost response)";
        const auto charge = order("k1", "alice");
        const auto again = send_charge(options_, charge);
        const auto counts = counts_of(options_, charge.key);
        expect_replay(first_, again, step);
        expect_counts(counts, 1, step);
        expect_balance(charge.account, opening_balance - amount, step);
        finish({step, label(again), counts.executions, "<- would have been 2"});
    }

    // The same order from so many clients at once.
    void together(const char* step, const ChargeOrder& charge, std::size_t clients,
                  const char* remark)
    {
        open(charge);
        const auto answers = send_charges(options_, std::vector<ChargeOrder>(clients, charge));
        const auto counts = counts_of(options_, charge.key);
        expect_one_and_replays(answers, step);
        expect_counts(counts, 1, step);
        expect_balance(charge.account, opening_balance - amount, step);
        finish({step, label(answers), counts.executions, remark});
    }

    void parallel_taps()
    {
        together("3 20 parallel taps on \"Pay\", key k2", order("k2", "bob", "delay=100"), 20,
                 "<- would have been 20");
    }

    void hundred_with_one_key()
    {
        together("  100 at once, one key, 10 of 1000 each", order("one", "carol"), 100,
                 "balance 990 <- would have been 0");
    }

    void hundred_with_fresh_keys()
    {
        const char* const step = "  100 at once, a fresh key each";
        const auto charge = order("fresh", "dave");
        open(charge);
        std::vector<ChargeOrder> orders(100, charge);
        for (std::size_t at = 0; at < orders.size(); ++at)
            orders[at].key += "-" + std::to_string(at);
        const auto answers = send_charges(options_, orders);
        std::uint64_t executions = 0;
        for (const auto& sent : orders)
            executions += counts_of(options_, sent.key).executions;
        for (const auto& answer : answers)
            expect_label(answer, "201", step);
        expect(executions == orders.size(), step,
               "100 executions, not " + std::to_string(executions));
        expect_balance(charge.account, 0, step);
        finish({step, label(answers), executions, "balance 0: a fresh key is a new operation"});
    }

    void other_amount()
    {
        const char* const step = "4 key k1 with another amount";
        auto charge = order("k1", "alice");
        charge.amount = amount + 1;
        const auto answer = send_charge(options_, charge);
        const auto counts = counts_of(options_, charge.key);
        expect_label(answer, "422 fingerprint-mismatch", step);
        expect_counts(counts, 1, step);
        expect_balance(charge.account, opening_balance - amount, step);
        finish({step, label(answer), counts.executions, "<- the other amount was never sent"});
    }

    void declined_card()
    {
        const char* const step = "5 declined card, then retry";
        const auto charge = order("k3", "erin");
        open(charge, amount - 1);
        const auto first = send_charge(options_, charge);
        const auto again = send_charge(options_, charge);
        const auto counts = counts_of(options_, charge.key);
        expect_label(first, "402", step);
        expect_replay(first, again, step);
        expect_counts(counts, 1, step);
        finish({step, label(first) + ", " + label(again), counts.executions, ""});
    }

    void dies_after_charging()
    {
        const char* const step = "6 legacy API dies after charging, then retry";
        const auto charge = order("k4", "frank", "die=after-charge");
        open(charge);
        const auto first = send_charge(options_, charge);
        const auto again = send_charge(options_, charge);
        const auto counts = counts_of(options_, charge.key);
        for (const auto& answer : {first, again}) {
            expect_label(answer, "502 outcome-unknown", step);
            expect(answer.find("Idempotent-Retryable") == "false", step,
                   "Idempotent-Retryable: false");
        }
        expect_counts(counts, 1, step);
        expect_balance(charge.account, opening_balance - amount, step);
        const auto answers = first.status != 0 && label(first) == label(again)
                                 ? std::to_string(first.status) + ", " + label(again)
                                 : label(first) + ", " + label(again);
        finish({step, answers, counts.executions, "<- nobody can know: said so, not sent again"});
    }

    void new_key_on_each_retry()
    {
        const char* const step = "7 client makes a NEW key on each retry";
        const auto charge = order("k5", "grace");
        const auto retry = order("k6", "grace");
        open(charge);
        const auto first = send_charge(options_, charge);
        const auto again = send_charge(options_, retry);
        const auto executions =
            counts_of(options_, charge.key).executions + counts_of(options_, retry.key).executions;
        expect_label(first, "201", step);
        expect_label(again, "201", step);
        expect(executions == 2, step, "2 executions, not " + std::to_string(executions));
        expect_balance(charge.account, opening_balance - 2 * amount, step);
        finish({step, label(first) + ", " + label(again), executions,
                "<- not stopped: the client's mistake"});
    }

    const DemoOptions options_;
    const std::string run_ = random_name();
    HttpAnswer first_;
    std::vector<std::string> differences_;
    std::size_t seen_ = 0;  // Differences of the steps before this one.
};

// Equal ones once: a hundred clients may all have the same complaint.
void print_differences(const std::vector<std::string>& differences)
{
    std::printf("\nNot as expected:\n");
    for (auto at = differences.begin(); at != differences.end(); ++at) {
        if (std::find(differences.begin(), at, *at) != at) continue;
        const auto times = std::count(at, differences.end(), *at);
        std::printf("  %s%s\n", at->c_str(),
                    times > 1 ? (" (" + std::to_string(times) + " times)").c_str() : "");
    }
}

}  // namespace

int run_demo(const DemoOptions& options)
{
    Demonstration demonstration(options);
    try {
        require_reachable(options);
        std::printf("onceward demo: legacy API at %s (no idempotency), proxy at %s\n",
                    options.upstream.text().c_str(), options.proxy.text().c_str());
        std::printf(" %-46s %-28s %s\n", "step", "answer", "legacy API executed");
        demonstration.run();
    } catch (const HttpError& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 7;
    }
    if (demonstration.differences().empty()) {
        std::printf("\nEvery step as expected.\n");
        return 0;
    }
    print_differences(demonstration.differences());
    return options.assert_expectations ? 1 : 0;
}

}  // namespace onceward::demo
