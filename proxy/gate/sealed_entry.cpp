// Sealing entries with OpenSSL's AES-256-GCM.
#include "gate/sealed_entry.hpp"

#include "gate/copy_lifetime.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

namespace onceward {

using core::Millis;
using core::Record;
using core::StoreTime;

namespace {

// Entry: format (1) | salt (16) | tag (16) | ciphertext.
constexpr char format = 1;
constexpr std::size_t salt_size = 16;
constexpr std::size_t tag_size = 16;
constexpr std::size_t head_size = 1 + salt_size + tag_size;
// Numbers of the plain text before the fields: see `written`.
constexpr std::size_t numbers_size = 1 + 1 + 1 + 4 + 2 + 2 + 16 + 5 * 8 + 2 + 4;
// A publisher's clock may be ahead of ours by this much.
constexpr Millis ahead_max{5'000};

// As in core: libcrypto fails only when the process cannot go on.
void require(bool worked)
{
    if (!worked) std::abort();
}

const unsigned char* bytes_of(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text)
{
    return reinterpret_cast<unsigned char*>(text.data());
}

class Writer {
public:
    explicit Writer(std::size_t size) { bytes.reserve(size); }

    void number(std::uint64_t value, int size)
    {
        for (int shift = (size - 1) * 8; shift >= 0; shift -= 8)
            bytes.push_back(static_cast<char>(value >> shift & 0xFF));
    }
    void time(StoreTime value)
    {
        number(static_cast<std::uint64_t>(value.time_since_epoch().count()), 8);
    }

    std::string bytes;
};

// Precondition of every read: enough is left. The sizes are checked once, before.
class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    std::uint64_t number(int size)
    {
        std::uint64_t value = 0;
        for (const char c : take(static_cast<std::size_t>(size)))
            value = value << 8 | static_cast<unsigned char>(c);
        return value;
    }
    StoreTime time() { return StoreTime(Millis(static_cast<std::int64_t>(number(8)))); }

    std::string_view take(std::size_t size)
    {
        const auto part = left_.substr(0, size);
        left_.remove_prefix(size);
        return part;
    }
    std::string_view rest() const { return left_; }

private:
    std::string_view left_;
};

std::size_t plain_size(const Record& record)
{
    return numbers_size + record.answer.fields.encoded().size() + record.answer.body.size();
}

std::string written(const Record& record, EntryTimes times)
{
    Writer out(plain_size(record));
    out.number(static_cast<std::uint64_t>(record.state), 1);
    out.number(static_cast<std::uint64_t>(record.reason), 1);
    out.number(static_cast<std::uint64_t>(record.kept), 1);
    out.number(record.epoch, 4);
    out.number(record.fingerprint_rule, 2);
    out.number(record.tier, 2);
    for (const auto byte : record.fingerprint.bytes)
        out.number(byte, 1);
    out.time(times.published);
    out.time(times.expires);
    out.time(times.published + record.remaining);
    out.time(times.published - record.age);
    const bool dated = record.settled_at != StoreTime{};
    out.time(dated ? record.settled_at : times.published);
    out.number(static_cast<std::uint64_t>(record.answer.status), 2);
    out.number(record.answer.fields.encoded().size(), 4);
    out.bytes += record.answer.fields.encoded();
    out.bytes += record.answer.body;
    return std::move(out.bytes);
}

// Only bytes of ours get here, but of any version of ours: what this one cannot mean is refused.
std::optional<Record> read_record(std::string_view plain, StoreTime now)
{
    if (plain.size() < numbers_size) return std::nullopt;
    Reader in(plain);
    Record record;
    record.state = static_cast<core::State>(in.number(1));
    record.reason = static_cast<core::Reason>(in.number(1));
    record.kept = static_cast<core::Kept>(in.number(1));
    record.epoch = static_cast<core::Epoch>(in.number(4));
    record.fingerprint_rule = static_cast<std::uint16_t>(in.number(2));
    record.tier = static_cast<std::uint16_t>(in.number(2));
    for (auto& byte : record.fingerprint.bytes)
        byte = static_cast<unsigned char>(in.number(1));
    const auto published = in.time();
    const auto expires = in.time();
    const auto until = in.time();
    const auto reserved = in.time();
    record.settled_at = in.time();
    record.answer.status = static_cast<int>(in.number(2));
    const auto fields_size = in.number(4);
    if (fields_size > in.rest().size()) return std::nullopt;
    auto fields = core::Fields::decode(in.take(fields_size));

    const bool in_time = now < expires && now < until && published <= now + ahead_max;
    const bool known = is_copied(record) && record.reason <= core::Reason::reopened &&
                       record.kept <= core::Kept::too_large && record.answer.status >= 200 &&
                       record.answer.status <= 599;
    if (!fields || !in_time || !known) return std::nullopt;
    record.answer.fields = std::move(*fields);
    record.answer.body = in.rest();
    record.remaining = until - now;
    record.age = std::max(now - reserved, Millis{0});
    return record;
}

std::string authenticated(const core::Digest& digest)
{
    std::string text = "onceward gate entry ";
    text.push_back(format);
    text.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
    return text;
}

}  // namespace

struct EntrySealer::Cipher {
    EVP_CIPHER* algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    // One key seals one entry, so one nonce is enough for all.
    std::array<unsigned char, 12> nonce{};

