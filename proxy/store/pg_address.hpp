// From the host names of a connection string to addresses, because libpq would block the thread to
// find them.
#pragma once

#include "store/pg_connection.hpp"

#include <string>
#include <variant>

namespace onceward {

// The same target with `hostaddr` filled in, one entry for each address of each host. Sockets and
// numeric addresses stay as they are. A host without an address is left out; an error when none is
// left.
awaitable<std::variant<PgTarget, PgError>> with_addresses(PgTarget target, core::Millis limit);

}  // namespace onceward
