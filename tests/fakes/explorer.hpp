// Runs the real Exchange and the real Janitor through every interleaving of their port calls with a
// bounded number of faults, and checks after every step what must hold.
#pragma once

#include "exchange.hpp"
#include "fakes/explored_checks.hpp"
#include "fakes/explored_ports.hpp"
#include "fakes/explored_steps.hpp"
#include "fakes/recording_observer.hpp"
#include "janitor.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstdio>
#include <unordered_set>

namespace onceward::test {

// Stands between an exchange and its ports and gets something wrong.
class PortMutant {
public:
    virtual ~PortMutant() = default;
    virtual ExchangePorts ports() = 0;
};

// A protocol bug on purpose.
struct Mutant {
    std::string_view name;
    std::function<std::unique_ptr<StoreRules>()> rules;  // Empty: core's own.
    std::function<std::unique_ptr<PortMutant>(ExchangePorts, World&)>
        ports;  // Empty: the model's own.
};

struct Findings {
    std::uint64_t runs = 0;  // Schedules that were run, to their end or to a state that was known.
    double schedules = 0;    // Complete schedules that they stand for.
    std::uint64_t states = 0;
    std::uint64_t checks = 0;
    std::unordered_set<StateKey, StateKeyHash>
        ends;  // Of the row, the gate and what really happened.
    std::optional<std::string_view> violation;
    std::vector<int> schedule;  // That led to the violation.
};

// A process that serves clients.
class Worker {
public:
    Worker(World& world, int id, ExchangeLimits limits, const Mutant* mutant)
        : process(numbered(id)),
          store(world, process),
          gate(world, process),
          upstream(world, process),
          clock(world, process),
          mutant_(wrapped(world, mutant)),
          exchange(mutant_ ? mutant_->ports() : own_ports(), limits)
    {
    }

