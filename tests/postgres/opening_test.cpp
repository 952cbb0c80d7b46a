// Every reason not to start, and what it says.
#include "postgres/postgres_rig.hpp"
#include "store/postgres_checks.hpp"
#include "store/postgres_migrate.hpp"

using namespace onceward;
using namespace onceward::test;

namespace {

bool says(const std::string& text, const std::string& part)
{
    if (text.find(part) == std::string::npos) MESSAGE(text);
    return text.find(part) != std::string::npos;
}

std::string fresh()
{
    return PrivateServer::get().new_database(false);
}

void use_a_key(const std::string& database)
{
    boost::asio::io_context io{1};
    auto store = open_store(postgres_options(database));
    auto client = store->client(io.get_executor());
    std::optional<StoreResult<core::Reservation>> result;
    boost::asio::co_spawn(io, client->reserve(digest_of(1), claim_of(1)),
                          [&](std::exception_ptr, StoreResult<core::Reservation> got) {
                              result.emplace(std::move(got));
                          });
    io.run();
    REQUIRE(result);
    REQUIRE(result->has_value());
}

}  // namespace

TEST_CASE(
    "E702 a database without the schema, or with another version, is refused with the command to "
    "run")
{
    const auto database = fresh();
    RawPostgres owner(PrivateServer::get().owner_dsn(database));
    SUBCASE("none")
    {
        owner.run("DROP SCHEMA onceward CASCADE");
        const auto text = refusal(postgres_options(database));
        CHECK(says(text, "E702: database schema is at version 0, this binary needs 1"));
        CHECK(says(text, "onceward migrate up"));
        CHECK(std::get<MigrationStatus>(migration_status(PrivateServer::get().owner_dsn(database)))
                  .version == 0);
        CHECK(std::get<MigrationStatus>(migrate_up(PrivateServer::get().owner_dsn(database)))
                  .version == 1);
        CHECK(std::get<MigrationStatus>(migrate_up(PrivateServer::get().owner_dsn(database)))
                  .version == 1);
        open_store(postgres_options(database));
    }
    SUBCASE("by hand, as the text says")
    {
        owner.run("DROP SCHEMA onceward CASCADE");
        owner.run(migration_sql(0));
        open_store(postgres_options(database));
    }
    SUBCASE("newer")
    {
        owner.run("INSERT INTO onceward.schema_version (version) VALUES (2)");
        const auto text = refusal(postgres_options(database));
        CHECK(says(text, "E702: database schema is at version 2, this binary needs 1"));
        CHECK(says(text, "newer one"));
        owner.run("DELETE FROM onceward.schema_version WHERE version = 2");
        open_store(postgres_options(database));
    }
}

