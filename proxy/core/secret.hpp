// Keyed hashes: the secret and what is derived from it (decision 9).
#pragma once

#include "core/identifiers.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::core {

// Bytes of a keyed hash's input: each field as u32 big-endian length + bytes, so that ("ab", "c")
// and
// ("a", "bc") differ (SCP-8).
class LengthPrefixed {
public:
    LengthPrefixed& add(std::string_view field);
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

// HMAC-SHA-256 with one fixed key, cut to 16 bytes. Immutable after construction; any number of
// threads may call sum at once.
class KeyedHash {
public:
    explicit KeyedHash(std::string_view key);
    ~KeyedHash();
    KeyedHash(KeyedHash&&) noexcept;
    KeyedHash& operator=(KeyedHash&&) noexcept;

    std::array<unsigned char, 16> sum(std::string_view message) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The installation's secret: at least 16 bytes that never rotate, because a new secret would make
// every old key a new one. Its children are HKDF-SHA-256 outputs under their labels, so none tells
// about another.
class Secret {
public:
    // Absent when there are fewer than 16 bytes.
    static std::optional<Secret> from_bytes(std::string_view bytes);
    // 32 bytes of the system's randomness.
    static Secret random();

    const std::string& bytes() const { return bytes_; }
    std::string derive(std::string_view label, std::size_t size) const;

    KeyedHash key_hash() const { return KeyedHash(derive("onceward key digest 1", 32)); }
    KeyedHash fingerprint_hash() const { return KeyedHash(derive("onceward fingerprint 1", 32)); }
    // What the store keeps to notice that it was opened with another secret.
    std::string canary() const { return derive("onceward canary 1", 16); }

private:
    explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
    std::string bytes_;
};

// 128 bits that no other attempt has.
Token random_token();

// First `digits` hexadecimal digits of SHA-256: a name for something that must not be shown itself.
std::string short_hash(std::string_view text, std::size_t digits);

}  // namespace onceward::core
