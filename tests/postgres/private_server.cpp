// scripts/stack.sh, from C++.
#include "postgres/private_server.hpp"

#include "postgres/raw_postgres.hpp"
#include "store/postgres_migrate.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace onceward::test {

PrivateServer& PrivateServer::get()
{
    static std::unique_ptr<PrivateServer> server;
    static std::string failure;
    if (!failure.empty()) FAIL(failure);
    if (server) return *server;
    try {
        server = std::make_unique<PrivateServer>();
        server->make_templates();
    } catch (const std::runtime_error& error) {
        failure = error.what();
        server.reset();
        FAIL(failure);
    }
    return *server;
}

PrivateServer::PrivateServer()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "onceward-pg-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    const auto told =
        stack("up '" + directory_ +
              "' --no-fsync --pg-port 0 --set max_connections=200 --set autovacuum=off");
    const auto at = told.find(" port=");
    if (at == std::string::npos) throw std::runtime_error("stack.sh: " + told);
    port_ = told.substr(at + 6, told.find_first_of(" '", at + 6) - at - 6);
}

PrivateServer::~PrivateServer()
{
    try {
        stack("down '" + directory_ + "' immediate");
    } catch (const std::runtime_error&) {
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

std::string PrivateServer::stack(const std::string& command) const
{
    const auto line = std::string(ONCEWARD_SOURCE_DIR) + "/scripts/stack.sh " + command + " 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + line);
    std::string output;
    std::array<char, 4'096> part{};
    while (const auto got = fread(part.data(), 1, part.size(), pipe))
        output.append(part.data(), got);
    if (pclose(pipe) != 0) throw std::runtime_error(command + ": " + output);
    return output;
}

std::string PrivateServer::proxy_dsn(const std::string& database) const
{
    return "host=" + directory_ + "/run port=" + port_ + " user=onceward_proxy dbname=" + database;
}

std::string PrivateServer::owner_dsn(const std::string& database) const
{
    return "host=" + directory_ + "/run port=" + port_ + " user=postgres dbname=" + database;
}

void PrivateServer::make_templates()
{
    RawPostgres owner(owner_dsn("postgres"));
    owner.run("CREATE DATABASE plain_template");
    const auto outcome = migrate_up(owner_dsn("plain_template"));
    if (const auto* error = std::get_if<OpenError>(&outcome))
        throw std::runtime_error(error->message);
    owner.run("CREATE DATABASE clock_template TEMPLATE plain_template");
    RawPostgres clock(owner_dsn("clock_template"));
    clock.run(
        "CREATE TABLE public.test_clock (now bigint); INSERT INTO public.test_clock VALUES "
        "(1800000000000);"
        "GRANT SELECT ON public.test_clock TO PUBLIC;"
        "CREATE OR REPLACE FUNCTION onceward.now_ms() RETURNS bigint LANGUAGE sql VOLATILE "
        "PARALLEL SAFE"
        " AS $$ SELECT now FROM public.test_clock $$");
}

std::string PrivateServer::new_database(bool clock)
{
    const auto name = "test_" + std::to_string(++made_);
    RawPostgres owner(owner_dsn("postgres"));
    owner.run("CREATE DATABASE " + name + " TEMPLATE " +
              (clock ? "clock_template" : "plain_template"));
    return name;
}

// As on the first day; only the superuser can pass by the triggers, and only like this.
constexpr const char* emptying = R"sql(
SET session_replication_role = replica;
TRUNCATE onceward.keys;
DELETE FROM onceward.bodies;
DELETE FROM onceward.unknown_queue;
DELETE FROM onceward.identity;
TRUNCATE onceward.tiers RESTART IDENTITY;
UPDATE onceward.janitor SET pending_at = 0, page = 0;
DO $$ DECLARE past text; BEGIN
    FOR past IN SELECT relname FROM pg_class WHERE relname ~ '^bodies_[0-9]+$'
        AND abs(substr(relname, 8)::integer - onceward.day_of(onceward.now_ms())) > 60 LOOP
        EXECUTE format('DROP TABLE onceward.%I', past);
    END LOOP;
END $$;
)sql";

std::string PrivateServer::borrow(bool clock)
{
    auto& free = free_[clock ? 1 : 0];
    if (free.empty()) return new_database(clock);
    const auto database = free.back();
    free.pop_back();
    RawPostgres owner(owner_dsn(database));
    if (clock) owner.run("UPDATE public.test_clock SET now = 1800000000000");
    owner.run(emptying);
    owner.run("SELECT pg_stat_force_next_flush()");
    owner.run("SELECT pg_stat_reset()");
    return database;
}

void PrivateServer::give_back(const std::string& database, bool clock)
{
    free_[clock ? 1 : 0].push_back(database);
}

void PrivateServer::stop_immediately()
{
    stack("pg-stop '" + directory_ + "' immediate");
}

void PrivateServer::start()
{
    stack("pg-start '" + directory_ + "'");
}

}  // namespace onceward::test
