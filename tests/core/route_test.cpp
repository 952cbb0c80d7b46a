// Which route a request meets: path variants that lenient servers read alike, methods and their
// overrides.
#include "core/route.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace onceward::core;

Route route(std::string name, Match match, Mode mode = Mode::enforce)
{
    Route made;
    made.id = name;
    made.name = std::move(name);
    made.match = std::move(match);
    made.mode = mode;
    return made;
}

// /v1/accounts/DIGITS/charges, as a linear-time expression would say it.
bool is_account_charge(std::string_view path)
{
    constexpr std::string_view head = "/v1/accounts/";
    constexpr std::string_view tail = "/charges";
    if (path.size() <= head.size() + tail.size()) return false;
    if (!path.starts_with(head) || !path.ends_with(tail)) return false;
    const auto id = path.substr(head.size(), path.size() - head.size() - tail.size());
    return std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

RouteTable table()
{
    std::vector<Route> routes;
    routes.push_back(route("orders", {{"POST"}, PathMatch::exact, "/v1/orders", {}}));
    routes.push_back(route("payments", {{"POST", "PATCH"}, PathMatch::prefix, "/v1/payments", {}}));
    routes.push_back(route("charges", {{"POST"}, PathMatch::regex, "", is_account_charge}));
    routes.push_back(route("refunds", {{"POST"}, PathMatch::exact, "/v2/refunds/", {}}));
    routes.push_back(route("files", {{"POST"}, PathMatch::prefix, "/v2/files/", {}}));
    routes.push_back(route("coded", {{"POST"}, PathMatch::exact, "/v2/%63afe//x;y/", {}}));
    return RouteTable(std::move(routes));
}

std::string met(const RouteTable& routes, std::string_view method, std::string_view target,
                const std::vector<std::string_view>& overrides = {})
{
    const auto guarding = routes.guarding(method, target, overrides);
    return guarding ? guarding->route->name : "";
}

struct Variant {
    std::string_view target;
    std::string_view route;  // Empty: none, the request passes through.
};

constexpr Variant variants[] = {
    // As configured, and with what does not belong to the path.
    {"/v1/orders", "orders"},
    {"/v1/orders?", "orders"},
    {"/v1/orders?a=1", "orders"},
    {"/v1/orders?x=/../..", "orders"},
    {"/v1/orders?a?b", "orders"},
    {"/v1/orders#part", "orders"},
    {"/v1/orders#?a", "orders"},
    // Slashes.
    {"/v1/orders/", "orders"},
    {"/v1/orders//", "orders"},
    {"//v1/orders", "orders"},
    {"/v1//orders", "orders"},
    {"///v1///orders///", "orders"},
    {"/v1/orders/?a=1", "orders"},
    {"/v1\\orders", "orders"},
    {"\\v1\\orders", "orders"},
    {"v1/orders", "orders"},
    // Dot segments.
    {"/./v1/orders", "orders"},
    {"/v1/./orders", "orders"},
    {"/v1/orders/.", "orders"},
    {"/v1/x/../orders", "orders"},
    {"/x/../v1/orders", "orders"},
    {"/../v1/orders", "orders"},
    {"/../../../v1/orders", "orders"},
    {"/v1/orders/x/..", "orders"},
    {"/v1/x/y/../../orders", "orders"},
    {"/v1/x\\..\\orders", "orders"},
    // Percent encoding.
    {"/v1/%6frders", "orders"},
    {"/v1/%6Frders", "orders"},
    {"/%76%31/%6f%72%64%65%72%73", "orders"},
    {"/v1%2forders", "orders"},
    {"/v1%2Forders", "orders"},
    {"/v1%5corders", "orders"},
    {"/v1/%2e/orders", "orders"},
    {"/v1/x/%2e%2e/orders", "orders"},
    {"/v1/x/.%2E/orders", "orders"},
    {"/v1/x%2f..%2forders", "orders"},
    {"/v1/orders%2f", "orders"},
    {"/v1/orders%2F%2e", "orders"},
    // Path parameters.
    {"/v1/orders;", "orders"},
    {"/v1/orders;jsessionid=1", "orders"},
    {"/v1;x=1/orders", "orders"},
    {"/v1;x/orders;y?z", "orders"},
    {"/;a/v1/orders", "orders"},
    {"/v1/x/..;/orders", "orders"},
    {"/v1/x/..;a=b/orders", "orders"},
    {"/v1/.;x/orders", "orders"},
    {"/v1/orders%3bx", "orders"},
    // Other resources: no usual server reads these as /v1/orders.
    {"/v1/orders/7", ""},
    {"/v1/order", ""},
    {"/v1/orders2", ""},
    {"/v1/orders-archive", ""},
    {"/v1/orders.json", ""},
    {"/v1/ordersx/..x", ""},
    {"/v1/orders/..", ""},
    {"/v1/orders/../x", ""},
    {"/v2/orders", ""},
    {"/", ""},
    {"", ""},
    {"*", ""},
    {"/x/v1/orders", ""},
    {"/v1/.../orders", ""},
    {"/v1/or%64", ""},
    {"/v1/orders%", ""},
    {"/v1/orders%2", ""},
    {"/v1/orders%zz", ""},
    {"/v1/%256frders", ""},  // One decoding only: twice would guard what nobody serves.
    {"/V1/Orders", ""},      // Paths are case-sensitive (RFC 9110 section 4.2.3).
    {"/v1/orders?/../payments", "orders"},
    // Prefixes meet at segment borders.
    {"/v1/payments", "payments"},
    {"/v1/payments/", "payments"},
    {"/v1/payments/7", "payments"},
    {"/v1/payments/7/capture?x", "payments"},
    {"/v1/payments;v=1/7", "payments"},
    {"/v1//payments/7", "payments"},
    {"/v1/payments%2f7", "payments"},
    {"/v1/x/../payments/7", "payments"},
    {"/v1/payments/../orders",
     "payments"},  // As sent, it is below the prefix: the raw path counts too.
    {"/v1/payments-archive", ""},
    {"/v1/payments.json", ""},
    {"/v1/payment", ""},
    {"/v1/paymentsX/7", ""},
    // Expressions.
    {"/v1/accounts/17/charges", "charges"},
    {"/v1/accounts/17/charges/", "charges"},
    {"/v1/accounts/%31%37/charges", "charges"},
    {"/v1/accounts/x/../17/charges", "charges"},
    {"/v1/accounts//charges", ""},
    {"/v1/accounts/17a/charges", ""},
    // Routes that are configured with what normalisation removes.
    {"/v2/refunds/", "refunds"},
    {"/v2/refunds", "refunds"},
    {"/v2/refunds//", "refunds"},
    {"/v2//refunds/", "refunds"},
    {"/v2/refunds/7", ""},
    {"/v2/files/7", "files"},
    {"/v2/files/", "files"},
    {"/v2//files/", "files"},
    {"/v2/x/../files/7", "files"},
    {"/v2/files-old/7", ""},
    {"/v2/%63afe//x;y/", "coded"},
    {"/v2/cafe/x", "coded"},
    {"/v2/cafe/x/", "coded"},
    {"/v2/%63afe/x;z", "coded"},
};

}  // namespace

