// Digests and records as the tests of the gate need them.
#pragma once

#include "core/record.hpp"
#include "core/secret.hpp"

#include <string>

namespace onceward::test {

inline core::Digest digest_of(unsigned number)
{
    core::Digest digest;
    for (std::size_t i = 0; i < 4; ++i)
        digest.bytes[i] = static_cast<unsigned char>(number >> (8 * i));
    digest.bytes[15] = 0xD1;
    return digest;
}

inline core::Record settled_record(const std::string& body = R"({"paid":true})")
{
    core::Record record;
    record.state = core::State::done;
    record.kept = core::Kept::full;
    record.epoch = 3;
    record.fingerprint.bytes.fill(0x5A);
    record.fingerprint_rule = 7;
    record.tier = 2;
    record.remaining = std::chrono::hours{24};
    record.age = std::chrono::seconds{2};
    record.settled_at = core::StoreTime(std::chrono::milliseconds{1'700'000'000'123});
    record.answer.status = 201;
    record.answer.fields.add("Content-Type", "application/json");
    record.answer.fields.add("X-Order", "42");
    record.answer.body = body;
    return record;
}

// Everything that decides an answer; times move on by themselves.
inline bool same_answer(const core::Record& a, const core::Record& b)
{
    return a.state == b.state && a.reason == b.reason && a.kept == b.kept && a.epoch == b.epoch &&
           a.fingerprint == b.fingerprint && a.fingerprint_rule == b.fingerprint_rule &&
           a.tier == b.tier && a.settled_at == b.settled_at && a.answer == b.answer;
}

inline core::Secret secret_of(const std::string& text = "a secret of sixteen bytes or more")
{
    return *core::Secret::from_bytes(text);
}

}  // namespace onceward::test
