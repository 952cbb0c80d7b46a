// The store of many proxies: one PostgreSQL primary, whose unique constraint decides who may
// forward.
#pragma once

#include "ports/key_store.hpp"
#include "store/postgres_opening.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace onceward {

class PostgresStore;
using PostgresOpened = std::variant<std::vector<OpenError>, std::unique_ptr<PostgresStore>>;

// One per process. It has no thread and no connection of its own: each worker's client has them.
class PostgresStore {
public:
    // Blocks until the database has answered, some seconds at most: only before the first request.
    // Every reason not to start comes back as a value.
    static PostgresOpened open(PostgresOptions options);

    // One for each worker. All methods of the client are called on `worker`, which one thread runs,
    // and resume there. It opens its connections with its first operation and has no timer and no
    // coroutine while nobody waits. The client is destroyed on its worker's thread, or after that
    // thread has ended, and before the io_context behind `worker`; coroutines that still wait then
    // are dropped, never resumed. Operations cannot be cancelled. The client may outlive the store.
    std::unique_ptr<KeyStore> client(boost::asio::any_io_executor worker);

    // What keys and fingerprints are made with.
    const core::Secret& secret() const { return opened_->secret; }
    // What the server's settings are worth, and what the operator should know, for the banner.
    const std::string& promise() const { return opened_->promise; }
    const std::vector<std::string>& warnings() const { return opened_->warnings; }
    const PostgresStats& stats() const { return *opened_->session->stats; }

private:
    explicit PostgresStore(OpenedPostgres opened)
        : opened_(std::make_shared<const OpenedPostgres>(std::move(opened)))
    {
    }

    std::shared_ptr<const OpenedPostgres> opened_;
};

}  // namespace onceward
