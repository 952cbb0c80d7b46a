// Results of the outside world: a value, or why there is none.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>

#include <cstdint>

namespace onceward {

template <class T>
using awaitable = boost::asio::awaitable<T>;

// Why a store could not do what it was asked. Stores log the library's own words; these are for
// decisions.
enum class StoreError : std::uint8_t {
    unavailable = 1,  // The operation did not take effect and will not.
    ambiguous = 2,   // It may or may not have taken effect: repeating it with the same token tells.
    overloaded = 3,  // The bounded queue is full; nothing was attempted.
};

// `StoreError` as the error type keeps the request path free of error categories and exceptions.
template <class T>
using StoreResult = boost::system::result<T, StoreError>;

// Calling value() on a failed result is a bug: the process ends, rather than going on with a guess.
[[noreturn]] void throw_exception_from_error(StoreError error, const boost::source_location& where);

}  // namespace onceward
