// What the names of keys are made of, as the store remembers it: a start that would make old keys
// new ones, and so run old requests again, is refused (decision 9).
#pragma once

#include "store/open_error.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace onceward {

// The form in which route and method enter a key's digest; changes only together with core/key.cpp.
inline constexpr const char* action_form = "1";

// What the configuration says.
struct Identity {
    std::vector<std::string> route_ids;
    std::string subject_form;  // core::SubjectRule::form().
};

// What the store has seen so far.
struct Ledger {
    std::set<std::string> route_ids;
    std::optional<std::string> subject_form;
    std::optional<std::string> action_form;

    bool operator==(const Ledger&) const = default;
};

struct LedgerCheck {
    std::vector<OpenError> refusals;
    Ledger updated;  // What the store shall remember, when there are no refusals.
};

// `forget`: route ids, or `subject`, whose old keys the operator gives up (`--forget`, once).
LedgerCheck check_identity(const Ledger& ledger, const Identity& identity,
                           const std::vector<std::string>& forget);

}  // namespace onceward
