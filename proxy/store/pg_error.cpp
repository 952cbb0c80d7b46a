// SQLSTATEs, by what they mean to a store.
#include "store/pg_error.hpp"

namespace onceward {

PgFault fault_of(std::string_view sqlstate)
{
    const auto in_class = [&](std::string_view prefix) { return sqlstate.starts_with(prefix); };
    if (sqlstate == "55P03") return PgFault::lock_not_available;
    if (sqlstate == "40P01") return PgFault::deadlock;
    if (in_class("40")) return PgFault::serialization;
    if (sqlstate == "25006") return PgFault::read_only;
    if (sqlstate == "53300") return PgFault::too_many_connections;
    if (in_class("53")) return PgFault::disk_full;
    if (in_class("57P")) return PgFault::shutting_down;
    if (in_class("08")) return PgFault::lost;
    if (sqlstate == "42P01" || sqlstate == "3F000" || sqlstate == "42883") return PgFault::missing;
    if (sqlstate == "42501") return PgFault::denied;
    if (in_class("22") || in_class("23")) return PgFault::bad_value;
    return PgFault::other;
}

bool ends_connection(PgFault fault)
{
    switch (fault) {
        case PgFault::read_only:
        case PgFault::too_many_connections:
        case PgFault::shutting_down:
        case PgFault::cannot_connect:
        case PgFault::lost:
        case PgFault::late: return true;
        case PgFault::lock_not_available:
        case PgFault::deadlock:
        case PgFault::serialization:
        case PgFault::disk_full:
        case PgFault::not_durable:
        case PgFault::missing:
        case PgFault::denied:
        case PgFault::bad_value:
        case PgFault::other: return false;
    }
    return true;
}

// The text may be translated, the SQLSTATE may not; and there is no other warning with it that a
// statement of ours can cause. Better one doubt too many than an unreplicated reservation taken for
// a safe one.
bool says_not_durable(std::string_view sqlstate, std::string_view message)
{
    if (sqlstate != "01000") return false;
    return message.find("PID") == std::string_view::npos;
}

}  // namespace onceward
