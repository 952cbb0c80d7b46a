// Opening the embedded store for one question.
#include "cli/stored.hpp"

#include "cli/embedded.hpp"
#include "cli/exit_code.hpp"
#include "ops/admin.hpp"
#include "store/secret_file.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace onceward::cli {

namespace {

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
    SqliteOptions options;
    options.file = sqlite_file(settings);
    options.file.place.create = false;
    auto opened = SqliteStore::open(std::move(options));
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
