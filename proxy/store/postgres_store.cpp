// Opening, and clients.
#include "store/postgres_store.hpp"

#include "store/postgres_client.hpp"

namespace onceward {

PostgresOpened PostgresStore::open(PostgresOptions options)
{
    auto opening = open_postgres(options);
    if (auto* refused = std::get_if<std::vector<OpenError>>(&opening)) return std::move(*refused);
    auto opened = std::get<OpenedPostgres>(std::move(opening));
    return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(opened)));
}

std::unique_ptr<KeyStore> PostgresStore::client(boost::asio::any_io_executor worker)
{
    return std::make_unique<PostgresClient>(opened_, std::move(worker));
}

}  // namespace onceward