TEST_CASE("decision 23 T20 path variants meet the same route or none, never another")
{
    const auto routes = table();
    CHECK(std::size(variants) >= 60);
    for (const auto& variant : variants) {
        CAPTURE(variant.target);
        CHECK(met(routes, "POST", variant.target) == variant.route);
    }
}

TEST_CASE("decision 23 every spelling of a guarded path stays guarded when spellings are combined")
{
    const auto routes = table();
    const std::string_view before[] = {"", "/", "/.", "/x/..", "/%2e", "/;a", "/%2E%2e", "\\"};
    const std::string_view between[] = {"/", "//", "/./", "%2f", "\\", ";p/", "/y/../", "%5C"};
    const std::string_view after[] = {"", "/", "//", ";s", "/.", "/z/..", "?q", "/;t?q=/.."};
    for (const auto first : before) {
        for (const auto second : between) {
            for (const auto third : after) {
                std::string target(first);
                target.append("/v1").append(second).append("orders").append(third);
                CAPTURE(target);
                CHECK(met(routes, "POST", target) == "orders");
            }
        }
    }
}

TEST_CASE("decision 23 the normalised path is a fixed point for paths without escapes")
{
    for (const auto& variant : variants) {
        const auto once = normalised_path(variant.target);
        CAPTURE(variant.target);
        CHECK(once.starts_with('/'));
        CHECK((once == "/" || !once.ends_with('/')));
        CHECK(once.find("//") == std::string::npos);
        CHECK(once.find("/../") == std::string::npos);
        if (once.find('%') == std::string::npos) CHECK(normalised_path(once) == once);
    }
    CHECK(normalised_path("") == "/");
    CHECK(normalised_path("/..") == "/");
    CHECK(normalised_path("/a/b/../c?d/..") == "/a/c");
}

