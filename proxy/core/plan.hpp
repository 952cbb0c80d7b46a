// What to do with a request once its head is known, before any I/O.
#pragma once

#include "core/key.hpp"
#include "core/problem.hpp"
#include "core/route.hpp"
#include "core/subject.hpp"

#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace onceward::core {

// Fields by which frameworks take another method than the request line's.
inline constexpr std::array<std::string_view, 3> method_override_names{
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"};

// Whether the upstream may take another method than the request line's.
bool overrides_method(const Fields& fields);

// Everything about the configuration that planning needs.
struct Policy {
    RouteTable routes;
    KeySyntax key;
    SubjectRule subject;
};

// Not guarded: stream it through, unchanged.
struct PassThrough {
    bool keyless =
        false;          // It met an enforcing route, without a key, and the route lets that pass.
    int upstream = 0;   // The first matching route's, whatever its mode.
    std::string route;  // That route's name; empty: none.
};

// Answer with this; nothing is read further, stored or sent (OUT-14).
struct Reject {
    Problem problem;
    std::string route;  // Empty: none was met.
};

// Run it at most once under this key.
struct Guard {
    std::shared_ptr<const Route> route;
    std::string method;     // The effective method: part of the action.
    std::string overrides;  // What method-override fields say: the upstream may obey them.
    std::string subject;    // Canonical bytes.
    std::string key;
};

using Plan = std::variant<PassThrough, Reject, Guard>;

// `fields`: the head's fields as received, before hop-by-hop ones are removed. Fields of a trailer
// never get here (KEY-10).
Plan plan(const Policy& policy, std::string_view method, std::string_view target,
          const Fields& fields, bool peer_trusted);

}  // namespace onceward::core