    Cipher() { require(algorithm != nullptr && context != nullptr); }
    ~Cipher()
    {
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_free(algorithm);
    }
    Cipher(const Cipher&) = delete;
    Cipher& operator=(const Cipher&) = delete;
};

EntrySealer::EntrySealer(const core::Secret& secret)
    : key_hash_(secret.derive("onceward gate 1", 32)), cipher_(std::make_unique<Cipher>())
{
}

EntrySealer::~EntrySealer() = default;

std::size_t EntrySealer::sealed_size(const Record& record)
{
    return head_size + plain_size(record);
}

// Two halves from a keyed hash, each with its own number.
std::array<unsigned char, 32> EntrySealer::entry_key(const core::Digest& digest,
                                                     std::string_view salt) const
{
    std::string input = authenticated(digest);
    input += salt;
    std::array<unsigned char, 32> key{};
    for (std::size_t half = 0; half < 2; ++half) {
        const auto sum = key_hash_.sum(input + static_cast<char>(half));
        std::copy(sum.begin(), sum.end(), key.begin() + static_cast<std::ptrdiff_t>(16 * half));
    }
    return key;
}

std::string EntrySealer::seal(const core::Digest& digest, const Record& record, EntryTimes times)
{
    assert(is_copied(record));
    const auto plain = written(record, times);
    const auto salt = core::random_token();
    std::string sealed(head_size + plain.size(), '\0');
    sealed[0] = format;
    std::copy(salt.bytes.begin(), salt.bytes.end(), bytes_of(sealed) + 1);

    const auto key = entry_key(digest, std::string_view(sealed).substr(1, salt_size));
    const auto extra = authenticated(digest);
    auto* context = cipher_->context;
    int size = 0;
    require(EVP_EncryptInit_ex2(context, cipher_->algorithm, key.data(), cipher_->nonce.data(),
                                nullptr) == 1);
    require(EVP_EncryptUpdate(context, nullptr, &size, bytes_of(extra),
                              static_cast<int>(extra.size())) == 1);
    require(EVP_EncryptUpdate(context, bytes_of(sealed) + head_size, &size, bytes_of(plain),
                              static_cast<int>(plain.size())) == 1);
    require(EVP_EncryptFinal_ex(context, bytes_of(sealed) + head_size + size, &size) == 1);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size,
                                bytes_of(sealed) + 1 + salt_size) == 1);
    return sealed;
}

std::optional<Record> EntrySealer::open(const core::Digest& digest, std::string_view sealed,
                                        StoreTime now)
{
    if (sealed.size() < head_size + numbers_size || sealed[0] != format) return std::nullopt;
    const auto key = entry_key(digest, sealed.substr(1, salt_size));
    const auto extra = authenticated(digest);
    std::string tag(sealed.substr(1 + salt_size, tag_size));
    const auto body = sealed.substr(head_size);
    std::string plain(body.size(), '\0');

    auto* context = cipher_->context;
    int size = 0;
    require(EVP_DecryptInit_ex2(context, cipher_->algorithm, key.data(), cipher_->nonce.data(),
                                nullptr) == 1);
    require(EVP_DecryptUpdate(context, nullptr, &size, bytes_of(extra),
                              static_cast<int>(extra.size())) == 1);
    require(EVP_DecryptUpdate(context, bytes_of(plain), &size, bytes_of(body),
                              static_cast<int>(body.size())) == 1);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, bytes_of(tag)) == 1);
    const bool genuine = EVP_DecryptFinal_ex(context, bytes_of(plain) + size, &size) == 1;
    if (!genuine) return std::nullopt;
    return read_record(plain, now);
}

}  // namespace onceward
