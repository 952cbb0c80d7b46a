// Blocking libpq.
#include "postgres/raw_postgres.hpp"

#include <doctest/doctest.h>

#include <libpq-fe.h>

namespace onceward::test {

namespace {

struct Result {
    explicit Result(PGresult* made) : raw(made) {}
    ~Result() { PQclear(raw); }
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;
    PGresult* raw;
};

}  // namespace

RawPostgres::RawPostgres(const std::string& dsn) : connection_(PQconnectdb(dsn.c_str()))
{
    if (PQstatus(connection_) != CONNECTION_OK) MESSAGE(PQerrorMessage(connection_));
    REQUIRE(PQstatus(connection_) == CONNECTION_OK);
    PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
}

RawPostgres::~RawPostgres()
{
    PQfinish(connection_);
}

std::vector<std::string> RawPostgres::run(const std::string& sql)
{
    const Result result(PQexec(connection_, sql.c_str()));
    const auto status = PQresultStatus(result.raw);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        MESSAGE(PQerrorMessage(connection_));
    REQUIRE((status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK));
    std::vector<std::string> rows;
    for (int row = 0; row < PQntuples(result.raw); ++row) {
        std::string line;
        for (int column = 0; column < PQnfields(result.raw); ++column) {
            if (column > 0) line.push_back('|');
            line.append(PQgetvalue(result.raw, row, column));
        }
        rows.push_back(std::move(line));
    }
    return rows;
}

std::string RawPostgres::value(const std::string& sql)
{
    const auto rows = run(sql);
    REQUIRE(rows.size() == 1);
    return rows.front();
}

std::string RawPostgres::failure(const std::string& sql)
{
    const Result result(PQexec(connection_, sql.c_str()));
    const char* state = PQresultErrorField(result.raw, PG_DIAG_SQLSTATE);
    return state == nullptr ? "" : state;
}

void RawPostgres::send(const std::string& sql)
{
    REQUIRE(PQsendQuery(connection_, sql.c_str()) == 1);
    PQflush(connection_);
}

}  // namespace onceward::test
