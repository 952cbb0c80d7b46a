// The statements of the key table. Each change is one statement guarded by digest, epoch and state,
// and by the token where somebody holds the row.
#include "store/sqlite_rows.hpp"

#include <algorithm>

namespace onceward {

namespace {

std::int64_t number(core::StoreTime time)
{
    return time.time_since_epoch().count();
}

core::StoreTime time(std::int64_t number)
{
    return core::StoreTime(core::Millis(number));
}

template <class Tag>
std::string_view view(const core::Bytes16<Tag>& identifier)
{
    return {reinterpret_cast<const char*>(identifier.bytes.data()), identifier.bytes.size()};
}

template <class Enum>
std::int64_t code(Enum value)
{
    return static_cast<std::int64_t>(value);
}

void bind_token(Query& query, const core::Token& token)
{
    if (token == core::Token{}) {
        query.bind_null();
    } else {
        query.bind_bytes(view(token));
    }
}

void bind_body(Query& query, const std::optional<std::int64_t>& body)
{
    if (body) {
        query.bind(*body);
    } else {
        query.bind_null();
    }
}

DatabaseError damaged(std::string_view what)
{
    return {DatabaseFault::corrupt, std::string("a record is damaged: ").append(what)};
}

// False when the column holds anything but 16 bytes.
template <class Tag>
bool read16(const Query& query, int column, core::Bytes16<Tag>& into)
{
    const auto bytes = query.bytes(column);
    if (bytes.size() != into.bytes.size()) return false;
    std::copy(bytes.begin(), bytes.end(), into.bytes.begin());
    return true;
}

template <class Enum>
bool read_code(const Query& query, int column, Enum last, Enum& into)
{
    const auto value = query.integer(column);
    if (value < 0 || value > code(last)) return false;
    into = static_cast<Enum>(value);
    return true;
}

constexpr std::string_view insert_sql =
    "INSERT INTO keys (digest, state, reason, kept, status, epoch, token, fingerprint, fp_rule, "
    "tier, until,"
    " reserved_at, settled_at) VALUES (?, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO "
    "NOTHING";
constexpr std::string_view claim_sql =
    "UPDATE keys SET state = 0, reason = 0, kept = 0, status = 0, epoch = ?, token = ?, "
    "fingerprint = ?,"
    " fp_rule = ?, tier = ?, until = ?, reserved_at = ?, settled_at = 0, body = NULL"
    " WHERE digest = ? AND epoch = ? AND state = 4";
constexpr std::string_view settle_sql =
    "UPDATE keys SET state = ?, reason = ?, kept = ?, status = ?, token = ?, until = ?, settled_at "
    "= ?,"
    " body = ? WHERE digest = ? AND epoch = ? AND token = ? AND state = 0";
constexpr std::string_view change_sql =
    "UPDATE keys SET state = ?, reason = ?, kept = ?, status = ?, token = ?, until = ?, settled_at "
    "= ?,"
    " body = ? WHERE digest = ? AND epoch = ? AND state = ?";
constexpr std::string_view remove_sql =
    "DELETE FROM keys WHERE digest = ? AND epoch = ? AND state = ?";
constexpr std::string_view load_sql =
    "SELECT state, reason, kept, status, epoch, token, fingerprint, fp_rule, tier, until, "
    "reserved_at,"
    " settled_at, body FROM keys WHERE digest = ?";
constexpr std::string_view walk_sql =
    "SELECT digest, until FROM keys WHERE digest > ? ORDER BY digest LIMIT ?";
constexpr std::string_view overdue_sql =
    "SELECT reserved_at, digest FROM keys WHERE state = 0 AND until <= ?"
    " ORDER BY reserved_at, digest LIMIT ?";
constexpr std::string_view unknown_sql =
    "SELECT reserved_at, digest FROM keys WHERE state = 3 AND until > ?"
    " ORDER BY reserved_at, digest LIMIT ?";
constexpr std::string_view count_unknown_sql = "SELECT count(*) FROM keys WHERE state = 3";
constexpr std::string_view pending_sql = "SELECT digest FROM keys WHERE state = 0";
constexpr std::string_view insert_body_sql =
    "INSERT INTO bodies (id, digest, headers, body) VALUES (?, ?, ?, ?)";
constexpr std::string_view load_body_sql =
    "SELECT headers, body FROM bodies WHERE id = ? AND digest = ?";
constexpr std::string_view remove_body_sql = "DELETE FROM bodies WHERE id = ?";

DatabaseResult<StoredRow> read_row(const Query& query, const TierNames& tiers)
{
    StoredRow stored;
    core::Row& row = stored.row;
    const bool known = read_code(query, 0, core::State::expired, row.state) &&
                       read_code(query, 1, core::Reason::reopened, row.reason) &&
                       read_code(query, 2, core::Kept::too_large, row.kept);
    if (!known) return damaged("a state that does not exist");
    if (!query.is_null(5) && !read16(query, 5, row.token)) return damaged("its token");
    if (!read16(query, 6, row.fingerprint)) return damaged("its fingerprint");
    row.answer.status = static_cast<int>(query.integer(3));
    row.epoch = static_cast<core::Epoch>(query.integer(4));
    row.fingerprint_rule = static_cast<std::uint16_t>(query.integer(7));
    stored.tier_id = query.integer(8);
    row.tier = tiers.index_of(stored.tier_id);
    row.until = time(query.integer(9));
    row.reserved_at = time(query.integer(10));
    row.settled_at = time(query.integer(11));
    if (!query.is_null(12)) stored.body = query.integer(12);
    return stored;
}

DatabaseResult<Write> run_guarded(Query& query)
{
    const auto changed = query.run();
    if (!changed) return changed.error();
    return *changed == 0 ? Write::none : Write::done;
}

void bind_outcome(Query& query, const core::Row& row, const std::optional<std::int64_t>& body)
{
    query.bind(code(row.state)).bind(code(row.reason)).bind(code(row.kept)).bind(row.answer.status);
    bind_token(query, row.token);
    query.bind(number(row.until)).bind(number(row.settled_at));
    bind_body(query, body);
}

}  // namespace

DatabaseResult<SqliteRows> SqliteRows::prepare(Database& database, TierNames tiers)
{
    SqliteRows rows;
    rows.tiers_ = std::move(tiers);
    auto& all = rows.statements_;
    const std::pair<Statement*, std::string_view> list[] = {
        {&all.insert, insert_sql},       {&all.claim, claim_sql},
        {&all.settle, settle_sql},       {&all.change, change_sql},
        {&all.remove, remove_sql},       {&all.load, load_sql},
        {&all.walk, walk_sql},           {&all.overdue, overdue_sql},
        {&all.unknown, unknown_sql},     {&all.count_unknown, count_unknown_sql},
        {&all.pending, pending_sql},     {&all.insert_body, insert_body_sql},
        {&all.load_body, load_body_sql}, {&all.remove_body, remove_body_sql},
    };
    for (const auto& [statement, sql] : list) {
        auto prepared = database.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(*prepared);
    }
    const auto last = database.integer("SELECT max(id) FROM bodies");
    if (!last) return last.error();
    rows.next_body_ = *last + 1;
    return rows;
}

DatabaseResult<Write> SqliteRows::insert(const core::Digest& digest, const core::Row& row)
{
    Query query(statements_.insert);
    query.bind_bytes(view(digest)).bind(row.epoch).bind_bytes(view(row.token));
    query.bind_bytes(view(row.fingerprint)).bind(row.fingerprint_rule).bind(tiers_.id_of(row.tier));
    query.bind(number(row.until)).bind(number(row.reserved_at));
    return run_guarded(query);
}

DatabaseResult<Write> SqliteRows::claim(const core::Digest& digest, const StoredRow& old,
                                        const core::Row& row)
{
    Query query(statements_.claim);
    query.bind(row.epoch).bind_bytes(view(row.token)).bind_bytes(view(row.fingerprint));
    query.bind(row.fingerprint_rule).bind(tiers_.id_of(row.tier));
    query.bind(number(row.until)).bind(number(row.reserved_at));
    query.bind_bytes(view(digest)).bind(old.row.epoch);
    const auto written = run_guarded(query);
    if (!written || *written == Write::none) return written;
    const auto removed = remove_body(old.body);
    if (!removed) return removed.error();
    return Write::done;
}

DatabaseResult<Write> SqliteRows::settle(const core::Digest& digest, const core::Ticket& ticket,
                                         const core::Row& row, const core::Response& answer)
{
    const auto body = number_for(answer);
    Query query(statements_.settle);
    bind_outcome(query, row, body);
    query.bind_bytes(view(digest)).bind(ticket.epoch).bind_bytes(view(ticket.token));
    const auto written = run_guarded(query);
    if (!written || *written == Write::none || !body) return written;
    const auto stored = write_body(*body, digest, answer);
    if (!stored) return stored.error();
    return Write::done;
}

DatabaseResult<Write> SqliteRows::change(const core::Digest& digest, const StoredRow& old,
                                         const core::Row& row, StoredAnswer answer)
{
    const bool keep = answer == StoredAnswer::keep;
    const auto body = keep ? old.body : number_for(row.answer);
    Query query(statements_.change);
    bind_outcome(query, row, body);
    query.bind_bytes(view(digest)).bind(old.row.epoch).bind(code(old.row.state));
    const auto written = run_guarded(query);
    if (!written || *written == Write::none || keep) return written;

    const auto removed = remove_body(old.body);
    if (!removed) return removed.error();
    if (!body) return Write::done;
    const auto stored = write_body(*body, digest, row.answer);
    if (!stored) return stored.error();
    return Write::done;
}

DatabaseResult<void> SqliteRows::remove(const core::Digest& digest, const StoredRow& old)
{
    Query query(statements_.remove);
    query.bind_bytes(view(digest)).bind(old.row.epoch).bind(code(old.row.state));
    const auto removed = run_guarded(query);
    if (!removed) return removed.error();
    if (*removed == Write::none) return {};
    return remove_body(old.body);
}

DatabaseResult<std::optional<StoredRow>> SqliteRows::load_head(const core::Digest& digest)
{
    Query query(statements_.load);
    query.bind_bytes(view(digest));
    const auto stepped = query.step();
    if (!stepped) return stepped.error();
    if (*stepped == Step::done) return std::optional<StoredRow>();
    auto stored = read_row(query, tiers_);
    if (!stored) return stored.error();
    return std::optional<StoredRow>(std::move(*stored));
}

DatabaseResult<std::optional<StoredRow>> SqliteRows::load(const core::Digest& digest)
{
    auto loaded = load_head(digest);
    if (!loaded) return loaded.error();
    std::optional<StoredRow>& stored = *loaded;
    if (!stored || !stored->body) return loaded;
    const auto read = read_body(digest, *stored->body, stored->row.answer);
    if (!read) return read.error();
    return loaded;
}

DatabaseResult<Walk> SqliteRows::walk(const std::optional<core::Digest>& after, std::size_t rows,
                                      core::StoreTime now)
{
    Query query(statements_.walk);
    query.bind_bytes(after ? view(*after) : std::string_view{});
    query.bind(static_cast<std::int64_t>(rows));
    Walk walk;
    for (;;) {
        const auto stepped = query.step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) break;
        core::Digest digest;
        if (!read16(query, 0, digest)) return damaged("its digest");
        ++walk.examined;
        walk.last = digest;
        if (query.integer(1) <= number(now)) walk.due.push_back(digest);
    }
    if (walk.examined < rows) walk.last.reset();
    return walk;
}

