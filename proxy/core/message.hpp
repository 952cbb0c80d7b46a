// A request and a response as plain values: no library, no socket.
#pragma once

#include "core/fields.hpp"

#include <string>

namespace onceward::core {

struct Request {
    std::string method;  // As received: methods are case-sensitive (RFC 9110 section 9.1).
    std::string target;  // origin-form bytes, forwarded unchanged (HTP-13).
    Fields fields;       // End-to-end fields only: hop-by-hop ones are gone (HTP-8).
    std::string body;    // After transfer decoding, before content decoding (FPR-2).
};

struct Response {
    int status = 0;  // 200..599; interim answers never get here (OUT-12).
    Fields fields;
    std::string body;

    bool operator==(const Response&) const = default;
};

}  // namespace onceward::core
