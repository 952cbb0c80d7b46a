// Opening the embedded store in tests.
#include "sqlite_rig.hpp"

namespace onceward::test {

SqliteOptions sqlite_options(const std::string& path)
{
    SqliteOptions options;
    options.file.place.path = path;
    options.file.place.ephemeral = true;
    options.file.place.single_node = true;
    options.file.tiers = contract_tiers();
    options.file.identity = {{"default"}, "shared"};
    return options;
}

std::unique_ptr<SqliteStore> open_store(SqliteOptions options)
{
    auto opened = SqliteStore::open(std::move(options));
    if (const auto* refused = std::get_if<std::vector<OpenError>>(&opened)) {
        for (const auto& error : *refused)
            MESSAGE(error.message);
    }
    REQUIRE(std::holds_alternative<std::unique_ptr<SqliteStore>>(opened));
    return std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
}

std::string refusal(SqliteOptions options)
{
    auto opened = SqliteStore::open(std::move(options));
    REQUIRE(std::holds_alternative<std::vector<OpenError>>(opened));
    return text_of(std::get<std::vector<OpenError>>(opened));
}

}  // namespace onceward::test
