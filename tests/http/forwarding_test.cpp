// The fields that go on to the upstream.
#include "http/forwarding.hpp"

#include <doctest/doctest.h>

using namespace onceward;

namespace {

const Origin origin{"legacy", "3000"};

EdgePolicy policy_of(core::SubjectRule subject)
{
    core::Policy plan;
    plan.subject = std::move(subject);
    auto names = guarded_names_of(plan);
    return {.plan = std::move(plan),
            .head_limits = {},
            .timeouts = {},
            .trusted = {},
            .via = {},
            .problem_base = {},
            .key_hash = core::KeyedHash("k"),
            .fingerprint_hash = core::KeyedHash("f"),
            .guarded_names = std::move(names)};
}

wire::RequestHead head_of(const std::string& lines)
{
    auto checked =
        wire::check_request_head("POST /c HTTP/1.1\r\nHost: shop\r\n" + lines + "\r\n", {}, {});
    return std::get<wire::RequestHead>(std::move(checked));
}

Peer peer(const char* address, bool trusted)
{
    return {boost::asio::ip::make_address(address), trusted};
}

}  // namespace

TEST_CASE("HTP-19 an untrusted peer's forwarding fields are replaced, a trusted one's extended")
{
    const auto policy = policy_of({core::SubjectKind::shared, ""});
    const auto head = head_of(
        "X-Forwarded-For: 10.9.9.9\r\nX-Forwarded-Proto: https\r\nForwarded: "
        "for=10.9.9.9\r\nX-Forwarded-Host: h\r\n");

    const auto outside = forwarded_fields(head, peer("192.0.2.1", false), policy, origin).fields;
    CHECK(outside.find("X-Forwarded-For") == "192.0.2.1");
    CHECK(outside.find("X-Forwarded-Proto") == "http");
    CHECK(outside.find("X-Forwarded-Host") == "shop");
    CHECK(outside.find("Forwarded") == "for=192.0.2.1;proto=http;host=\"shop\"");
    CHECK(outside.count("Forwarded") == 1);

    const auto inside = forwarded_fields(head, peer("2001:db8::1", true), policy, origin).fields;
    CHECK(inside.find("X-Forwarded-For") == "10.9.9.9, 2001:db8::1");
    CHECK(inside.find("X-Forwarded-Proto") == "https");
    CHECK(inside.find("X-Forwarded-Host") == "h");
    CHECK(inside.find("Forwarded") ==
          "for=10.9.9.9, for=\"[2001:db8::1]\";proto=http;host=\"shop\"");
}

TEST_CASE(
    "HTP-8 HTP-13 framing, hop-by-hop and expectation fields stay behind, the rest keeps its order")
{
    const auto policy = policy_of({core::SubjectKind::shared, ""});
    const auto head = head_of(
        "B: 1\r\nTE: trailers\r\nContent-Length: 3\r\nExpect: 100-continue\r\nA: 2\r\nKeep-Alive: "
        "x\r\nB: 3\r\n");
    const auto fields = forwarded_fields(head, peer("192.0.2.1", false), policy, origin).fields;
    std::string names;
    for (const auto field : fields)
        names.append(field.name).append("=").append(field.value).append(" ");
    CHECK(names.starts_with("Host=shop B=1 A=2 B=3 Forwarded="));
    CHECK_FALSE(fields.has("Via"));
}

TEST_CASE("APP-6 SCP-4 imitations of guarded fields and spoofed subjects are dropped and counted")
{
    const auto policy = policy_of({core::SubjectKind::trusted_header, "X-User"});
    const auto head =
        head_of("Idempotency_Key: evil\r\nX_User: evil\r\nX-User: evil\r\nX_Other: fine\r\n");
    const auto outside = forwarded_fields(head, peer("192.0.2.1", false), policy, origin);
    CHECK(outside.dropped == 3);
    CHECK_FALSE(outside.fields.has("X-User"));
    CHECK_FALSE(outside.fields.has("Idempotency_Key"));
    CHECK(outside.fields.has("X_Other"));
    CHECK(forwarded_fields(head, peer("192.0.2.1", true), policy, origin).fields.find("X-User") ==
          "evil");
}

TEST_CASE("APP-5 imitations of method-override fields are dropped: they were not looked at")
{
    const auto policy = policy_of({core::SubjectKind::shared, ""});
    const auto head = head_of(
        "X_HTTP_Method_Override: PUT\r\nX-Http_Method: PUT\r\nx_method_override: "
        "PUT\r\nX-HTTP-Method: PATCH\r\n");
    const auto made = forwarded_fields(head, peer("192.0.2.1", false), policy, origin);
    CHECK(made.dropped == 3);
    CHECK_FALSE(made.fields.has("X_HTTP_Method_Override"));
    CHECK(made.fields.find("X-HTTP-Method") == "PATCH");
}

TEST_CASE("HTP-9 Via is added when configured, and finds loops")
{
    auto policy = policy_of({core::SubjectKind::shared, ""});
    policy.via = "edge-1";
    const auto fields =
        forwarded_fields(head_of("Via: 1.0 cdn\r\n"), peer("192.0.2.1", false), policy, origin)
            .fields;
    CHECK(fields.find("Via") == "1.0 cdn, 1.1 edge-1");
    CHECK(fields.count("Via") == 1);
    CHECK(is_loop(fields, "EDGE-1"));
    CHECK_FALSE(is_loop(fields, "edge"));
    CHECK_FALSE(is_loop(fields, ""));
}

TEST_CASE("trusted networks match by prefix, mapped addresses included")
{
    TrustedNetworks networks;
    CHECK(networks.add("10.0.0.0", 8));
    CHECK(networks.add("2001:db8:1::", 33));
    CHECK_FALSE(networks.add("10.0.0.0", 33));
    CHECK_FALSE(networks.add("host", 8));
    const auto contains = [&](const char* text) {
        return networks.contains(boost::asio::ip::make_address(text));
    };
    CHECK(contains("10.255.0.1"));
    CHECK_FALSE(contains("11.0.0.1"));
    CHECK(contains("::ffff:10.1.2.3"));
    CHECK(contains("2001:db8:7fff::1"));
    CHECK_FALSE(contains("2001:db8:8000::1"));
}
