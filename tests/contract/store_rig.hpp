// A store under test, with its clock in the test's hand and coroutines run to their end.
#pragma once

#include "core/retention.hpp"
#include "ports/key_store.hpp"
#include "store/open_error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::test {

inline constexpr core::StoreTime first_moment{core::Millis{1'800'000'000'000}};

// The first keeps its tombstones for 1,000 s and its UNKNOWN rows for 300 s, the second keeps both
// for ever.
std::vector<core::Tier> contract_tiers();

// What an operator would read, a refusal after the other.
std::string text_of(const std::vector<OpenError>& refusals);

class StoreRig {
public:
    virtual ~StoreRig() = default;

    virtual KeyStore& store() = 0;
    virtual void set_time(core::StoreTime now) = 0;

    core::StoreTime now() const { return now_; }
    void advance(core::Millis duration)
    {
        now_ += duration;
        set_time(now_);
    }

    // Runs one operation to its end.
    template <class T>
    StoreResult<T> result(awaitable<StoreResult<T>> operation)
    {
        std::optional<StoreResult<T>> result;
        boost::asio::co_spawn(io, std::move(operation),
                              [&](std::exception_ptr failed, StoreResult<T> got) {
                                  CHECK_FALSE(failed);
                                  result.emplace(std::move(got));
                              });
        io.restart();
        io.run();
        REQUIRE(result);
        return std::move(*result);
    }

    template <class T>
    T done(awaitable<StoreResult<T>> operation)
    {
        auto got = result(std::move(operation));
        REQUIRE(got.has_value());
        return std::move(*got);
    }

    boost::asio::io_context io{1};  // Outlives the store's client, which a derived class owns.

private:
    core::StoreTime now_ = first_moment;
};

// Values that a test can tell apart at a glance.
core::Digest digest_of(unsigned number);
core::Token token_of(unsigned number);
core::Fingerprint fingerprint_of(unsigned number);
core::Claim claim_of(unsigned token, unsigned fingerprint = 1);

// Kept for 100 s.
core::Settlement settlement_of(core::State state, int status, std::string_view body);

}  // namespace onceward::test
