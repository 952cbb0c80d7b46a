// What the demonstration service answers to each request; no socket, no HTTP library.
#pragma once

#include "account_ledger.hpp"
#include "demo_behaviour.hpp"

#include <string>
#include <string_view>

namespace onceward::demo {

struct ApiRequest {
    std::string_view method;
    std::string_view target;
    std::string_view key;         // Idempotency-Key as received; empty when there is none.
    std::string_view directives;  // X-Demo as received.
    std::string_view body;
};

struct ApiAnswer {
    int status = 200;
    std::string body;      // JSON.
    std::string location;  // Empty: no Location field, and no Set-Cookie either.
    std::chrono::milliseconds delay{0};
    Death death = Death::none;
};

// Every function may be called from any thread.
class AccountApi {
public:
    AccountApi(std::int64_t opening_balance, Behaviour behaviour)
        : ledger_(opening_balance), behaviour_(behaviour)
    {
    }

    // Does the work at once; the caller waits `delay` and then answers, or dies as told.
    ApiAnswer answer(const ApiRequest& request);

    AccountLedger& ledger() { return ledger_; }

private:
    ApiAnswer charges(const ApiRequest& request);
    ApiAnswer charged(const ApiRequest& request, const Behaviour& behaviour);
    ApiAnswer open_account(const ApiRequest& request);
    ApiAnswer account(std::string_view id) const;
    ApiAnswer executions(std::string_view query) const;
    ApiAnswer stats() const;

    AccountLedger ledger_;
    const Behaviour behaviour_;
};

}  // namespace onceward::demo
