// The key store's operations on one connection: what core/record.hpp says, as statements.
#pragma once

#include "ports/key_store.hpp"
#include "store/sqlite_rows.hpp"

namespace onceward {

// Every method runs inside a transaction that its caller opened, at a time that its caller read
// from the store's clock. Used by one thread at a time.
class SqliteKeys {
public:
    explicit SqliteKeys(SqliteRows rows) : rows_(std::move(rows)) {}

    // Precondition: claim.tier < tiers().configured().
    DatabaseResult<core::Reservation> reserve(const core::Digest& digest, const core::Claim& claim,
                                              core::StoreTime now);
    DatabaseResult<core::Settled> settle(const core::Digest& digest, const core::Ticket& ticket,
                                         const core::Settlement& settlement, core::StoreTime now);
    DatabaseResult<std::optional<core::Record>> find(const core::Digest& digest,
                                                     core::StoreTime now);
    // The next `rows` rows, and besides them up to `rows` overdue leases wherever they are. A pass
    // that reaches the end of the table stops there; the next one begins anew.
    DatabaseResult<SweepReport> sweep(std::size_t rows, core::StoreTime now);
    DatabaseResult<std::vector<Listed>> unknown(std::size_t limit, core::StoreTime now);

    // When the file is opened: whoever held a PENDING row is dead. Returns how many there were.
    DatabaseResult<std::size_t> declare_crashed(core::StoreTime now);

    const TierNames& tiers() const { return rows_.tiers(); }

private:
    DatabaseResult<core::Settled> settle_again(const core::Digest& digest,
                                               const core::Ticket& ticket,
                                               const core::Settlement& settlement,
                                               core::StoreTime now);
    DatabaseResult<void> sweep_row(const core::Digest& digest, core::StoreTime now,
                                   SweepReport& report);

    SqliteRows rows_;
    std::optional<core::Digest> swept_to_;
};

}  // namespace onceward
