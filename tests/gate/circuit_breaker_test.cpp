// The breaker, with a clock made of numbers.
#include "gate/circuit_breaker.hpp"

#include <doctest/doctest.h>

using namespace onceward;
using namespace std::chrono_literals;

TEST_CASE("it opens after failures in a row, and one question at a time finds the way back")
{
    CircuitBreaker breaker({3, 100ms, 300ms});
    CircuitBreaker::Time now = 1s;
    breaker.failed(now);
    breaker.failed(now);
    breaker.succeeded();
    breaker.failed(now);
    breaker.failed(now);
    CHECK(breaker.allows(now));
    breaker.failed(now);
    CHECK(breaker.is_open());
    CHECK_FALSE(breaker.allows(now + 99ms));

    now += 100ms;
    CHECK(breaker.allows(now));
    CHECK_FALSE(breaker.allows(now));
    breaker.failed(now);
    CHECK_FALSE(breaker.allows(now + 199ms));

    now += 200ms;
    CHECK(breaker.allows(now));
    breaker.failed(now);
    CHECK_FALSE(breaker.allows(now + 299ms));

    now += 300ms;
    CHECK(breaker.allows(now));
    breaker.succeeded();
    CHECK_FALSE(breaker.is_open());
    CHECK(breaker.allows(now));
    CHECK(breaker.allows(now));
}

TEST_CASE("questions under way when it opened do not lengthen the pause")
{
    CircuitBreaker breaker({2, 100ms, 1s});
    const CircuitBreaker::Time now = 1s;
    for (int i = 0; i < 64; ++i)
        breaker.failed(now);
    CHECK_FALSE(breaker.allows(now + 99ms));
    CHECK(breaker.allows(now + 100ms));
}
