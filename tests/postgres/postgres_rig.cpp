// Opening the PostgreSQL store in tests.
#include "postgres/postgres_rig.hpp"

#include "store/postgres_migrate.hpp"

namespace onceward::test {

namespace {

class PurgingStore final : public KeyStore {
public:
    PurgingStore(KeyStore& inner, std::string owner_dsn)
        : inner_(inner), owner_dsn_(std::move(owner_dsn))
    {
    }

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest digest,
                                                      core::Claim claim) override
    {
        return inner_.reserve(digest, claim);
    }
    awaitable<StoreResult<core::Settled>> settle(core::Digest digest, core::Ticket ticket,
                                                 core::Settlement settlement) override
    {
        return inner_.settle(digest, ticket, std::move(settlement));
    }
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        return inner_.find(digest);
    }
    // The purge first: a pass does not move one record twice.
    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override
    {
        const auto outcome = purge(owner_dsn_, 1'000'000'000);
        REQUIRE(std::holds_alternative<PurgeReport>(outcome));
        auto report = co_await inner_.sweep(rows);
        if (report) report->purged += static_cast<std::size_t>(std::get<PurgeReport>(outcome).keys);
        co_return report;
    }
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        return inner_.unknown(limit);
    }

private:
    KeyStore& inner_;
    std::string owner_dsn_;
};

}  // namespace

PostgresOptions postgres_options(const std::string& database)
{
    PostgresOptions options;
    options.dsn = PrivateServer::get().proxy_dsn(database);
    options.secret = "a secret of more than sixteen bytes";
    options.tiers = contract_tiers();
    for (auto& tier : options.tiers)
        tier.lease = core::Millis{1'000};
    options.identity = {{"default"}, "shared"};
    options.ephemeral = true;
    return options;
}

std::unique_ptr<PostgresStore> open_store(PostgresOptions options)
{
    auto opened = PostgresStore::open(std::move(options));
    if (const auto* refused = std::get_if<std::vector<OpenError>>(&opened)) {
        for (const auto& error : *refused)
            MESSAGE(error.message);
    }
    REQUIRE(std::holds_alternative<std::unique_ptr<PostgresStore>>(opened));
    return std::get<std::unique_ptr<PostgresStore>>(std::move(opened));
}

std::string refusal(PostgresOptions options)
{
    auto opened = PostgresStore::open(std::move(options));
    REQUIRE(std::holds_alternative<std::vector<OpenError>>(opened));
    return text_of(std::get<std::vector<OpenError>>(opened));
}

PostgresRig::PostgresRig(Clock clock, Database database, PrivateServer& server)
    : clock_(clock),
      kind_(database),
      database_(database == Database::own ? server.new_database(clock == Clock::by_hand)
                                          : server.borrow(clock == Clock::by_hand)),
      owner_(server.owner_dsn(database_))
{
}

PostgresRig::~PostgresRig()
{
    if (kind_ == Database::borrowed)
        PrivateServer::get().give_back(database_, clock_ == Clock::by_hand);
}

void PostgresRig::open(PostgresOptions options)
{
    postgres_ = open_store(std::move(options));
    client_ = postgres_->client(io.get_executor());
    purging_ = std::make_unique<PurgingStore>(*client_, PrivateServer::get().owner_dsn(database_));
}

void PostgresRig::set_time(core::StoreTime now)
{
    owner_.run("UPDATE public.test_clock SET now = " +
               std::to_string(now.time_since_epoch().count()));
}

}  // namespace onceward::test
