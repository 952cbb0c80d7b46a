// Statements of the small tables.
#include "store/sqlite_ledger.hpp"

#include "store/sqlite_schema.hpp"

namespace onceward {

namespace {

DatabaseResult<void> write_entry(Database& database, std::string_view kind, std::string_view value)
{
    auto statement = database.prepare("INSERT INTO identity (kind, value) VALUES (?, ?)");
    if (!statement) return statement.error();
    Query query(*statement);
    const auto inserted = query.bind_text(kind).bind_bytes(value).run();
    if (!inserted) return inserted.error();
    return {};
}

DatabaseResult<void> write_tier(Database& database, const core::Tier& tier)
{
    auto statement = database.prepare(
        "INSERT INTO tiers (name, unknown_retention, tombstone) VALUES (?, ?, ?) ON CONFLICT "
        "(name) DO UPDATE"
        " SET unknown_retention = excluded.unknown_retention, tombstone = excluded.tombstone");
    if (!statement) return statement.error();
    const auto times = tier.times();
    Query query(*statement);
    query.bind_text(tier.name).bind(times.unknown_retention.count());
    if (times.tombstone) {
        query.bind(times.tombstone->count());
    } else {
        query.bind_null();
    }
    const auto written = query.run();
    if (!written) return written.error();
    return {};
}

struct StoredTier {
    std::int64_t id = 0;
    std::string name;
    core::TierTimes times;
};

DatabaseResult<std::vector<StoredTier>> read_tiers(Database& database)
{
    auto statement = database.prepare("SELECT id, name, unknown_retention, tombstone FROM tiers");
    if (!statement) return statement.error();
    Query query(*statement);
    std::vector<StoredTier> stored;
    for (;;) {
        const auto stepped = query.step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) return stored;
        auto& tier = stored.emplace_back();
        tier.id = query.integer(0);
        tier.name = query.bytes(1);
        tier.times.unknown_retention = core::Millis(query.integer(2));
        if (!query.is_null(3)) tier.times.tombstone = core::Millis(query.integer(3));
    }
}

}  // namespace

DatabaseResult<void> create_tables(Database& database, const core::Secret& secret)
{
    const auto created = database.execute(sqlite_schema);
    if (!created) return created.error();
    const auto marks = "PRAGMA application_id = " + std::to_string(sqlite_application_id) +
                       "; PRAGMA user_version = " + std::to_string(sqlite_schema_version);
    const auto marked = database.execute(marks.c_str());
    if (!marked) return marked.error();
    return write_entry(database, "canary", secret.canary());
}

DatabaseResult<std::string> read_canary(Database& database)
{
    auto statement = database.prepare("SELECT value FROM identity WHERE kind = 'canary'");
    if (!statement) return statement.error();
    Query query(*statement);
    const auto stepped = query.step();
    if (!stepped) return stepped.error();
    return *stepped == Step::row ? std::string(query.bytes(0)) : std::string();
}

DatabaseResult<Ledger> read_ledger(Database& database)
{
    auto statement = database.prepare("SELECT kind, value FROM identity");
    if (!statement) return statement.error();
    Query query(*statement);
    Ledger ledger;
    for (;;) {
        const auto stepped = query.step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) return ledger;
        const auto kind = query.bytes(0);
        const auto value = query.bytes(1);
        if (kind == "route") ledger.route_ids.emplace(value);
        if (kind == "subject") ledger.subject_form = value;
        if (kind == "action") ledger.action_form = value;
    }
}

DatabaseResult<void> write_ledger(Database& database, const Ledger& ledger)
{
    const auto cleared = database.execute("DELETE FROM identity WHERE kind <> 'canary'");
    if (!cleared) return cleared.error();
    for (const auto& id : ledger.route_ids) {
        const auto written = write_entry(database, "route", id);
        if (!written) return written.error();
    }
    const std::pair<std::string_view, const std::optional<std::string>&> forms[] = {
        {"subject", ledger.subject_form}, {"action", ledger.action_form}};
    for (const auto& [kind, form] : forms) {
        if (!form) continue;
        const auto written = write_entry(database, kind, *form);
        if (!written) return written.error();
    }
    return {};
}

DatabaseResult<TierNames> record_tiers(Database& database, const std::vector<core::Tier>& tiers)
{
    for (const auto& tier : tiers) {
        const auto written = write_tier(database, tier);
        if (!written) return written.error();
    }
    const auto stored = read_tiers(database);
    if (!stored) return stored.error();

    TierNames names;
    for (const auto& entry : *stored)
        names.add(entry.id, removed_tier, entry.times);
    std::uint16_t index = 0;
    for (const auto& tier : tiers) {
        for (const auto& entry : *stored) {
            if (entry.name == tier.name) names.add(entry.id, index, entry.times);
        }
        ++index;
    }
    return names;
}

}  // namespace onceward
