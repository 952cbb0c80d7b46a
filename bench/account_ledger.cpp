// The books of the demonstration service.
#include "account_ledger.hpp"

namespace onceward::demo {

template <typename Value>
Value& AccountLedger::entry(ByName<Value>& entries, std::string_view name, const Value& fresh)
{
    if (const auto found = entries.find(name); found != entries.end()) return found->second;
    return entries.emplace(std::string(name), fresh).first->second;
}

void AccountLedger::received(std::string_view key)
{
    const std::lock_guard lock(mutex_);
    ++totals_.received;
    ++entry(keys_, key, KeyCounts{}).received;
}

Charge AccountLedger::charge(std::string_view account, std::int64_t amount, std::string_view key)
{
    const std::lock_guard lock(mutex_);
    ++totals_.executions;
    ++entry(keys_, key, KeyCounts{}).executions;
    auto& balance = entry(accounts_, account, opening_balance_);
    Charge charge;
    charge.number = ++last_number_;
    charge.declined = balance < amount;
    if (charge.declined) {
        ++totals_.declined;
    } else {
        ++totals_.charged;
        balance -= amount;
    }
    charge.balance = balance;
    return charge;
}

void AccountLedger::open(std::string_view account, std::int64_t balance)
{
    const std::lock_guard lock(mutex_);
    entry(accounts_, account, balance) = balance;
}

std::optional<std::int64_t> AccountLedger::balance(std::string_view account) const
{
    const std::lock_guard lock(mutex_);
    const auto found = accounts_.find(account);
    if (found == accounts_.end()) return std::nullopt;
    return found->second;
}

KeyCounts AccountLedger::counts(std::string_view key) const
{
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(key);
    return found == keys_.end() ? KeyCounts{} : found->second;
}

LedgerTotals AccountLedger::totals() const
{
    const std::lock_guard lock(mutex_);
    auto totals = totals_;
    totals.keys = keys_.size();
    return totals;
}

void AccountLedger::reset()
{
    const std::lock_guard lock(mutex_);
    accounts_.clear();
    keys_.clear();
    totals_ = {};
}

}  // namespace onceward::demo
