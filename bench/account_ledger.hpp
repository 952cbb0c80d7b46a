// The accounts of the demonstration service, and the count of what was really done to them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace onceward::demo {

// What happened to the requests that carried one Idempotency-Key, byte for byte as received.
struct KeyCounts {
    std::uint64_t received = 0;  // Requests that reached POST /v1/charges.
    std::uint64_t executions =
        0;  // Of these, how often the account was debited or the charge declined.
};

struct LedgerTotals {
    std::uint64_t received = 0;
    std::uint64_t executions = 0;
    std::uint64_t charged = 0;
    std::uint64_t declined = 0;
    std::uint64_t keys = 0;  // Distinct Idempotency-Key values seen.
};

struct Charge {
    bool declined = false;
    std::uint64_t number = 0;  // Grows with each execution.
    std::int64_t balance = 0;  // After the charge.
};

// Deliberately not idempotent: it counts keys and never looks at them. Every function may be called
// from any thread and never waits for I/O.
class AccountLedger {
public:
    explicit AccountLedger(std::int64_t opening_balance) : opening_balance_(opening_balance) {}

    // A request has arrived, whatever becomes of it.
    void received(std::string_view key);

    // Takes `amount` (> 0) from the account, which is opened with the opening balance if it is new.
    Charge charge(std::string_view account, std::int64_t amount, std::string_view key);

    // Opens the account, or sets its balance.
    void open(std::string_view account, std::int64_t balance);

    std::optional<std::int64_t> balance(std::string_view account) const;
    KeyCounts counts(std::string_view key) const;
    LedgerTotals totals() const;

    // Forgets every account and every count.
    void reset();

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const
        {
            return std::hash<std::string_view>{}(text);
        }
    };
    template <typename Value>
    using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

    template <typename Value>
    static Value& entry(ByName<Value>& entries, std::string_view name, const Value& fresh);

    const std::int64_t opening_balance_;
    mutable std::mutex mutex_;  // Held for a few map operations only.
    ByName<std::int64_t> accounts_;
    ByName<KeyCounts> keys_;
    LedgerTotals totals_;
    std::uint64_t last_number_ = 0;
};

}  // namespace onceward::demo
