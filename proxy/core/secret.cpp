// Keyed hashes over OpenSSL's libcrypto.
#include "core/secret.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstdlib>

namespace onceward::core {

namespace {

// libcrypto fails here only when the process is out of memory or the library is unusable. Going on
// would mean records under wrong names, so the process ends.
void require(bool worked)
{
    if (!worked) std::abort();
}

constexpr std::size_t secret_bytes_min = 16;

}  // namespace

LengthPrefixed& LengthPrefixed::add(std::string_view field)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes_.push_back(static_cast<char>(field.size() >> shift & 0xFF));
    }
    bytes_.append(field);
    return *this;
}

struct KeyedHash::State {
    EVP_MAC* algorithm = nullptr;
    EVP_MAC_CTX* keyed = nullptr;  // Holds the key; every sum starts from a copy.

    ~State()
    {
        EVP_MAC_CTX_free(keyed);
        EVP_MAC_free(algorithm);
    }
};

KeyedHash::KeyedHash(std::string_view key) : state_(std::make_unique<State>())
{
    state_->algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    require(state_->algorithm != nullptr);
    state_->keyed = EVP_MAC_CTX_new(state_->algorithm);
    require(state_->keyed != nullptr);
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
    require(EVP_MAC_init(state_->keyed, bytes, key.size(), params) == 1);
}

KeyedHash::~KeyedHash() = default;
KeyedHash::KeyedHash(KeyedHash&&) noexcept = default;
KeyedHash& KeyedHash::operator=(KeyedHash&&) noexcept = default;

std::array<unsigned char, 16> KeyedHash::sum(std::string_view message) const
{
    struct Free {
        void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
    };
    const std::unique_ptr<EVP_MAC_CTX, Free> context(EVP_MAC_CTX_dup(state_->keyed));
    require(context != nullptr);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> full{};
    std::size_t size = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    require(EVP_MAC_update(context.get(), bytes, message.size()) == 1);
    require(EVP_MAC_final(context.get(), full.data(), &size, full.size()) == 1);
    std::array<unsigned char, 16> cut{};
    std::copy_n(full.begin(), cut.size(), cut.begin());
    return cut;
}

std::optional<Secret> Secret::from_bytes(std::string_view bytes)
{
    if (bytes.size() < secret_bytes_min) return std::nullopt;
    return Secret(std::string(bytes));
}

Secret Secret::random()
{
    std::string bytes(32, '\0');
    require(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), 32) == 1);
    return Secret(std::move(bytes));
}

std::string Secret::derive(std::string_view label, std::size_t size) const
{
    struct Free {
        void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
        void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
    };
    const std::unique_ptr<EVP_KDF, Free> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
    require(kdf != nullptr);
    const std::unique_ptr<EVP_KDF_CTX, Free> context(EVP_KDF_CTX_new(kdf.get()));
    require(context != nullptr);
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(bytes_.data()),
                                          bytes_.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(label.data()),
                                          label.size()),
        OSSL_PARAM_construct_end(),
    };
    std::string out(size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    require(EVP_KDF_derive(context.get(), bytes, out.size(), params) == 1);
    return out;
}

Token random_token()
{
    Token token;
    require(RAND_bytes(token.bytes.data(), static_cast<int>(token.bytes.size())) == 1);
    return token;
}

std::string short_hash(std::string_view text, std::size_t digits)
{
    std::array<unsigned char, SHA256_DIGEST_LENGTH> full{};
    unsigned size = 0;
    require(EVP_Digest(text.data(), text.size(), full.data(), &size, EVP_sha256(), nullptr) == 1);
    Digest cut;
    std::copy_n(full.begin(), cut.bytes.size(), cut.bytes.begin());
    return cut.hex().substr(0, digits);
}

}  // namespace onceward::core
