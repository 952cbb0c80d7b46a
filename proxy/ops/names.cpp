// The words for states and reasons.
#include "ops/names.hpp"

namespace onceward {

std::string_view state_name(core::State state)
{
    switch (state) {
        case core::State::pending: return "PENDING";
        case core::State::done: return "DONE";
        case core::State::failed: return "FAILED";
        case core::State::unknown: return "UNKNOWN";
        case core::State::released: return "RELEASED";
        case core::State::expired: return "EXPIRED";
    }
    return "UNKNOWN";
}

std::string_view reason_name(core::Reason reason)
{
    switch (reason) {
        case core::Reason::none: return "";
        case core::Reason::lease: return "lease";
        case core::Reason::crash: return "crash";
        case core::Reason::drain: return "drain";
        case core::Reason::timeout: return "timeout";
        case core::Reason::reset: return "reset";
        case core::Reason::truncated: return "truncated";
        case core::Reason::garbage: return "garbage";
        case core::Reason::server_error: return "server_error";
        case core::Reason::unproved_end: return "unproved_end";
        case core::Reason::listed: return "listed";
        case core::Reason::not_sent: return "not_sent";
        case core::Reason::declined: return "declined";
        case core::Reason::reopened: return "reopened";
    }
    return "";
}

std::string_view kept_name(core::Kept kept)
{
    switch (kept) {
        case core::Kept::nothing: return "nothing";
        case core::Kept::full: return "full";
        case core::Kept::status_only: return "status_only";
        case core::Kept::too_large: return "too_large";
    }
    return "nothing";
}

}  // namespace onceward
