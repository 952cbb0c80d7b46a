// The PostgreSQL store as a store under test, in a database of its own.
#pragma once

#include "contract/store_rig.hpp"
#include "postgres/private_server.hpp"
#include "postgres/raw_postgres.hpp"
#include "store/postgres_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace onceward::test {

// Ephemeral, because the test's server does not write to its disk.
PostgresOptions postgres_options(const std::string& database);

// Requires that it opens.
std::unique_ptr<PostgresStore> open_store(PostgresOptions options);

// Requires that it does not: why, one line for each reason.
std::string refusal(PostgresOptions options);

// Sweeping includes the purge, which an owner's timer does in production.
class PostgresRig final : public StoreRig {
public:
    enum class Clock { by_hand, real };
    enum class Database { borrowed, own };

    explicit PostgresRig(Clock clock = Clock::by_hand) : PostgresRig(clock, [](PostgresOptions&) {})
    {
    }

    // `adjust` may change the options.
    template <class Adjust>
    PostgresRig(Clock clock, Adjust adjust, Database database = Database::borrowed)
        : PostgresRig(clock, database, PrivateServer::get())
    {
        auto options = postgres_options(database_);
        adjust(options);
        open(std::move(options));
    }

    ~PostgresRig() override;

    KeyStore& store() override { return *purging_; }
    // Without the purge.
    KeyStore& client() { return *client_; }
    // One more worker, or one more proxy, on the same executor.
    std::unique_ptr<KeyStore> another() { return postgres_->client(io.get_executor()); }
    void set_time(core::StoreTime now) override;

    const std::string& database() const { return database_; }
    RawPostgres& owner() { return owner_; }
    PostgresStore& postgres() { return *postgres_; }

private:
    PostgresRig(Clock clock, Database database, PrivateServer& server);
    void open(PostgresOptions options);

    Clock clock_;
    Database kind_;
    std::string database_;
    RawPostgres owner_;
    std::unique_ptr<PostgresStore> postgres_;
    std::unique_ptr<KeyStore> client_;
    std::unique_ptr<KeyStore> purging_;
};

}  // namespace onceward::test
