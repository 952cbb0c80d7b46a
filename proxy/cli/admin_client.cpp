// Addresses of side listeners.
#include "cli/admin_client.hpp"

namespace onceward::cli {

demo::Endpoint reachable(const ListenAddress& address)
{
    demo::Endpoint endpoint;
    endpoint.host = address.host;
    endpoint.port = address.port;
    if (address.host == "0.0.0.0") endpoint.host = "127.0.0.1";
    if (address.host == "::") endpoint.host = "::1";
    return endpoint;
}

std::optional<demo::Endpoint> admin_endpoint(const std::string& given, const Settings& settings)
{
    if (!given.empty()) return demo::parse_endpoint(given);
    if (!settings.admin.listen) return std::nullopt;
    return reachable(*settings.admin.listen);
}

}  // namespace onceward::cli