    Process process;
    ExploredStore store;
    ExploredGate gate;
    ExploredUpstream upstream;
    ExploredClock clock;
    RecordingObserver observer;

private:
    static Process numbered(int id)
    {
        Process made;
        made.id = id;
        return made;
    }
    ExchangePorts own_ports() { return {store, gate, upstream, clock, observer}; }
    std::unique_ptr<PortMutant> wrapped(World& world, const Mutant* mutant)
    {
        if (mutant == nullptr || !mutant->ports) return nullptr;
        return mutant->ports(own_ports(), world);
    }
    std::unique_ptr<PortMutant> mutant_;

public:
    Exchange exchange;
};

inline const core::Route& explored_route()
{
    static const core::Route route = [] {
        core::Route made;
        made.name = "charges";
        made.in_progress_wait = core::Millis{25};  // One look.
        return made;
    }();
    return route;
}

// One schedule.
class Run {
public:
    Run(const Setup& setup, const Mutant* mutant, StoreRules& rules, Choices& choices,
        Findings& findings)
        : world_(setup, rules, explored_route().tier.times()),
          checks_(world_),
          mutant_(mutant),
          choices_(choices),
          findings_(findings)
    {
        start();
    }
    ~Run()
    {
        world_.parked.clear();
        world_.graveyard.clear();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void go(bool traced)
    {
        poll();
        checks_.state();
        for (int steps = 0; !checks_.violation; ++steps) {
            const auto moves = possible();
            if (moves.empty()) break;
            checks_.must(steps < 200, "I4 a schedule does not end");
            const auto key = [this] { return state_key(); };
            const auto picked = choices_.pick(static_cast<int>(moves.size()), key);
            if (!picked) return count();
            step(moves[static_cast<std::size_t>(*picked)], traced);
        }
        if (!checks_.violation) finish(traced);
        count();
    }

    std::optional<std::string_view> violation() const { return checks_.violation; }

private:
    struct Move {
        std::size_t call = 0;
        Outcome outcome = Outcome::ok;
    };

    void start()
    {
        ExchangeLimits limits;
        limits.reserve_budget = core::Millis{world_.setup.repeats ? 1 : 0};
        limits.commit_budget = limits.reserve_budget;
        for (int client = 0; client < world_.setup.clients; ++client) {
            if (client == 0 || !world_.setup.one_worker) add_worker(client, limits);
            const bool other = world_.setup.other_body && client == 1;
            spawn(ask(this, workers_.back().get(), other ? "pay 1000" : "pay 10", false));
        }
        if (world_.setup.sweeps > 0) start_janitor();
        if (world_.setup.reopens) spawn(reopen(this, &operator_));
        if (world_.setup.drains) spawn(drain(this, workers_.front().get()));
    }

    void add_worker(int id, ExchangeLimits limits)
    {
        workers_.push_back(std::make_unique<Worker>(world_, id, limits, mutant_));
        workers_.back()->process.is_like_others = !world_.setup.other_body && !world_.setup.drains;
    }

    void start_janitor()
    {
        janitor_store_.after_last_sweep = [this] { janitor_.stop(); };
        spawn(janitor_.run());
    }

    void spawn(awaitable<void> actor)
    {
        boost::asio::co_spawn(io_, std::move(actor), [this](std::exception_ptr thrown) {
            checks_.must(thrown == nullptr, "I4 a coroutine ended with an exception");
        });
    }

    static awaitable<void> ask(Run* run, Worker* worker, std::string body, bool last)
    {
        Guarded guarded;
        guarded.route = std::make_shared<const core::Route>(explored_route());
        guarded.fingerprint.bytes.fill(static_cast<unsigned char>(body.size()));
        guarded.request.body = body;  // A name for the request that the checks know it by.
        auto reply = co_await worker->exchange.handle(std::move(guarded));
        if (last) {
            run->checks_.told_last(reply, body);
        } else {
            run->checks_.told(reply, body);
        }
        bool goes_on = reply.rest != nullptr;
        while (goes_on) {
            const auto piece = co_await reply.rest->next();
            goes_on = piece.state == BodyStream::State::more;
        }
        ++run->answered_[worker];
    }

    static awaitable<void> reopen(Run* run, Process* process)
    {
        co_await run->world_.turn(*process, Step::reopen);
        if (core::reopen(run->world_.slot, run->world_.now, std::chrono::hours{24}))
            ++run->world_.reopenings;
    }

    static awaitable<void> drain(Run* run, Worker* worker)
    {
        co_await run->world_.turn(worker->process, Step::drain);
        co_await worker->exchange.abandon_in_flight();
    }

    std::vector<Move> possible() const
    {
        std::vector<Move> moves;
        for (std::size_t call = 0; call < world_.parked.size(); ++call) {
            const auto step = world_.parked[call]->step;
            if (step == Step::sweep && !world_.time_matters()) continue;
            if (step == Step::reopen && !may_reopen()) continue;
            for (const auto outcome : outcomes_of(step)) {
                if (outcome == Outcome::ok || world_.faults_left > 0)
                    moves.push_back({call, outcome});
            }
        }
        return moves;
    }

    bool may_reopen() const { return world_.slot && world_.slot->state == core::State::unknown; }

    void step(Move move, bool traced)
    {
        auto call = std::move(world_.parked[move.call]);
        world_.parked.erase(world_.parked.begin() + static_cast<std::ptrdiff_t>(move.call));
        auto& process = *call->process;
        if (traced) {
            std::printf("  process %d: %s #%u: %s\n", process.id,
                        std::string(to_string(call->step)).c_str(), call->id,
                        std::string(to_string(move.outcome)).c_str());
        }
        if (move.outcome != Outcome::ok) --world_.faults_left;
        if (move.outcome == Outcome::crash_before) {
            world_.graveyard.push_back(std::move(call));
            world_.kill(process);
        } else {
            if (call->step == Step::wait && !call->rung)
                process.now = std::max(process.now, call->due);
            process.history.mix(call->id).mix(call->rung ? 1 : 0);
            call->stop.resume(move.outcome);
        }
        poll();
        checks_.state();
        for (const auto& worker : workers_) {
            if (std::exchange(worker->gate.published, false)) checks_.published();
        }
        if (traced && world_.slot) {
            std::printf("      row: state %d epoch %u, %d executions\n",
                        static_cast<int>(world_.slot->state), world_.slot->epoch,
                        world_.executions);
        }
    }

    void poll()
    {
        io_.restart();
        io_.poll();
    }

    StateKey state_key() const
    {
        auto key = world_.outer_key().mix(world_.key_of_holder());
        std::vector<StateKey> processes;
        for (const auto& worker : workers_)
            processes.push_back(World::key_of(worker->process));
        std::sort(processes.begin(), processes.end());
        for (const auto& process : processes)
            key.mix(process);
        key.mix(World::key_of(janitor_process_)).mix(World::key_of(operator_));
        return key.mix(static_cast<std::uint64_t>(world_.faults_left));
    }

    void finish(bool traced)
    {
        for (const auto& worker : workers_) {
            if (worker->process.dead) continue;
            const int clients = world_.setup.one_worker ? world_.setup.clients : 1;
            checks_.must(answered_[worker.get()] == clients, "I4 a client is never answered");
            checks_.must(worker->observer.reports.size() == static_cast<std::size_t>(clients),
                         "one report for each request");
            checks_.must(worker->exchange.in_flight() == 0,
                         "I4 a request stays in flight for ever");
        }
        if (!findings_.ends.insert(world_.outer_key()).second) return;
        ask_last(traced);
    }

    // Faults are over, leases have ended: one more client, who must not find the key stuck.
    void ask_last(bool traced)
    {
        if (world_.slot && world_.slot->state == core::State::pending) world_.pass_time();
        world_.parked.clear();
        world_.faults_left = 0;
        world_.healed = true;
        if (traced) std::printf("  the last client\n");
        add_worker(99, {});
        auto* worker = workers_.back().get();
        spawn(ask(this, worker, "pay 10", true));
        poll();
        for (int steps = 0; !world_.parked.empty() && !checks_.violation; ++steps) {
            step({0, Outcome::ok}, traced);
            checks_.must(steps < 200, "I4 a schedule does not end");
        }
        checks_.must(answered_[worker] == 1, "I4 a client is never answered");
    }

    void count() { findings_.checks += checks_.count; }

    World world_;
    Checks checks_;
    const Mutant* mutant_;
    Choices& choices_;
    Findings& findings_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::map<const Worker*, int> answered_;
    Process janitor_process_{.id = 50};
    ExploredStore janitor_store_{world_, janitor_process_};
    ExploredClock janitor_clock_{world_, janitor_process_};
    Janitor janitor_{janitor_store_, janitor_clock_, {}, [](const SweepReport&) {}};
    Process operator_{.id = 60};
    boost::asio::io_context io_{1};  // Last: coroutines end before what they use.
};

// Explores everything, up to the first violation.
inline Findings explore(const Setup& setup, const Mutant* mutant = nullptr)
{
    Choices choices(setup.prunes);
    Findings findings;
    const auto rules =
        mutant != nullptr && mutant->rules ? mutant->rules() : std::make_unique<StoreRules>();
    do {
        Run run(setup, mutant, *rules, choices, findings);
        run.go(false);
        ++findings.runs;
        if (run.violation()) {
            findings.violation = run.violation();
            findings.schedule = choices.made();
            break;
        }
    } while (choices.advance());
    findings.schedules = choices.schedules();
    findings.states = choices.states();
    return findings;
}

// Runs one schedule again, step by step on stdout.
inline Findings replay(const Setup& setup, const std::vector<int>& schedule,
                       const Mutant* mutant = nullptr)
{
    Choices choices(schedule);
    Findings findings;
    const auto rules =
        mutant != nullptr && mutant->rules ? mutant->rules() : std::make_unique<StoreRules>();
    Run run(setup, mutant, *rules, choices, findings);
    run.go(true);
    findings.runs = 1;
    findings.violation = run.violation();
    return findings;
}

}  // namespace onceward::test
