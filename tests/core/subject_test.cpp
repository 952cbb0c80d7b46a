// Whose key it is: which credentials are stable, and whose word counts (decision 19).
#include "core/subject.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace {

using namespace onceward::core;

const SubjectRule authorization{SubjectKind::credential, "Authorization"};
const SubjectRule api_key{SubjectKind::credential, "X-Api-Key"};
const SubjectRule gateway{SubjectKind::trusted_header, "X-Consumer"};
const SubjectRule shared{SubjectKind::shared, ""};

constexpr std::string_view jwt =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_"
    "XgL0n3I9";

bool missing(const SubjectResult& result)
{
    return std::holds_alternative<SubjectMissing>(result);
}

std::string subject(const SubjectResult& result)
{
    const auto* text = std::get_if<std::string>(&result);
    return text != nullptr ? *text : "(missing)";
}

SubjectResult with_authorization(std::string_view value)
{
    return read_subject(fields_of({{"Authorization", value}}), authorization, false);
}

}  // namespace

TEST_CASE("decision 19 stable credentials are the subject, byte for byte, from any peer")
{
    for (const std::string_view value : {
             "Bearer sk_live_4eC39HqLyjWDarjtT1zdp7dc",
             "Bearer 2YotnFZFEjr1zCsicMWpAA",
             "Bearer v4.local.abc-def_ghi",  // Three parts, but no JSON in the first one.
             "Bearer eyebrow",
             "Basic dXNlcjpwYXNzd29yZA==",
             "Basic ZXk6LmEuYg==",
             "ApiKey abc.def",
             "token ghp_16C7e42F292c6912E7710c838347Ae178B4a",
             "Digesting 1",  // Only like a scheme that signs.
             "opaque",
         }) {
        CAPTURE(value);
        CHECK(subject(with_authorization(value)) == value);
    }
}

TEST_CASE("decision 19 T3 a JWT-shaped credential is refused: it is refreshed between retries")
{
    const std::string token(jwt);
    // A nested and an encrypted one; the latter may leave its second part empty.
    const std::string jwe =
        "eyJlbmMiOiJBMTI4R0NNIiwiYWxnIjoiZGlyIn0..48V1_ALb6US04U3b.5eym8.XFBoMYUZ";
    for (const auto& value : {"Bearer " + token, "bearer " + token, "Bearer  " + token,
                              "Bearer\t" + token, "JWT " + token, "Token " + token, token,
                              "Bearer " + jwe, std::string("Bearer eyJhbGciOiJub25lIn0.e30.")}) {
        CAPTURE(value);
        CHECK(missing(with_authorization(value)));
        CHECK(missing(read_subject(fields_of({{"X-Api-Key", value}}), api_key, true)));
    }
}

TEST_CASE("decision 19 schemes that sign each request are refused")
{
    for (const std::string_view scheme : {"AWS4-HMAC-SHA256",
                                          "AWS4-ECDSA-P256-SHA256",
                                          "AWS",
                                          "Digest",
                                          "DPoP",
                                          "EG1-HMAC-SHA256",
                                          "Hawk",
                                          "HMAC",
                                          "HMAC-SHA256",
                                          "HOBA",
                                          "MAC",
                                          "Negotiate",
                                          "NTLM",
                                          "OAuth",
                                          "SCRAM-SHA-1",
                                          "SCRAM-SHA-256",
                                          "SharedKey",
                                          "SharedKeyLite",
                                          "Signature",
                                          "TC3-HMAC-SHA256"}) {
        CAPTURE(scheme);
        const std::string name(scheme);
        CHECK(missing(with_authorization(name + " Credential=AKID, Signature=ab12")));
        CHECK(missing(with_authorization(name + "\tCredential=AKID, Signature=ab12")));
    }
    CHECK(missing(with_authorization("digest username=\"a\", nonce=\"b\"")));
    CHECK(missing(with_authorization("aws4-hmac-sha256 Credential=a")));
}

TEST_CASE("decision 19 no credential, an empty one and two of them name nobody")
{
    CHECK(missing(read_subject({}, authorization, true)));
    CHECK(missing(with_authorization("")));
    const Fields twice = fields_of({{"Authorization", "Bearer a"}, {"authorization", "Bearer a"}});
    CHECK(missing(read_subject(twice, authorization, true)));
}

TEST_CASE("decision 19 credential:NAME reads that field alone")
{
    const Fields fields = fields_of({{"Authorization", "Bearer a"}, {"x-api-key", "k-1"}});
    CHECK(subject(read_subject(fields, api_key, false)) == "k-1");
    CHECK(subject(read_subject(fields, authorization, false)) == "Bearer a");
}

TEST_CASE("SCP-4 header:NAME counts from a trusted peer only")
{
    const Fields fields = fields_of({{"X-Consumer", "merchant 7"}});
    CHECK(subject(read_subject(fields, gateway, true)) == "merchant 7");
    CHECK(missing(read_subject(fields, gateway, false)));
    CHECK(missing(read_subject({}, gateway, true)));
    CHECK(missing(read_subject(fields_of({{"X-Consumer", ""}}), gateway, true)));
    const Fields twice = fields_of({{"X-Consumer", "merchant 7"}, {"X-Consumer", "merchant 8"}});
    CHECK(missing(read_subject(twice, gateway, true)));
    const Fields rotating = fields_of({{"X-Consumer", jwt}});
    CHECK(subject(read_subject(rotating, gateway, true)) ==
          jwt);  // The proxy in front vouches for it.
}

TEST_CASE("SCP-2 shared is one subject for everybody, without a credential")
{
    CHECK(subject(read_subject({}, shared, false)).empty());
    CHECK(subject(read_subject(fields_of({{"Authorization", "Bearer a"}}), shared, true)).empty());
}

TEST_CASE("ERR-4 the reason of a refusal holds nothing of the credential")
{
    for (const std::string_view value :
         {"Digest ZZZZ", "AWS4-HMAC-SHA256 ZZZZ", "Bearer eyZZZ.ZZZ.ZZZ"}) {
        const auto result = with_authorization(value);
        const auto* refused = std::get_if<SubjectMissing>(&result);
        REQUIRE(refused);
        CHECK(refused->why.find("ZZZ") == std::string_view::npos);
    }
}

TEST_CASE("decision 9 the ledger's form ignores case and tells every rule from every other")
{
    CHECK(authorization.form() == "credential:authorization");
    CHECK(api_key.form() == "credential:x-api-key");
    CHECK(SubjectRule{SubjectKind::credential, "X-API-KEY"}.form() == api_key.form());
    CHECK(gateway.form() == "header:x-consumer");
    CHECK(shared.form() == "shared");
    std::set<std::string> forms;
    for (const auto kind :
         {SubjectKind::credential, SubjectKind::trusted_header, SubjectKind::shared}) {
        CHECK(forms.insert(SubjectRule{kind, "Same"}.form()).second);
    }
}
