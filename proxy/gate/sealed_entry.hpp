// Settled records as bytes that only this installation can have made and read (decision 31).
#pragma once

#include "core/record.hpp"
#include "core/secret.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace onceward {

// When an entry was made and how long it may be believed, on the wall clock. That clock is shared
// by the proxies only as well as their machines keep time: it bounds an entry that a store refuses
// to forget, the store's own expiry does the daily work.
struct EntryTimes {
    core::StoreTime published{};
    core::StoreTime expires{};
};

// AES-256-GCM under a key of each entry's own, derived from the gate's key, a 128-bit random salt
// and the digest; the digest and the format are authenticated too. A random nonce under one key
// would be good for 2^32 entries, which a busy installation makes in days and a secret that never
// rotates does not allow; here two entries of one digest would have to share a salt, which 2^48 of
// them do with a probability below 2^-32. Used by one thread at a time.
class EntrySealer {
public:
    explicit EntrySealer(const core::Secret& secret);
    ~EntrySealer();
    EntrySealer(const EntrySealer&) = delete;
    EntrySealer& operator=(const EntrySealer&) = delete;

    // How many bytes seal makes of this record.
    static std::size_t sealed_size(const core::Record& record);

    // Precondition: DONE or FAILED. A record without settled_at was settled when it is published.
    std::string seal(const core::Digest& digest, const core::Record& record, EntryTimes times);

    // The record as it was sealed, its remaining time and age moved on to `now`. Absent when
    // anything was changed, cut or added, when it was sealed for another digest or by another
    // installation, when it is not DONE or FAILED, past its time, or from the future.
    std::optional<core::Record> open(const core::Digest& digest, std::string_view sealed,
                                     core::StoreTime now);

private:
    struct Cipher;

    std::array<unsigned char, 32> entry_key(const core::Digest& digest,
                                            std::string_view salt) const;

    core::KeyedHash key_hash_;
    std::unique_ptr<Cipher> cipher_;
};

}  // namespace onceward
