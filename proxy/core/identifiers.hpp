// The fixed-size values by which records are found, claimed and compared.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <string>

namespace onceward::core {

// 16 bytes with a meaning of their own; the tag keeps one kind from being passed as another.
template <class Tag>
struct Bytes16 {
    std::array<unsigned char, 16> bytes{};

    auto operator<=>(const Bytes16&) const = default;

    std::string hex() const
    {
        static constexpr char digits[] = "0123456789abcdef";
        std::string text;
        text.reserve(bytes.size() * 2);
        for (unsigned char byte : bytes) {
            text.push_back(digits[byte >> 4]);
            text.push_back(digits[byte & 0xF]);
        }
        return text;
    }
};

using Digest =
    Bytes16<struct DigestTag>;  // Which key: subject, action and key in one (decision 9).
using Token =
    Bytes16<struct TokenTag>;  // Which attempt holds the key: 128 random bits (decision 7).
using Fingerprint =
    Bytes16<struct FingerprintTag>;  // Which request: method, target, media type, body (FPR-1).

// A digest is uniformly distributed already, so its first bytes are its hash. The secret behind it
// keeps a client from choosing collisions (T29).
struct DigestHash {
    std::size_t operator()(const Digest& digest) const
    {
        std::size_t hash;
        std::memcpy(&hash, digest.bytes.data(), sizeof hash);
        return hash;
    }
};

}  // namespace onceward::core
