// What the demonstration's client sends through the proxy, and what it asks the legacy API behind
// its back.
#pragma once

#include "account_ledger.hpp"
#include "demo.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onceward::demo {

struct ChargeOrder {
    std::string key;
    std::string account;
    int amount = 10;
    std::string directives;  // X-Demo; empty: none.
};

// Through the proxy. An exchange that fails has status 0 and the reason as its body.
HttpAnswer send_charge(const DemoOptions& options, const ChargeOrder& order);

// All at once: each on a connection of its own, sent when all are connected. Answers in the order
// given.
std::vector<HttpAnswer> send_charges(const DemoOptions& options,
                                     const std::vector<ChargeOrder>& orders);

// Straight to the legacy API; throw HttpError.
void open_account(const DemoOptions& options, const std::string& account, int balance);
std::int64_t balance_of(const DemoOptions& options, const std::string& account);
KeyCounts counts_of(const DemoOptions& options, const std::string& key);

// Throws HttpError when either side does not answer HTTP.
void require_reachable(const DemoOptions& options);

bool replayed(const HttpAnswer& answer);
std::string problem_code(const HttpAnswer& answer);  // Empty: not one of the proxy's own answers.

// "201", "201 replayed", "422 fingerprint-mismatch", "no answer".
std::string label(const HttpAnswer& answer);
// "1 x 201, 19 x 201 replayed".
std::string label(const std::vector<HttpAnswer>& answers);

}  // namespace onceward::demo