TEST_CASE("decision 23 methods are met in any case; the effective one is upper case")
{
    const auto routes = table();
    for (const std::string_view method : {"POST", "post", "Post", "pOsT"}) {
        const auto guarding = routes.guarding(method, "/v1/orders", {});
        REQUIRE(guarding);
        CHECK(guarding->method == "POST");
    }
    CHECK(routes.guarding("patch", "/v1/payments/1", {})->method == "PATCH");
    for (const std::string_view method : {"GET", "PUT", "DELETE", "POSTS", "POS", "", "PO ST"}) {
        CAPTURE(method);
        CHECK(met(routes, method, "/v1/orders").empty());
    }
}

TEST_CASE("decision 23 APP-5 a method-override header cannot take a request past its route")
{
    const auto routes = table();
    const auto tunnelled = routes.guarding("GET", "/v1/orders", {"post"});
    REQUIRE(tunnelled);
    CHECK(tunnelled->route->name == "orders");
    CHECK(tunnelled->method == "POST");
    CHECK(met(routes, "POST", "/v1/orders", {"GET"}) == "orders");
    CHECK(met(routes, "GET", "/v1//orders", {"GET", "DELETE", "POST"}) == "orders");
    CHECK(met(routes, "PUT", "/v1/payments/1", {"PATCH"}) == "payments");
    CHECK(met(routes, "GET", "/v1/orders", {"PUT"}).empty());
    CHECK(met(routes, "GET", "/v1/orders", {}).empty());
}

TEST_CASE("the first matching route wins; one that is off or observed guards nothing")
{
    std::vector<Route> routes;
    routes.push_back(
        route("off", {{"POST"}, PathMatch::exact, "/v1/orders/export", {}}, Mode::off));
    routes.push_back(
        route("observed", {{"POST"}, PathMatch::exact, "/v1/orders/draft", {}}, Mode::observe));
    routes.push_back(route("one", {{"POST"}, PathMatch::prefix, "/v1/orders", {}}));
    routes.push_back(route("two", {{"POST"}, PathMatch::prefix, "/v1", {}}));
    const RouteTable table(std::move(routes));
    CHECK(met(table, "POST", "/v1/orders/7") == "one");
    CHECK(met(table, "POST", "/v1/other") == "two");
    CHECK(met(table, "POST", "/v1/orders/export").empty());
    CHECK(met(table, "POST", "/v1/orders/draft").empty());
    CHECK(table.first("POST", "/v1/orders/export")->name == "off");
    CHECK(table.first("POST", "/v1/orders/7")->name == "one");
    CHECK(table.first("POST", "/elsewhere") == nullptr);
    CHECK(table.routes().size() == 4);
}

TEST_CASE("APP-1 a route for any method never guards a safe one")
{
    std::vector<Route> routes;
    routes.push_back(route("all", {{}, PathMatch::any, "", {}}));
    const RouteTable table(std::move(routes));
    for (const std::string_view method : {"POST", "PUT", "PATCH", "DELETE", "post", "LOCK"}) {
        CAPTURE(method);
        CHECK(met(table, method, "/x") == "all");
    }
    for (const std::string_view method : {"GET", "HEAD", "OPTIONS", "TRACE", "get"}) {
        CAPTURE(method);
        CHECK(met(table, method, "/x").empty());
        CHECK(met(table, method, "/x", {"POST"}) == "all");
    }
}

TEST_CASE("meets: an expression that was not made matches nothing, an empty table guards nothing")
{
    CHECK_FALSE(meets({{"POST"}, PathMatch::regex, ".*", {}}, "POST", "/x"));
    CHECK(meets({{"POST"}, PathMatch::prefix, "/", {}}, "POST", "/anything"));
    CHECK(meets({{"POST"}, PathMatch::any, "", {}}, "POST", "/anything"));
    CHECK_FALSE(meets({{"POST"}, PathMatch::any, "", {}}, "PUT", "/anything"));
    CHECK(met(RouteTable(), "POST", "/v1/orders").empty());
}

TEST_CASE("a guarded request outlives the table that matched it")
{
    std::optional<Guarding> guarding;
    {
        const auto routes = table();
        guarding = routes.guarding("POST", "/v1/orders", {});
    }
    REQUIRE(guarding);
    CHECK(guarding->route->id == "orders");
}