DatabaseResult<std::vector<Dated>> SqliteRows::overdue(core::StoreTime now, std::size_t limit)
{
    return dated(statements_.overdue, now, limit);
}

DatabaseResult<std::vector<Dated>> SqliteRows::unknown(core::StoreTime now, std::size_t limit)
{
    return dated(statements_.unknown, now, limit);
}

DatabaseResult<std::size_t> SqliteRows::count_unknown()
{
    Query query(statements_.count_unknown);
    const auto stepped = query.step();
    if (!stepped) return stepped.error();
    return static_cast<std::size_t>(query.integer(0));
}

DatabaseResult<std::vector<core::Digest>> SqliteRows::pending()
{
    Query query(statements_.pending);
    std::vector<core::Digest> digests;
    for (;;) {
        const auto stepped = query.step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) return digests;
        if (!read16(query, 0, digests.emplace_back())) return damaged("its digest");
    }
}

DatabaseResult<std::vector<Dated>> SqliteRows::dated(Statement& statement, core::StoreTime now,
                                                     std::size_t limit)
{
    Query query(statement);
    query.bind(number(now)).bind(static_cast<std::int64_t>(limit));
    std::vector<Dated> found;
    for (;;) {
        const auto stepped = query.step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) return found;
        auto& entry = found.emplace_back();
        entry.reserved_at = time(query.integer(0));
        if (!read16(query, 1, entry.digest)) return damaged("its digest");
    }
}

