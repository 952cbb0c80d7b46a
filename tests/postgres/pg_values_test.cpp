// PostgreSQL's binary format, and its error codes.
#include "store/pg_values.hpp"

#include "store/pg_error.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace onceward;

TEST_CASE("integers go there and back")
{
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{255}, std::int64_t{-32'768},
          std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
        CHECK(read_integer(int8_value(value)) == value);
    }
    CHECK(int4_value(1) == std::string("\0\0\0\1", 4));
    CHECK(read_integer("\xFF\xFE") == -2);
    CHECK(read_integer("") == 0);
    CHECK(read_integer("123456789") == 0);
}

TEST_CASE("an array: dimensions, nulls, element type, count, first index, elements")
{
    PgArray array(PgType::int2);
    array.add_integer(258).add_null();
    CHECK(array.take() == std::string("\0\0\0\1"
                                      "\0\0\0\1"
                                      "\0\0\0\x15"
                                      "\0\0\0\2"
                                      "\0\0\0\1"
                                      "\0\0\0\2\1\2"
                                      "\xFF\xFF\xFF\xFF",
                                      30));
    PgArray empty(PgType::uuid);
    CHECK(empty.take() == std::string("\0\0\0\0"
                                      "\0\0\0\0"
                                      "\0\0\x0B\x86",
                                      12));
}

TEST_CASE("SQLSTATEs by what they mean")
{
    CHECK(fault_of("55P03") == PgFault::lock_not_available);
    CHECK(fault_of("40P01") == PgFault::deadlock);
    CHECK(fault_of("40001") == PgFault::serialization);
    CHECK(fault_of("25006") == PgFault::read_only);
    CHECK(fault_of("53100") == PgFault::disk_full);
    CHECK(fault_of("53300") == PgFault::too_many_connections);
    CHECK(fault_of("57P01") == PgFault::shutting_down);
    CHECK(fault_of("57P03") == PgFault::shutting_down);
    CHECK(fault_of("08006") == PgFault::lost);
    CHECK(fault_of("42P01") == PgFault::missing);
    CHECK(fault_of("42501") == PgFault::denied);
    CHECK(fault_of("22003") == PgFault::bad_value);
    CHECK(fault_of("XX000") == PgFault::other);
    CHECK(ends_connection(PgFault::read_only));
    CHECK_FALSE(ends_connection(PgFault::disk_full));
    CHECK_FALSE(ends_connection(PgFault::lock_not_available));
}

TEST_CASE("D6 the warning of a cancelled wait, in any language")
{
    CHECK(says_not_durable("01000",
                           "canceling wait for synchronous replication due to user request"));
    CHECK(says_not_durable(
        "01000", "storniere Warten auf synchrone Replikation wegen Benutzeraufforderung"));
    CHECK(says_not_durable(
        "01000", "canceling the wait for synchronous replication and terminating connection"));
    CHECK_FALSE(says_not_durable("00000", "canceling wait for synchronous replication"));
}
