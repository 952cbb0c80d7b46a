// States and reasons as people read them: in logs, records and tables.
#pragma once

#include "core/record.hpp"

#include <string_view>

namespace onceward {

// PENDING, DONE, FAILED, UNKNOWN, RELEASED, EXPIRED.
std::string_view state_name(core::State state);

// lease, crash, drain, timeout, ...; empty for Reason::none.
std::string_view reason_name(core::Reason reason);

// full, nothing, status_only, too_large.
std::string_view kept_name(core::Kept kept);

}  // namespace onceward
