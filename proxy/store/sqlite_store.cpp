// The store's thread, and the port that workers see.
#include "store/sqlite_store.hpp"

#include "store/inbox.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace onceward {

namespace {

core::StoreTime system_time()
{
    return std::chrono::floor<core::Millis>(std::chrono::system_clock::now());
}

class SqliteClient final : public KeyStore {
public:
    SqliteClient(std::shared_ptr<CommitQueue> queue, std::shared_ptr<SqliteStats> stats,
                 boost::asio::any_io_executor worker, std::size_t tiers)
        : queue_(std::move(queue)),
          stats_(std::move(stats)),
          inbox_(std::make_shared<Inbox>(std::move(worker))),
          tiers_(tiers)
    {
    }
    ~SqliteClient() override { inbox_->close(); }

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        // A tier that this store was not opened with has no name to be kept under.
        if (claim.tier >= tiers_) co_return StoreError::unavailable;
        ReserveCall call{digest, claim};
        auto result = co_await ask<core::Reservation>(call);
        co_return result;
    }

    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        SettleCall call{digest, ticket, std::move(settlement)};
        auto result = co_await ask<core::Settled>(std::move(call));
        co_return result;
    }

    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        FindCall call{digest};
        auto result = co_await ask<std::optional<core::Record>>(call);
        co_return result;
    }

    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override
    {
        SweepCall call{rows};
        auto result = co_await ask<SweepReport>(call);
        co_return result;
    }

    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        UnknownCall call{limit};
        auto result = co_await ask<std::vector<Listed>>(call);
        co_return result;
    }

private:
    template <class T>
    awaitable<StoreResult<T>> ask(Call call)
    {
        auto item = std::make_unique<Item>();
        item->call = std::move(call);
        auto start = [this](auto handler, ItemPtr started) {
            inbox_->submit(*queue_, std::move(started), Inbox::Handler(std::move(handler)));
        };
        const auto& token = boost::asio::use_awaitable;
        auto done =
            co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&,
                                                 void(ItemPtr)>(start, token, std::move(item));
        const std::optional<StoreError> error = done->error;
        if (error == StoreError::overloaded) {
            stats_->overloaded.fetch_add(1, std::memory_order_relaxed);
        }
        if (error) co_return *error;
        co_return std::get<T>(std::move(done->outcome));
    }

    std::shared_ptr<CommitQueue> queue_;
    std::shared_ptr<SqliteStats> stats_;
    std::shared_ptr<Inbox> inbox_;
    std::size_t tiers_;
};

}  // namespace

SqliteOpened SqliteStore::open(SqliteOptions options)
{
    if (!options.clock) options.clock = system_time;
    auto opening = open_sqlite(options.file, options.clock());
    if (auto* refused = std::get_if<std::vector<OpenError>>(&opening)) return std::move(*refused);
    auto opened = std::get<OpenedSqlite>(std::move(opening));
    return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(options), std::move(opened)));
}

SqliteStore::SqliteStore(SqliteOptions options, OpenedSqlite opened)
    : secret_(std::move(opened.secret)),
      crashed_(opened.crashed),
      created_(opened.created),
      lost_(opened.lost),
      tiers_(opened.keys.tiers().configured()),
      queue_(std::make_shared<CommitQueue>(options.queue_max))
{
    CommitLoop loop(std::move(opened.database), std::move(opened.keys), options.limits,
                    std::move(options.clock), std::move(options.log));
    thread_ = std::thread([loop = std::move(loop), queue = queue_, stats = stats_]() mutable {
        loop.run(*queue, *stats);
    });
}

SqliteStore::~SqliteStore()
{
    close();
}

std::unique_ptr<KeyStore> SqliteStore::client(boost::asio::any_io_executor worker)
{
    return std::make_unique<SqliteClient>(queue_, stats_, std::move(worker), tiers_);
}

void SqliteStore::close()
{
    queue_->close();
    if (thread_.joinable()) thread_.join();
}

}  // namespace onceward
