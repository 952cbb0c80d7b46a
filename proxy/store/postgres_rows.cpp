// Decoding of rows.
#include "store/postgres_rows.hpp"

namespace onceward {

namespace {

// The columns of statements::read.
enum Column : int {
    digest,
    state,
    reason,
    kept,
    status,
    epoch,
    token,
    fingerprint,
    rule,
    tier,
    until,
    reserved_at,
    settled_at,
    now,
    body_day,
};

class Line {
public:
    Line(const PgResult& result, std::size_t line) : result_(result), line_(line) {}

    bool null(Column column) const { return result_.is_null(line_, column); }
    std::string_view bytes(Column column) const { return result_.bytes(line_, column); }
    std::int64_t integer(Column column) const { return result_.integer(line_, column); }
    core::StoreTime time(Column column) const
    {
        return core::StoreTime(core::Millis(integer(column)));
    }

    template <class Enum>
    bool code(Column column, Enum last, Enum& into) const
    {
        const auto value = integer(column);
        if (value < 0 || value > static_cast<std::int64_t>(last)) return false;
        into = static_cast<Enum>(value);
        return true;
    }

private:
    const PgResult& result_;
    std::size_t line_;
};

}  // namespace

std::optional<ReadRow> read_row(const PgResult& result, std::size_t number, const TierNames& tiers)
{
    const Line line(result, number);
    ReadRow read;
    auto& row = read.row;
    const bool whole = read_id(line.bytes(digest), read.digest) &&
                       line.code(state, core::State::expired, row.state) &&
                       line.code(reason, core::Reason::reopened, row.reason) &&
                       line.code(kept, core::Kept::too_large, row.kept) &&
                       (line.null(token) || read_id(line.bytes(token), row.token)) &&
                       read_id(line.bytes(fingerprint), row.fingerprint);
    if (!whole) return std::nullopt;
    row.epoch = static_cast<core::Epoch>(line.integer(epoch));
    row.fingerprint_rule = static_cast<std::uint16_t>(line.integer(rule));
    row.tier = tiers.index_of(line.integer(tier));
    row.until = line.time(until);
    row.reserved_at = line.time(reserved_at);
    row.settled_at = line.time(settled_at);
    row.answer.status = static_cast<int>(line.integer(status));
    read.now = line.time(now);
    read.body_day = static_cast<std::int32_t>(line.integer(body_day));
    return read;
}

bool read_body(const PgResult& result, std::size_t line, int column, core::Response& answer)
{
    if (result.is_null(line, column) || result.is_null(line, column + 1)) return false;
    auto fields = core::Fields::decode(result.bytes(line, column));
    if (!fields) return false;
    answer.fields = std::move(*fields);
    answer.body = result.bytes(line, column + 1);
    return true;
}

}  // namespace onceward
