// Every reason not to open the embedded store, in words that an operator understands.
#include "child_process.hpp"
#include "raw_sqlite.hpp"
#include "sqlite_rig.hpp"

#include <fstream>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace onceward;
using namespace onceward::test;

namespace {

constexpr const char* path_variable = "ONCEWARD_TEST_PATH";

bool has(const std::string& text, const std::string& part)
{
    const bool found = text.find(part) != std::string::npos;
    if (!found) MESSAGE("not found: " << part << "\nin: " << text);
    return found;
}

void write_file(const std::string& path, const std::string& content)
{
    std::ofstream(path, std::ios::binary) << content;
}

std::string child_refusal(const std::string& test_case, const std::string& path)
{
    ChildProcess child(test_case, {{path_variable, path}});
    std::string text;
    while (const auto line = child.line())
        text.append(*line).append("\n");
    return text;
}

}  // namespace

TEST_CASE("child: says why it cannot open a file" * doctest::skip())
{
    say(refusal(sqlite_options(told_to_child(path_variable))));
}

TEST_CASE("child: says why user nobody cannot open a file" * doctest::skip())
{
    if (getuid() == 0) {
        REQUIRE(setgid(65'534) == 0);
        REQUIRE(setuid(65'534) == 0);
    }
    say(refusal(sqlite_options(told_to_child(path_variable))));
}

TEST_CASE("a second process, and a second store in the same process, are refused")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    auto store = open_store(sqlite_options(path));
    const std::string words =
        "another onceward process has this file open; an embedded store serves one process";
    CHECK(has(refusal(sqlite_options(path)), words));
    CHECK(has(child_refusal("child: says why it cannot open a file", path), words));
    // The refused second store has not taken the first one's lock away.
    CHECK(has(child_refusal("child: says why it cannot open a file", path), words));
    CHECK(has(refusal(sqlite_options(path)), "of its own"));
    store.reset();
    open_store(sqlite_options(path));
}

TEST_CASE("a missing directory, a directory, an empty path, a store that shall not be made")
{
    TemporaryDirectory directory;
    CHECK(has(refusal(sqlite_options(directory.file("nowhere/store.db"))),
              "nowhere` of `store.sqlite` cannot be used"));
    CHECK(has(refusal(sqlite_options(directory.path().string())), "is not a file"));
    CHECK(has(refusal(sqlite_options("")), "is empty"));
    auto options = sqlite_options(directory.file("store.db"));
    options.file.place.create = false;
    CHECK(has(refusal(options), "there is no store at"));
    CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("files of others are left as they are")
{
    TemporaryDirectory directory;
    const auto text = directory.file("text");
    write_file(text, std::string(5'000, 'x'));
    CHECK(has(refusal(sqlite_options(text)), "is not a database"));
    CHECK(std::filesystem::file_size(text) == 5'000);

    const auto other = directory.file("other.db");
    change_behind_its_back(other, "CREATE TABLE theirs (a)");
    CHECK(has(refusal(sqlite_options(other)), "is the database of another program"));
    CHECK(ask_file(other, "PRAGMA journal_mode") == "delete");
    CHECK_FALSE(std::filesystem::exists(other + ".secret"));
}

TEST_CASE("E702 a schema that this binary does not know")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    open_store(sqlite_options(path));
    change_behind_its_back(path, "PRAGMA user_version = 3");
    CHECK(has(refusal(sqlite_options(path)),
              "E702: database schema is at version 3, this binary needs 1"));
}

TEST_CASE("a corrupt file is refused")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    open_store(sqlite_options(path));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(4'000, '\x5A');
    file.close();
    CHECK(has(refusal(sqlite_options(path)), "is damaged"));
}

TEST_CASE("a read-only file is refused")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    open_store(sqlite_options(path));
    REQUIRE(chmod(path.c_str(), 0444) == 0);
    REQUIRE(chmod(directory.path().c_str(), 0755) == 0);
    const auto words = child_refusal("child: says why user nobody cannot open a file", path);
    CHECK(has(words, "cannot be written"));
}

TEST_CASE("decision 3 memory and container layers are refused unless records may be lost")
{
    CHECK(forgetful_file_system(TMPFS_MAGIC));
    CHECK(forgetful_file_system(OVERLAYFS_SUPER_MAGIC));
    CHECK_FALSE(forgetful_file_system(EXT4_SUPER_MAGIC));
    CHECK_FALSE(forgetful_file_system(XFS_SUPER_MAGIC));

    struct statfs shared{};
    if (statfs("/dev/shm", &shared) != 0 || shared.f_type != TMPFS_MAGIC) return;
    auto options = sqlite_options("/dev/shm/onceward-test-never-made.db");
    options.file.place.ephemeral = false;
    CHECK(has(refusal(options), "`/dev/shm` is on a file system in memory"));
    CHECK(has(refusal(options), "ephemeral: true"));
    CHECK_FALSE(std::filesystem::exists(options.file.place.path));
}

TEST_CASE("decision 3 a Kubernetes pod is refused unless it is known to be the only one")
{
    TemporaryDirectory directory;
    auto options = sqlite_options(directory.file("store.db"));
    options.file.place.single_node = false;
    REQUIRE(setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1) == 0);
    const auto words = refusal(options);
    options.file.place.single_node = true;
    open_store(options);
    REQUIRE(unsetenv("KUBERNETES_SERVICE_HOST") == 0);
    CHECK(has(words, "this is a Kubernetes pod"));
    CHECK(has(words, "single_node: true"));
}

TEST_CASE("records keep their tier when the list changes")
{
    SqliteRig rig;
    auto claim = claim_of(1);
    claim.tier = 1;
    rig.done(rig.store().reserve(digest_of(1), claim));
    rig.done(rig.store().reserve(digest_of(2), claim_of(2)));
    rig.stop();

    auto options = rig.options();
    std::swap(options.file.tiers[0], options.file.tiers[1]);
    auto store = open_store(options);
    auto client = store->client(rig.io.get_executor());
    CHECK(rig.done(client->find(digest_of(1)))->tier == 0);
    CHECK(rig.done(client->find(digest_of(2)))->tier == 1);
    client.reset();
    store.reset();

    // A removed tier's rows keep its times: 300 s as UNKNOWN, 1,000 s as a tombstone.
    options.file.tiers.pop_back();
    store = open_store(options);
    client = store->client(rig.io.get_executor());
    CHECK(rig.done(client->find(digest_of(2)))->tier == removed_tier);
    rig.advance(core::Millis{300'000});
    CHECK(rig.done(client->sweep(100)).expired == 1);
    rig.advance(core::Millis{1'000'000});
    CHECK(rig.done(client->sweep(100)).purged == 1);
    CHECK(rig.done(client->find(digest_of(1))));
    client.reset();
}
