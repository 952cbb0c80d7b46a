// Many operations at once on one executor.
#pragma once

#include "contract/store_rig.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace onceward::test {

// Starts all of them, runs until the last has ended, and returns their results in order.
template <class T>
std::vector<StoreResult<T>> all_at_once(boost::asio::io_context& io,
                                        std::vector<awaitable<StoreResult<T>>> operations)
{
    std::vector<std::optional<StoreResult<T>>> results(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
        boost::asio::co_spawn(io, std::move(operations[i]),
                              [&results, i](std::exception_ptr failed, StoreResult<T> got) {
                                  CHECK_FALSE(failed);
                                  results[i].emplace(std::move(got));
                              });
    }
    io.restart();
    io.run();
    std::vector<StoreResult<T>> all;
    for (auto& result : results) {
        REQUIRE(result);
        all.push_back(std::move(*result));
    }
    return all;
}

inline bool is_won(const StoreResult<core::Reservation>& result)
{
    return result && std::holds_alternative<core::Won>(*result);
}

// Runs the executor until `true`; the test fails when that takes a minute.
inline void run_until(boost::asio::io_context& io, const std::function<bool()>& reached)
{
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    io.restart();
    while (!reached()) {
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        if (io.run_one_for(std::chrono::milliseconds(20)) == 0) io.restart();
    }
}

}  // namespace onceward::test
