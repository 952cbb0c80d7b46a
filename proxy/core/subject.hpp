// Whose key is it? (decision 19). There is no default: a key without an owner could be read by
// anyone.
#pragma once

#include "core/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace onceward::core {

enum class SubjectKind : std::uint8_t {
    credential,  // The caller's own, stable credential, from any peer; kept only inside the digest.
    trusted_header,  // A header set by a proxy in front of us; from anybody else it is removed.
    shared,          // All callers are one party: spelled out by the operator.
};

struct SubjectRule {
    SubjectKind kind = SubjectKind::credential;
    std::string header = "Authorization";  // Unused by `shared`.

    // The form that the identity ledger keeps: a change makes old keys new (decision 9).
    std::string form() const;
};

struct SubjectMissing {
    std::string_view why;  // A fixed sentence.
};

// Canonical bytes of the subject, or why there is none.
using SubjectResult = std::variant<std::string, SubjectMissing>;

// `peer_trusted`: the connection comes from one of `trusted_proxies`. A JWT-shaped bearer token and
// a scheme that signs each request are refused under `credential`: no retry would ever match them.
SubjectResult read_subject(const Fields& fields, const SubjectRule& rule, bool peer_trusted);

}  // namespace onceward::core
