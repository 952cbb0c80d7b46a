// The demonstration: a client that retries, what it is answered, and what the legacy API really
// did.
#pragma once

#include "http_client.hpp"

#include <chrono>
#include <string>

namespace onceward::demo {

struct DemoOptions {
    Endpoint proxy;
    Endpoint upstream;  // Asked directly: what was really executed?
    std::string credential =
        "Bearer demo-customer";                 // Authorization, for `keys.subject: credential`.
    std::chrono::milliseconds timeout{30'000};  // Of one request.
    bool assert_expectations = false;
};

// Prints one table on stdout, a row per step; then whatever was not as expected. The exit code: 0;
// 1 with `assert_expectations` when anything differed; 7 when proxy or upstream cannot be reached.
// Uses fresh keys and accounts, so it may be run again on the same store.
int run_demo(const DemoOptions& options);

}  // namespace onceward::demo
