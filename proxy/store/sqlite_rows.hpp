// Rows of the key table, read and written one at a time; what may become of a row is not decided
// here.
#pragma once

#include "core/record.hpp"
#include "store/sqlite_database.hpp"
#include "store/tier_names.hpp"

#include <optional>
#include <vector>

namespace onceward {

// A row with what only the database needs to know about it.
struct StoredRow {
    core::Row row;
    std::int64_t tier_id = 0;
    std::optional<std::int64_t> body;  // Its answer's number in `bodies`.
};

enum class Write : std::uint8_t {
    done,
    none,  // No row met the guard; nothing was changed.
};

enum class StoredAnswer : std::uint8_t { keep, replace };

// A digest with the time by which a list orders it.
struct Dated {
    core::StoreTime reserved_at;
    core::Digest digest;

    auto operator<=>(const Dated&) const = default;
};

struct Walk {
    std::size_t examined = 0;
    std::optional<core::Digest> last;  // Where it stopped; absent at the end of the table.
    std::vector<core::Digest> due;     // Rows whose time is over.
};

// Every method runs inside the transaction that its caller opened.
class SqliteRows {
public:
    static DatabaseResult<SqliteRows> prepare(Database& database, TierNames tiers);

    const TierNames& tiers() const { return tiers_; }

    // A first claim; none when the key has a row already.
    DatabaseResult<Write> insert(const core::Digest& digest, const core::Row& row);
    // A further claim of the RELEASED row `old`.
    DatabaseResult<Write> claim(const core::Digest& digest, const StoredRow& old,
                                const core::Row& row);
    // The first settlement of a PENDING row held by this ticket. Of `row`, the answer is not looked
    // at.
    DatabaseResult<Write> settle(const core::Digest& digest, const core::Ticket& ticket,
                                 const core::Row& row, const core::Response& answer);
    // Any other change of state. `replace`: the answer becomes the one in `row`, which may be none.
    DatabaseResult<Write> change(const core::Digest& digest, const StoredRow& old,
                                 const core::Row& row, StoredAnswer answer);
    DatabaseResult<void> remove(const core::Digest& digest, const StoredRow& old);

    DatabaseResult<std::optional<StoredRow>> load(const core::Digest& digest);
    // Without headers and body.
    DatabaseResult<std::optional<StoredRow>> load_head(const core::Digest& digest);

    // The next `rows` rows behind `after`, in the order of their digests.
    DatabaseResult<Walk> walk(const std::optional<core::Digest>& after, std::size_t rows,
                              core::StoreTime now);
    // PENDING rows whose lease is over, and UNKNOWN rows whose time is not; by reserved_at, then
    // digest.
    DatabaseResult<std::vector<Dated>> overdue(core::StoreTime now, std::size_t limit);
    DatabaseResult<std::vector<Dated>> unknown(core::StoreTime now, std::size_t limit);
    DatabaseResult<std::size_t> count_unknown();
    DatabaseResult<std::vector<core::Digest>> pending();

private:
    struct Statements {
        Statement insert, claim, settle, change, remove, load, walk, overdue, unknown, pending;
        Statement insert_body, load_body, remove_body, count_unknown;
    };

    std::optional<std::int64_t> number_for(const core::Response& answer);
    DatabaseResult<void> write_body(std::int64_t number, const core::Digest& digest,
                                    const core::Response& answer);
    DatabaseResult<void> remove_body(const std::optional<std::int64_t>& number);
    DatabaseResult<void> read_body(const core::Digest& digest, std::int64_t number,
                                   core::Response& answer);
    DatabaseResult<std::vector<Dated>> dated(Statement& statement, core::StoreTime now,
                                             std::size_t limit);

    TierNames tiers_;
    Statements statements_;
    std::int64_t next_body_ = 1;
};

}  // namespace onceward
