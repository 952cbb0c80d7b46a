// Secret, canary and identity ledger: a start that would make old keys new ones is refused
// (decision 9).
#include "raw_sqlite.hpp"
#include "sqlite_rig.hpp"

#include <fstream>
#include <iterator>
#include <sys/stat.h>

using namespace onceward;
using namespace onceward::test;

namespace {

bool has(const std::string& text, const std::string& part)
{
    const bool found = text.find(part) != std::string::npos;
    if (!found) MESSAGE("not found: " << part << "\nin: " << text);
    return found;
}

std::string content(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A store with one record, so that there is something to lose.
struct Used {
    Used() { use({{"charges", "orders"}, "credential:authorization"}); }

    void use(Identity identity)
    {
        auto used = options(std::move(identity));
        boost::asio::io_context io(1);
        const auto store = open_store(used);
        const auto client = store->client(io.get_executor());
        boost::asio::co_spawn(io, client->reserve(digest_of(1), claim_of(1)),
                              [](std::exception_ptr, StoreResult<core::Reservation>) {});
        io.run();
    }
    SqliteOptions options(Identity identity = {{"charges", "orders"}, "credential:authorization"})
    {
        auto made = sqlite_options(path);
        made.file.identity = std::move(identity);
        return made;
    }

    TemporaryDirectory directory;
    std::string path = directory.file("store.db");
};

}  // namespace

TEST_CASE("the first start makes a secret that only its owner may read")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    const auto store = open_store(sqlite_options(path));
    CHECK(store->created());
    CHECK_FALSE(store->lost());
    struct stat found{};
    REQUIRE(stat((path + ".secret").c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    REQUIRE(stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    CHECK(content(path + ".secret") == store->secret().bytes() + "\n");
    CHECK(store->secret().bytes().size() == 64);
    CHECK_FALSE(std::filesystem::exists(path + ".secret.new"));
}

TEST_CASE("the same secret comes back, from its file, another file or the settings")
{
    Used used;
    const auto text = content(used.path + ".secret");
    auto options = used.options();
    CHECK_FALSE(open_store(options)->created());

    options.file.secret = text.substr(0, text.size() - 1);
    CHECK(open_store(options)->secret().bytes() == options.file.secret);

    options.file.secret.clear();
    options.file.secret_file = used.directory.file("elsewhere");
    std::filesystem::rename(used.path + ".secret", options.file.secret_file);
    CHECK(open_store(options)->secret().bytes() + "\n" == text);
}

TEST_CASE("a missing secret is not replaced by a new one")
{
    Used used;
    std::filesystem::remove(used.path + ".secret");
    const auto words = refusal(used.options());
    CHECK(has(words, "has records, but its secret"));
    CHECK(has(words, "is missing"));
    CHECK(has(words, "put the secret back"));
    CHECK_FALSE(std::filesystem::exists(used.path + ".secret"));

    auto options = used.options();
    options.file.secret_file = used.directory.file("nowhere");
    CHECK(has(refusal(options), "cannot read the secret"));
}

TEST_CASE("a database that is gone while its secret is there is noticed")
{
    Used used;
    CHECK_FALSE(open_store(used.options())->lost());
    std::filesystem::remove(used.path);
    const auto store = open_store(used.options());
    CHECK(store->created());
    CHECK(store->lost());
}

TEST_CASE("another secret is refused")
{
    Used used;
    auto options = used.options();
    options.file.secret = "0123456789abcdef0123456789abcdef";
    CHECK(has(refusal(options), "the secret from `keys.secret` is not the one that"));
    options.file.secret = "short";
    CHECK(has(refusal(options), "fewer than 16 bytes"));
    open_store(used.options());
}

TEST_CASE("the ledger refuses a route that disappeared")
{
    Used used;
    auto renamed = used.options({{"payments", "orders"}, "credential:authorization"});
    const auto words = refusal(renamed);
    CHECK(has(
        words,
        "route id `charges` has records in this store but is not configured: its keys would become "
        "new ones\n= write `id: charges` on the route that took its place, or start once with "
        "--forget charges"));
    // Nothing was learnt by the refused start.
    CHECK(ask_file(used.path,
                   "SELECT count(*) FROM identity WHERE value = CAST('payments' AS BLOB)") == "0");

    renamed.file.forget = {"charges"};
    open_store(renamed);
    renamed.file.forget.clear();
    open_store(renamed);
    CHECK(has(refusal(used.options()), "route id `payments`"));
}

TEST_CASE("the ledger refuses another subject, and names every refusal in one start")
{
    Used used;
    const auto words = refusal(used.options({{"orders"}, "shared"}));
    CHECK(has(
        words,
        "keys.subject was `credential:authorization`, is now `shared`: every old key would become "
        "new\n= restore it, or start once with --forget subject"));
    CHECK(has(words, "route id `charges`"));

    auto options = used.options({{"orders"}, "shared"});
    options.file.forget = {"subject", "charges"};
    open_store(options);
    CHECK(has(refusal(used.options()), "is now `credential:authorization`"));
}

TEST_CASE("new routes are added, and from then on expected")
{
    Used used;
    open_store(used.options({{"charges", "orders", "refunds"}, "credential:authorization"}));
    CHECK(has(refusal(used.options()), "route id `refunds`"));
}

TEST_CASE("a store without records has nothing to protect")
{
    TemporaryDirectory directory;
    auto options = sqlite_options(directory.file("store.db"));
    options.file.identity = {{"default"}, "shared"};
    open_store(options);
    options.file.identity = {{"charges"}, "credential:authorization"};
    open_store(options);
}

TEST_CASE("the ledger's rules, by themselves")
{
    const Identity identity{{"a", "b"}, "shared"};
    const auto first = check_identity({}, identity, {});
    CHECK(first.refusals.empty());
    CHECK(first.updated == Ledger{{"a", "b"}, "shared", action_form});
    CHECK(check_identity(first.updated, identity, {}).refusals.empty());

    auto older = first.updated;
    older.action_form = "0";
    const auto refused = check_identity(older, identity, {"action", "subject"});
    REQUIRE(refused.refusals.size() == 1);
    CHECK(has(refused.refusals[0].message, "names its keys by form 0"));
}