TEST_CASE("a migration that fails leaves nothing behind")
{
    const auto database = fresh();
    RawPostgres owner(PrivateServer::get().owner_dsn(database));
    owner.run(
        "DROP SCHEMA onceward CASCADE; CREATE SCHEMA onceward; CREATE TABLE onceward.keys (mine "
        "int)");
    const auto outcome = migrate_up(PrivateServer::get().owner_dsn(database));
    CHECK(std::holds_alternative<OpenError>(outcome));
    CHECK(owner.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'onceward'") == "1");
}

TEST_CASE("the secret must be given, and must be the one")
{
    const auto database = fresh();
    auto options = postgres_options(database);
    options.secret.clear();
    CHECK(says(refusal(options), "keys.secret_file"));
    use_a_key(database);
    options.secret = "another secret of enough bytes";
    CHECK(says(refusal(options), "not the one that this database was made with"));
    open_store(postgres_options(database));
}

TEST_CASE("decision 9: a start that would make old keys new ones is refused with the way out")
{
    const auto database = fresh();
    auto renamed = postgres_options(database);
    renamed.identity.route_ids = {"charges"};
    SUBCASE("without records there is nothing to lose")
    {
        open_store(postgres_options(database));
        open_store(renamed);
    }
    SUBCASE("a renamed route")
    {
        use_a_key(database);
        CHECK(says(refusal(renamed), "id: default"));
        renamed.forget = {"default"};
        open_store(renamed);
        renamed.forget.clear();
        open_store(renamed);
        CHECK(says(refusal(postgres_options(database)), "charges"));
    }
    SUBCASE("a changed subject")
    {
        use_a_key(database);
        auto changed = postgres_options(database);
        changed.identity.subject_form = "credential";
        CHECK(says(refusal(changed), "--forget subject"));
    }
}

TEST_CASE("D7 what the server does not promise is not promised")
{
    const auto database = fresh();
    RawPostgres owner(PrivateServer::get().owner_dsn(database));
    auto options = postgres_options(database);
    SUBCASE("fsync off needs store.ephemeral")
    {
        options.ephemeral = false;
        CHECK(says(refusal(options), "fsync is off"));
        CHECK(says(open_store(postgres_options(database))->promise(), "nothing survives"));
    }
    SUBCASE("synchronous_commit off")
    {
        owner.run("ALTER DATABASE " + database + " SET synchronous_commit = off");
        CHECK(says(refusal(options), "synchronous_commit is off"));
    }
    SUBCASE("sync without a standby")
    {
        options.durability = Durability::sync;
        CHECK(says(refusal(options), "synchronous_standby_names is empty"));
    }
    SUBCASE("unlogged")
    {
        owner.run("ALTER TABLE onceward.keys SET UNLOGGED");
        CHECK(says(refusal(options), "UNLOGGED"));
    }
    PgFacts facts;
    facts.fsync = facts.full_page_writes = facts.synchronous_commit = "on";
    CHECK(objection_to(facts, Durability::single, false).empty());
    CHECK(says(promise_of(facts, Durability::single), "not the loss of its disk"));
    facts.standby_names = "ANY 1 (a, b)";
    CHECK(objection_to(facts, Durability::sync, false).empty());
    CHECK(says(promise_of(facts, Durability::sync), "ANY 1 (a, b)"));
    facts.synchronous_commit = "remote_write";
    CHECK(says(objection_to(facts, Durability::sync, false), "remote_write"));
}

TEST_CASE("decision 11: a stranger is refused, an owner is warned of")
{
    const auto database = fresh();
    RawPostgres owner(PrivateServer::get().owner_dsn(database));
    owner.run("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN");
    auto options = postgres_options(database);
    CHECK(open_store(options)->warnings() ==
          std::vector<std::string>{"fsync is off: records do not survive a crash of the machine"});
    const auto proxy = options.dsn;
    options.dsn.replace(options.dsn.find("onceward_proxy"), 14, "stranger");
    CHECK(says(refusal(options), "GRANT onceward_proxy TO `stranger`"));
    owner.run("GRANT onceward_proxy TO stranger");
    open_store(options);
    options.dsn = PrivateServer::get().owner_dsn(database);
    const auto store = open_store(options);
    REQUIRE(store->warnings().size() == 2);
    CHECK(says(store->warnings().front(), "W10"));
}

TEST_CASE("connection strings: names, several hosts, nobody there, nonsense")
{
    const auto database = fresh();
    const auto& server = PrivateServer::get();
    auto options = postgres_options(database);
    SUBCASE("a name is resolved; the first host that is the primary is taken")
    {
        options.dsn = "host=localhost,localhost port=1," + server.port() +
                      " user=onceward_proxy dbname=" + database;
        open_store(options);
        options.dsn =
            "postgresql://onceward_proxy@no.such.host.invalid:5432,localhost:" + server.port() +
            "/" + database;
        open_store(options);
        options.dsn = "host=" + server.directory() + "/nothing," + server.directory() +
                      "/run port=" + server.port() + " user=onceward_proxy dbname=" + database;
        open_store(options);
    }
    SUBCASE("nobody")
    {
        options.dsn = "host=127.0.0.1 port=1 user=onceward_proxy password=hush dbname=" + database;
        const auto text = refusal(options);
        CHECK(says(text, "cannot reach PostgreSQL (host=127.0.0.1 port=1"));
        CHECK(text.find("hush") == std::string::npos);
        options.dsn = "host=no.such.host.invalid user=onceward_proxy";
        CHECK(says(refusal(options), "no.such.host.invalid"));
    }
    SUBCASE("nonsense")
    {
        options.dsn = "hots=127.0.0.1";
        CHECK(says(refusal(options), "no connection string"));
    }
}
