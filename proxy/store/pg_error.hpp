// What can go wrong between here and PostgreSQL, and what it proves about the statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward {

enum class PgFault : std::uint8_t {
    lock_not_available,    // 55P03: another transaction holds the row, or its key in an index.
    deadlock,              // 40P01.
    serialization,         // 40001 and the rest of class 40.
    read_only,             // 25006: a standby, or a server told to be read-only.
    disk_full,             // Class 53, but for connections.
    too_many_connections,  // 53300.
    shutting_down,   // Class 57P: stopping, crashed, starting up, or ended by an administrator.
    cannot_connect,  // No server, no name, no permission.
    lost,            // The connection broke.
    late,            // No answer within the deadline; the connection was given up.
    not_durable,     // 01000: committed without its synchronous standby (W6e).
    missing,         // 42P01, 3F000, 42883: the schema is not there.
    denied,          // 42501.
    bad_value,       // Class 22 and 23: one value of the statement.
    other,
};

struct PgError {
    PgFault fault = PgFault::other;
    // False: the statement had no effect and will have none. An ERROR of one statement is such a
    // proof, because its transaction is undone; a broken connection, a FATAL and a given-up wait
    // are not (W6a to W6e).
    bool may_have_happened = false;
    std::string text;   // The library's words, one line.
    std::string state;  // SQLSTATE; empty when the server did not say any.
};

PgFault fault_of(std::string_view sqlstate);

// Trouble of the connection rather than of one statement: the next statement needs another
// connection.
bool ends_connection(PgFault fault);

// PostgreSQL's warning, in any language, that a commit did not wait for its standby (syncrep.c).
bool says_not_durable(std::string_view sqlstate, std::string_view message);

}  // namespace onceward
