// The embedded store as a store under test, in a directory of its own.
#pragma once

#include "store/sqlite_store.hpp"
#include "store_rig.hpp"
#include "temporary_directory.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace onceward::test {

// Ephemeral, because a build machine's directories may lie in memory or in a container's layer.
SqliteOptions sqlite_options(const std::string& path);

// Requires that it opens.
std::unique_ptr<SqliteStore> open_store(SqliteOptions options);

// Requires that it does not: why, one line for each reason.
std::string refusal(SqliteOptions options);

class SqliteRig final : public StoreRig {
public:
    SqliteRig() : SqliteRig([](SqliteOptions&) {}) {}

    // `adjust` may change the options.
    template <class Adjust>
    explicit SqliteRig(Adjust adjust)
    {
        auto options = this->options();
        adjust(options);
        sqlite_ = open_store(std::move(options));
        client_ = sqlite_->client(io.get_executor());
    }

    KeyStore& store() override { return *client_; }
    SqliteStore& sqlite() { return *sqlite_; }
    std::string path() const { return directory_.file("store.db"); }
    SqliteOptions options()
    {
        auto options = sqlite_options(path());
        options.clock = [time = time_] { return core::StoreTime(core::Millis(time->load())); };
        return options;
    }
    void set_time(core::StoreTime now) override { *time_ = now.time_since_epoch().count(); }

    // Ends the store; the file stays.
    void stop()
    {
        client_.reset();
        sqlite_.reset();
    }
    void start()
    {
        sqlite_ = open_store(options());
        client_ = sqlite_->client(io.get_executor());
    }

private:
    TemporaryDirectory directory_;
    // Read on the store's thread.
    std::shared_ptr<std::atomic<core::Millis::rep>> time_ =
        std::make_shared<std::atomic<core::Millis::rep>>(first_moment.time_since_epoch().count());
    std::unique_ptr<SqliteStore> sqlite_;
    std::unique_ptr<KeyStore> client_;
};

}  // namespace onceward::test
