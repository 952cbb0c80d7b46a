// A real PgBouncer between the store and the server.
#include "postgres/postgres_rig.hpp"

#include <filesystem>
#include <fstream>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace onceward;
using namespace onceward::test;

extern char** environ;

namespace {

constexpr const char* program = "/usr/sbin/pgbouncer";

// Runs as long as the object lives; refuses to run as root, so it gets the server's user then.
class Pooler {
public:
    Pooler(const std::string& database, const std::string& mode)
    {
        const auto& server = PrivateServer::get();
        directory_ = server.directory() + "/run";
        const auto file = directory_ + "/pgbouncer.ini";
        std::ofstream(file)
            << "[databases]\n"
            << database << " = host=" << directory_ << " port=" << server.port()
            << " user=onceward_proxy"
            << "\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = " << directory_
            << "\nauth_type = any\npool_mode = " << mode << "\nlogfile = " << directory_
            << "/pgbouncer.log\nignore_startup_parameters = extra_float_digits\n";
        // auth_type any takes the server's user from the database's line.
        std::vector<std::string> words{program, "-q", file};
        if (geteuid() == 0) words = {program, "-q", "-u", "postgres", file};
        std::vector<char*> arguments;
        for (auto& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        REQUIRE(posix_spawn(&pid_, program, nullptr, nullptr, arguments.data(), environ) == 0);
    }
    ~Pooler()
    {
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
    }
    Pooler(const Pooler&) = delete;
    Pooler& operator=(const Pooler&) = delete;

    std::string dsn(const std::string& database) const
    {
        return "host=" + directory_ + " port=6432 user=postgres dbname=" + database;
    }
    bool listens() const { return std::filesystem::exists(directory_ + "/.s.PGSQL.6432"); }

private:
    std::string directory_;
    pid_t pid_ = 0;
};

std::string open_through(const std::string& mode)
{
    const auto database = PrivateServer::get().new_database(false);
    const Pooler pooler(database, mode);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!pooler.listens())
        REQUIRE(std::chrono::steady_clock::now() < give_up);
    auto options = postgres_options(database);
    options.dsn = pooler.dsn(database);
    auto opened = PostgresStore::open(std::move(options));
    if (const auto* refused = std::get_if<std::vector<OpenError>>(&opened))
        return refused->front().message;
    return "opened";
}

}  // namespace

TEST_CASE("PgBouncer: transaction mode is refused with the reason, session mode is not")
{
    REQUIRE_MESSAGE(std::filesystem::exists(program), "pgbouncer is not installed");
    const auto refused = open_through("transaction");
    CAPTURE(refused);
    CHECK(refused.find("transaction mode") != std::string::npos);
    CHECK(open_through("session") == "opened");
}
