// A database seen past the store: blocking, as the owner or as anybody.
#pragma once

#include <string>
#include <vector>

struct pg_conn;

namespace onceward::test {

// One connection of a test. Every method fails the test when the connection does.
class RawPostgres {
public:
    explicit RawPostgres(const std::string& dsn);
    ~RawPostgres();
    RawPostgres(const RawPostgres&) = delete;
    RawPostgres& operator=(const RawPostgres&) = delete;

    // Requires success; the rows of the last command as text, columns separated by `|`.
    std::vector<std::string> run(const std::string& sql);
    // The first column of the only row.
    std::string value(const std::string& sql);
    // The SQLSTATE of the failure that `sql` is expected to be.
    std::string failure(const std::string& sql);
    // Starts it and does not wait.
    void send(const std::string& sql);

private:
    pg_conn* connection_;
};

}  // namespace onceward::test
