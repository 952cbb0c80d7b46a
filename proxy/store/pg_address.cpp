// Parts of connection strings. Host lists of libpq: `host`, `hostaddr` and `port` are parallel,
// comma-separated lists.
#include "store/pg_address.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace onceward {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

std::vector<std::string> split(const std::string& list)
{
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (;;) {
        const auto comma = list.find(',', from);
        parts.push_back(list.substr(from, comma - from));
        if (comma == std::string::npos) return parts;
        from = comma + 1;
    }
}

void append(std::string& list, const std::string& entry, bool first)
{
    if (!first) list.push_back(',');
    list.append(entry);
}

void set(PgParameterList& parameters, const std::string& name, std::string value)
{
    std::erase_if(parameters, [&](const auto& parameter) { return parameter.first == name; });
    parameters.emplace_back(name, std::move(value));
}

// As libpq would fill it in: from the environment.
std::string value_of(const PgTarget& target, const char* name, const char* variable)
{
    if (const auto* given = target.find(name)) return *given;
    const char* inherited = std::getenv(variable);
    return inherited == nullptr ? std::string() : std::string(inherited);
}

bool needs_no_look_up(const std::string& host)
{
    if (host.empty() || host.front() == '/' || host.front() == '@') return true;
    boost::system::error_code not_numeric;
    asio::ip::make_address(host, not_numeric);
    return !not_numeric;
}

struct Lists {
    std::string hosts, addresses, ports;
    bool first = true;

    void add(const std::string& host, const std::string& address, const std::string& port)
    {
        append(hosts, host, first);
        append(addresses, address, first);
        append(ports, port, first);
        first = false;
    }
};

struct LookUp {
    explicit LookUp(const asio::any_io_executor& executor) : resolver(executor), timer(executor) {}

    tcp::resolver resolver;
    asio::steady_timer timer;
    boost::system::error_code failed = asio::error::timed_out;
    tcp::resolver::results_type entries;
};

// The system's resolver cannot be interrupted: when time is over it is left alone with its result.
awaitable<std::shared_ptr<LookUp>> look_up(std::string host,
                                           std::chrono::steady_clock::time_point give_up)
{
    const auto executor = co_await asio::this_coro::executor;
    const auto state = std::make_shared<LookUp>(executor);
    state->timer.expires_at(give_up);
    state->resolver.async_resolve(host, "", [state](const auto& failed, auto entries) {
        state->failed = failed;
        state->entries = std::move(entries);
        state->timer.cancel();
    });
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    co_await state->timer.async_wait(token);
    // A copy, so that a late result does not change what is read now.
    auto seen = std::make_shared<LookUp>(executor);
    seen->failed = state->failed;
    seen->entries = state->entries;
    co_return seen;
}

}  // namespace

const std::string* PgTarget::find(std::string_view name) const
{
    for (const auto& parameter : parameters) {
        if (parameter.first == name) return &parameter.second;
    }
    return nullptr;
}

std::string PgTarget::name() const
{
    std::string text;
    for (const char* part : {"host", "port", "dbname", "user"}) {
        const auto* value = find(part);
        if (value == nullptr) continue;
        text.append(text.empty() ? "" : " ").append(part).append("=").append(*value);
    }
    return text;
}

awaitable<std::variant<PgTarget, PgError>> with_addresses(PgTarget target, core::Millis limit)
{
    const auto given = value_of(target, "host", "PGHOST");
    if (given.empty() || target.find("hostaddr") != nullptr) co_return target;
    const auto hosts = split(given);
    if (std::all_of(hosts.begin(), hosts.end(), needs_no_look_up)) co_return target;
    const auto ports = split(value_of(target, "port", "PGPORT"));

    const auto give_up = std::chrono::steady_clock::now() + limit;
    Lists lists;
    std::string trouble;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto& port = ports.size() == hosts.size() ? ports[i] : ports.front();
        if (needs_no_look_up(hosts[i])) {
            lists.add(hosts[i], "", port);
            continue;
        }
        const auto found = co_await look_up(hosts[i], give_up);
        if (found->failed) {
            trouble = "`" + hosts[i] + "`: " + found->failed.message();
            continue;
        }
        for (const auto& entry : found->entries) {
            lists.add(hosts[i], entry.endpoint().address().to_string(), port);
        }
    }
    if (lists.first)
        co_return PgError{PgFault::cannot_connect, false, "no address for " + trouble, ""};
    set(target.parameters, "host", std::move(lists.hosts));
    set(target.parameters, "hostaddr", std::move(lists.addresses));
    if (lists.ports.find_first_not_of(',') != std::string::npos) {
        set(target.parameters, "port", std::move(lists.ports));
    }
    co_return target;
}

}  // namespace onceward
