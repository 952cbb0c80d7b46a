// A PostgreSQL of this test executable alone, with a database for each test that asks.
#pragma once

#include <string>
#include <vector>

namespace onceward::test {

class PrivateServer {
public:
    // Started with the first call, gone with the process. Fails the test, with the reason, when
    // there is no server to be had: a store that was not tried must not look tried.
    static PrivateServer& get();

    // A new database with the schema. `clock`: with a clock that the owner sets (table test_clock).
    // For tests that change more than rows: making one, and removing its files at the end, takes
    // half a second.
    std::string new_database(bool clock);

    // An empty one that may have been used before, until it is given back.
    std::string borrow(bool clock);
    void give_back(const std::string& database, bool clock);

    std::string proxy_dsn(const std::string& database) const;
    std::string owner_dsn(const std::string& database) const;
    const std::string& port() const { return port_; }  // It listens on 127.0.0.1, too.
    const std::string& directory() const { return directory_; }

    // As after a crash of the server. It comes back with `start`.
    void stop_immediately();
    void start();

    PrivateServer();
    ~PrivateServer();
    PrivateServer(const PrivateServer&) = delete;
    PrivateServer& operator=(const PrivateServer&) = delete;

private:
    std::string stack(const std::string& command) const;
    void make_templates();

    std::string directory_;
    std::string port_;
    int made_ = 0;
    std::vector<std::string> free_[2];
};

}  // namespace onceward::test
