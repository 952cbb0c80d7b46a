// Opening the embedded store for one question.
#include "cli/stored.hpp"

#include "cli/exit_code.hpp"
#include "ops/admin.hpp"
#include "store/secret_file.hpp"
#include "store/sqlite_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace onceward::cli {

namespace {

SqliteOptions sqlite_options(const Settings& settings)
{
    SqliteOptions options;
    options.file.place.path = settings.store.sqlite;
    options.file.place.single_node = settings.store.single_node;
    options.file.place.ephemeral = settings.store.ephemeral;
    options.file.place.create = false;
    options.file.secret = settings.store.secret;
    options.file.secret_file = settings.store.secret_file;
    options.file.tiers = settings.tiers;
    for (const auto& route : settings.policy.routes.routes()) {
        if (route->mode == core::Mode::enforce)
            options.file.identity.route_ids.push_back(route->id);
    }
    options.file.identity.subject_form = settings.policy.subject.form();
    return options;
}

std::vector<std::string> tier_names(const Settings& settings)
{
    std::vector<std::string> names;
    for (const auto& tier : settings.tiers)
        names.push_back(tier.name);
    return names;
}

awaitable<void> ask_admin(Admin* admin, SideRequest request, std::optional<SideResponse>* response)
{
    auto answer = co_await admin->answer(std::move(request));
    *response = std::move(answer);
}

}  // namespace

std::optional<core::Secret> existing_secret(const StoreSettings& store)
{
    const auto beside = store.secret_file.empty() ? store.sqlite + ".secret" : store.secret_file;
    auto read = store.secret.empty() ? read_secret_file(beside)
                                     : secret_from_text(store.secret, "keys.secret");
    if (auto* secret = std::get_if<core::Secret>(&read)) return std::move(*secret);
    return std::nullopt;
}

std::variant<SideResponse, StoreClosed> ask_stored(const Settings& settings,
                                                   const SideRequest& request)
{
    auto opened = SqliteStore::open(sqlite_options(settings));
    if (const auto* errors = std::get_if<std::vector<OpenError>>(&opened)) {
        const auto message =
            errors->empty() ? std::string("it cannot be opened") : errors->front().message;
        return StoreClosed{ExitCode::admin_unreachable, message};
    }
    const auto store = std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
    const auto key_hash = store->secret().key_hash();
    Metrics metrics({}, 1);
    const Health health(metrics);
    boost::asio::io_context context(1);
    const auto client = store->client(context.get_executor());
    Admin admin({.store = *client,
                 .policy = settings.policy,
                 .key_hash = key_hash,
                 .health = health,
                 .tiers = tier_names(settings),
                 .instance = {},
                 .config_file = settings.file,
                 .in_flight = {}});
    std::optional<SideResponse> response;
    boost::asio::co_spawn(context, ask_admin(&admin, request, &response), boost::asio::detached);
    context.run();
    store->close();
    if (!response) return StoreClosed{ExitCode::unexpected, "it did not answer"};
    return std::move(*response);
}

}  // namespace onceward::cli
