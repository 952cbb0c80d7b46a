// SQL. Explicit joins in the order in which they shall run (join_collapse_limit is 1): the batch
// first, in the order of its digests, and each key by the primary key. Rows are therefore locked in
// one order everywhere.
#include "store/postgres_statements.hpp"

namespace onceward::statements {

namespace {

using enum PgType;

#define CLOCK "clock AS MATERIALIZED (SELECT onceward.now_ms() AS now)"
#define ROW_COLUMNS                                                                               \
    "k.digest, k.state, k.reason, k.kept, k.status, k.epoch, k.token, k.fingerprint, k.fp_rule, " \
    "k.tier,"                                                                                     \
    " k.until, k.reserved_at, k.settled_at, clock.now, k.body_day"
#define BODY                                                                                    \
    " LEFT JOIN onceward.bodies AS b ON k.body_day <> 0 AND b.day = k.body_day AND b.digest = " \
    "k.digest"                                                                                  \
    " AND b.epoch = k.epoch AND b.state = k.state"

// The answer goes to its day's partition, an UNKNOWN row to the operators' queue, in the same
// statement.
#define SETTLE(GUARD, QUEUE)                                                                       \
    "WITH " CLOCK                                                                                  \
    ", done AS ("                                                                                  \
    "UPDATE onceward.keys AS k SET state = g.state, reason = g.reason, kept = g.kept, status = "   \
    "g.status,"                                                                                    \
    " until = onceward.after(clock.now, g.keep), settled_at = clock.now,"                          \
    " token = CASE WHEN g.state = 3 THEN k.token END,"                                             \
    " body_day = CASE WHEN g.headers IS NULL THEN 0"                                               \
    "                 ELSE onceward.day_of(onceward.after(clock.now, g.keep)) END"                 \
    " FROM clock CROSS JOIN unnest($1::uuid[], $2::uuid[], $3::int4[], $4::int2[], $5::int2[],"    \
    "                              $6::int2[], $7::int2[], $8::int8[], $9::bytea[], $10::bytea[])" \
    "      AS g(digest, token, epoch, state, reason, kept, status, keep, headers, body)"           \
    " WHERE k.digest = g.digest AND k.token = g.token AND k.epoch = g.epoch AND " GUARD            \
    " RETURNING k.digest, k.epoch, k.state, k.body_day, k.reserved_at, g.headers, g.body),"        \
    " stored AS (INSERT INTO onceward.bodies (day, epoch, state, digest, headers, body)"           \
    "            SELECT body_day, epoch, state, digest, headers, body FROM done WHERE headers IS " \
    "NOT NULL),"                                                                                   \
    " queued AS (" QUEUE                                                                           \
    ")"                                                                                            \
    " SELECT digest FROM done"

const std::vector<PgType> settle_types{uuid_array,  uuid_array, int4_array, int2_array,
                                       int2_array,  int2_array, int2_array, int8_array,
                                       bytea_array, bytea_array};

}  // namespace

const PgStatement insert{
    "insert_keys",
    "WITH " CLOCK
    ", patience AS MATERIALIZED (SELECT set_config('lock_timeout', $7, true) AS set)"
    " INSERT INTO onceward.keys (digest, token, fingerprint, fp_rule, tier, until, reserved_at, "
    "settled_at,"
    "                            epoch, state, reason, kept, status, body_day)"
    " SELECT c.digest, c.token, c.fingerprint, c.rule, c.tier, onceward.after(clock.now, c.lease), "
    "clock.now,"
    "        0, 1, 0, 0, 0, 0, 0"
    " FROM patience CROSS JOIN clock CROSS JOIN unnest($1::uuid[], $2::uuid[], $3::uuid[], "
    "$4::int4[],"
    "      $5::int2[], $6::int8[]) AS c(digest, token, fingerprint, rule, tier, lease)"
    " WHERE patience.set IS NOT NULL"
    " ON CONFLICT (digest) DO NOTHING RETURNING digest",
    {uuid_array, uuid_array, uuid_array, int4_array, int2_array, int8_array, text}};

const PgStatement claim{
    "claim_keys",
    "WITH " CLOCK
    " UPDATE onceward.keys AS k SET epoch = k.epoch + 1, token = c.token, fingerprint = "
    "c.fingerprint,"
    " fp_rule = c.rule, tier = c.tier, until = onceward.after(clock.now, c.lease), reserved_at = "
    "clock.now,"
    " settled_at = 0, state = 0, reason = 0, kept = 0, status = 0, body_day = 0"
    " FROM clock CROSS JOIN unnest($1::uuid[], $2::int4[], $3::uuid[], $4::uuid[], $5::int4[], "
    "$6::int2[],"
    "      $7::int8[]) AS c(digest, epoch, token, fingerprint, rule, tier, lease)"
    " WHERE k.digest = c.digest AND k.epoch = c.epoch AND k.state = 4"
    " AND (k.reason <> 13 OR k.fingerprint = c.fingerprint)"
    " RETURNING k.digest",
    {uuid_array, int4_array, uuid_array, uuid_array, int4_array, int2_array, int8_array}};

const PgStatement read{"read_keys",
                       "WITH " CLOCK " SELECT " ROW_COLUMNS
                       " FROM clock CROSS JOIN unnest($1::uuid[]) AS i(digest)"
                       " JOIN onceward.keys AS k ON k.digest = i.digest" BODY,
                       {uuid_array}};

const PgStatement settle{
    "settle_keys",
    SETTLE("k.state = 0",
           "INSERT INTO onceward.unknown_queue (reserved_at, digest, open)"
           " SELECT reserved_at, digest, true FROM done WHERE state = 3"
           " ON CONFLICT (digest) DO UPDATE SET open = true, reserved_at = excluded.reserved_at"),
    settle_types};

const PgStatement heal{"heal_keys",
                       SETTLE("k.state = 3 AND k.until > clock.now AND g.state <> 3",
                              "UPDATE onceward.unknown_queue AS q SET open = false FROM done WHERE "
                              "q.digest = done.digest"),
                       settle_types};

const PgStatement confirm{"confirm", "SELECT pg_logical_emit_message(true, 'onceward', '')", {}};

const PgStatement look{"look", "SELECT 1", {}};

// SKIP LOCKED: a row that somebody settles at this moment is not waited for.
const PgStatement sweep_pending{
    "sweep_pending",
    "WITH " CLOCK
    ", due AS (SELECT k.digest FROM onceward.keys AS k WHERE k.reserved_at >= (SELECT pending_at "
    "FROM"
    "  onceward.janitor) AND k.reserved_at <= (SELECT now FROM clock) - $2 AND k.state = 0"
    "  AND k.until <= (SELECT now FROM clock) LIMIT $1 FOR UPDATE OF k SKIP LOCKED),"
    " moved AS (UPDATE onceward.keys AS k SET state = 3, reason = 1, settled_at = clock.now,"
    "  until = onceward.after(clock.now, coalesce((SELECT t.unknown_retention FROM onceward.tiers "
    "AS t"
    "                                    WHERE t.id = k.tier), 9223372036854775807))"
    "  FROM due CROSS JOIN clock WHERE k.digest = due.digest AND k.state = 0"
    "  RETURNING k.digest, k.reserved_at),"
    " queued AS (INSERT INTO onceward.unknown_queue (reserved_at, digest, open)"
    "  SELECT reserved_at, digest, true FROM moved"
    "  ON CONFLICT (digest) DO UPDATE SET open = true, reserved_at = excluded.reserved_at)"
    " SELECT digest FROM moved",
    {int8, int8}};

// The mark goes to the oldest row that is still pending, and never further than rows can be
// overdue: an insert that commits late has an older time than those around it, and the round
// through the table finds it.
const PgStatement move_mark{
    "move_mark",
    "WITH " CLOCK
    ", reach AS MATERIALIZED (SELECT pending_at AS low, (SELECT now FROM clock) - $1 AS high"
    "  FROM onceward.janitor)"
    " UPDATE onceward.janitor SET pending_at = greatest(pending_at, coalesce("
    "  (SELECT min(k.reserved_at) FROM onceward.keys AS k WHERE k.reserved_at >= (SELECT low FROM "
    "reach)"
    "   AND k.reserved_at <= (SELECT high FROM reach) AND k.state = 0), (SELECT high FROM reach) - "
    "5000))",
    {int8}};

const PgStatement sweep_pages{
    "sweep_pages",
    "WITH " CLOCK
    ", due AS (SELECT k.digest, k.state AS was FROM onceward.keys AS k"
    "  WHERE k.ctid >= ('(' || $1 || ',0)')::tid AND k.ctid < ('(' || $2 || ',0)')::tid"
    "  AND k.until <= (SELECT now FROM clock) AND k.state IN (0, 1, 2, 3) LIMIT $3 FOR UPDATE OF k "
    "SKIP LOCKED),"
    " lapsed AS (UPDATE onceward.keys AS k SET state = 3, reason = 1, settled_at = clock.now,"
    "  until = onceward.after(clock.now, coalesce((SELECT t.unknown_retention FROM onceward.tiers "
    "AS t"
    "                                    WHERE t.id = k.tier), 9223372036854775807))"
    "  FROM due CROSS JOIN clock WHERE due.was = 0 AND k.digest = due.digest AND k.state = 0"
    "  RETURNING k.digest, k.reserved_at),"
    " expired AS (UPDATE onceward.keys AS k SET state = 5, token = NULL, kept = 0, status = 0, "
    "body_day = 0,"
    "  until = onceward.after(k.until, coalesce((SELECT t.tombstone FROM onceward.tiers AS t"
    "                                    WHERE t.id = k.tier), 9223372036854775807))"
    "  FROM due WHERE due.was <> 0 AND k.digest = due.digest AND k.state = due.was"
    "  RETURNING k.digest, due.was),"
    " queued AS (INSERT INTO onceward.unknown_queue (reserved_at, digest, open)"
    "  SELECT reserved_at, digest, true FROM lapsed"
    "  ON CONFLICT (digest) DO UPDATE SET open = true, reserved_at = excluded.reserved_at),"
    " closed AS (UPDATE onceward.unknown_queue AS q SET open = false FROM expired"
    "  WHERE expired.was = 3 AND q.digest = expired.digest)"
    " SELECT (SELECT count(*) FROM lapsed), (SELECT count(*) FROM expired), (SELECT count(*) FROM "
    "due)",
    {int8, int8, int8}};

const PgStatement round{"round",
                        "SELECT page, pg_relation_size('onceward.keys') / "
                        "current_setting('block_size')::bigint AS pages"
                        " FROM onceward.janitor",
                        {}};

const PgStatement set_round{"set_round", "UPDATE onceward.janitor SET page = $1", {int8}};

const PgStatement unknown{
    "unknown_keys",
    "WITH " CLOCK
    ", listed AS ((SELECT k.digest, k.reserved_at FROM onceward.unknown_queue AS q"
    "   JOIN onceward.keys AS k ON k.digest = q.digest"
    "   WHERE q.open AND k.state = 3 AND k.until > (SELECT now FROM clock)"
    "   ORDER BY q.reserved_at, q.digest LIMIT $1)"
    "  UNION ALL"
    "  (SELECT k.digest, k.reserved_at FROM onceward.keys AS k"
    "   WHERE k.reserved_at >= (SELECT pending_at FROM onceward.janitor) AND k.state = 0"
    "   AND k.until <= (SELECT now FROM clock) ORDER BY k.reserved_at, k.digest LIMIT $1)),"
    " first AS (SELECT digest, reserved_at FROM listed ORDER BY reserved_at, digest LIMIT $1)"
    " SELECT " ROW_COLUMNS
    ", b.headers, b.body FROM clock CROSS JOIN first JOIN onceward.keys AS k ON k.digest = "
    "first.digest" BODY " ORDER BY first.reserved_at, first.digest",
    {int8}};

const PgStatement maintain{
    "maintain", "SELECT made, dropped, failed, strays FROM onceward.maintain_bodies($1)", {int4}};

}  // namespace onceward::statements
