// What the access log says about one request. Nothing in it can replay a request or name its
// caller.
#pragma once

#include "ports/observer.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace onceward {

// The texts need to live only as long as the call that they are given to.
struct AccessRecord {
    std::string_view request_id;
    std::string_view client_ip;
    std::string_view method;
    std::string_view path;   // What follows a `?` is never logged.
    std::string_view route;  // The configured name; empty: no route was met.
    Decision decision = Decision::passthrough;
    std::string_view key_id;      // Of the digest, see log_key_id; never the key. Empty: no key.
    std::string_view subject_id;  // A hash; empty: none.
    std::string_view
        reason;  // Why an outcome is unknown or a request was released; empty: neither.
    std::string_view error_code;  // Of our own problem document; empty: the upstream answered.
    int status = 0;               // Zero: the client left before there was an answer.
    int upstream_status = 0;      // Zero: the upstream was not asked, or did not answer.
    std::chrono::microseconds total{};     // First byte of the head to last byte of the answer.
    std::chrono::microseconds upstream{};  // Of `total`, waiting for the upstream.
    std::uint64_t request_bytes = 0;       // Of the bodies.
    std::uint64_t response_bytes = 0;
    bool replayed = false;
};

// The name of a key in the log: twelve hexadecimal digits of its digest.
inline std::string log_key_id(const core::Digest& digest)
{
    return digest.hex().substr(0, 12);
}

}  // namespace onceward
