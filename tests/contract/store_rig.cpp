// Values for contract tests.
#include "store_rig.hpp"

namespace onceward::test {

using core::Millis;

namespace {

template <class Identifier>
Identifier numbered(unsigned char kind, unsigned number)
{
    Identifier identifier;
    identifier.bytes[0] =
        static_cast<unsigned char>(number * 37);  // Not in the order of the numbers.
    identifier.bytes[1] = kind;
    for (std::size_t i = 0; i < 4; ++i) {
        identifier.bytes[12 + i] = static_cast<unsigned char>(number >> (24 - 8 * i));
    }
    return identifier;
}

}  // namespace

std::vector<core::Tier> contract_tiers()
{
    core::Tier bounded;
    bounded.name = "bounded";
    bounded.tombstone = Millis{1'000'000};
    bounded.unknown_retention = Millis{300'000};
    core::Tier endless;
    endless.name = "endless";
    endless.tombstone = std::nullopt;
    return {bounded, endless};
}

core::Digest digest_of(unsigned number)
{
    return numbered<core::Digest>(0xD1, number);
}

core::Token token_of(unsigned number)
{
    return numbered<core::Token>(0x70, number);
}

core::Fingerprint fingerprint_of(unsigned number)
{
    return numbered<core::Fingerprint>(0xF1, number);
}

core::Claim claim_of(unsigned token, unsigned fingerprint)
{
    core::Claim claim;
    claim.token = token_of(token);
    claim.fingerprint = fingerprint_of(fingerprint);
    claim.fingerprint_rule = 7;
    claim.lease = Millis{60'000};
    return claim;
}

core::Settlement settlement_of(core::State state, int status, std::string_view body)
{
    core::Settlement settlement;
    settlement.state = state;
    settlement.keep = Millis{100'000};
    if (state == core::State::unknown) settlement.reason = core::Reason::timeout;
    if (state == core::State::released) settlement.reason = core::Reason::not_sent;
    if (status == 0) return settlement;
    settlement.kept = core::Kept::full;
    settlement.answer.status = status;
    settlement.answer.fields.add("Content-Type", "text/plain");
    settlement.answer.body = body;
    return settlement;
}

std::string text_of(const std::vector<OpenError>& refusals)
{
    std::string text;
    for (const auto& error : refusals) {
        text.append(error.code.empty() ? "" : error.code + ": ").append(error.message).append("\n");
        text.append("= ").append(error.hint).append("\n");
    }
    return text;
}

}  // namespace onceward::test