// An answer without headers and body needs no row of its own.
std::optional<std::int64_t> SqliteRows::number_for(const core::Response& answer)
{
    if (answer.fields.empty() && answer.body.empty()) return std::nullopt;
    return next_body_++;
}

DatabaseResult<void> SqliteRows::write_body(std::int64_t number, const core::Digest& digest,
                                            const core::Response& answer)
{
    Query query(statements_.insert_body);
    query.bind(number).bind_bytes(view(digest));
    query.bind_bytes(answer.fields.encoded()).bind_bytes(answer.body);
    const auto inserted = query.run();
    if (!inserted) return inserted.error();
    return {};
}

DatabaseResult<void> SqliteRows::remove_body(const std::optional<std::int64_t>& number)
{
    if (!number) return {};
    Query query(statements_.remove_body);
    query.bind(*number);
    const auto removed = query.run();
    if (!removed) return removed.error();
    return {};
}

DatabaseResult<void> SqliteRows::read_body(const core::Digest& digest, std::int64_t number,
                                           core::Response& answer)
{
    Query query(statements_.load_body);
    query.bind(number).bind_bytes(view(digest));
    const auto stepped = query.step();
    if (!stepped) return stepped.error();
    if (*stepped == Step::done) return damaged("its answer is missing");
    auto fields = core::Fields::decode(query.bytes(0));
    if (!fields) return damaged("its answer's headers");
    answer.fields = std::move(*fields);
    answer.body = query.bytes(1);
    return {};
}

}  // namespace onceward
