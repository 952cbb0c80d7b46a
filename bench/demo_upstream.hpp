// A deliberately non-idempotent account service: the legacy API of the demonstration, the bench and
// the tests.
#pragma once

#include "account_ledger.hpp"
#include "demo_behaviour.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace onceward::demo {

struct DemoUpstreamOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port; the `listening` line and port() tell which.
    int workers = 1;         // Threads, each with its own connections.
    std::int64_t opening_balance = 1000;
    Behaviour behaviour;    // Of every request; an X-Demo header changes it for one.
    bool may_exit = false;  // die=exit ends the process; otherwise it only resets the connection.
};

// HTTP/1.1 with keep-alive, JSON, no log:
//   POST /v1/charges {"account","amount"}  201 with Location and Set-Cookie, or 402; executed every
//   time. GET /v1/accounts/ID · POST /v1/accounts {"id","balance"} GET /_executions?key=K · GET
//   /_stats · POST /_reset
class AccountService {
public:
    explicit AccountService(DemoUpstreamOptions options);
    ~AccountService();  // Stops.
    AccountService(const AccountService&) = delete;
    AccountService& operator=(const AccountService&) = delete;

    // Listens and serves on its own threads; throws std::system_error when the address cannot be
    // bound. Once only.
    void start();

    // Cuts every connection and joins the threads. May be called twice, not from one of its own
    // threads.
    void stop();

    std::uint16_t port() const;
    AccountLedger& ledger();

private:
    struct Running;
    std::unique_ptr<Running> running_;
};

// Serves until SIGINT or SIGTERM; prints {"event":"listening","upstream":"HOST:PORT"} when ready.
// The exit code: 0, or 1 with a line on stderr when the address cannot be bound.
int run_demo_upstream(const DemoUpstreamOptions& options);

}  // namespace onceward::demo
