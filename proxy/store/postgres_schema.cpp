// The SQL of the schema, with the reason for each part.
#include "store/postgres_schema.hpp"

#include <array>

namespace onceward {

namespace {

constexpr const char* version_1 = R"sql(
CREATE SCHEMA onceward;

DO $$ BEGIN
    CREATE ROLE onceward_proxy LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

-- The store's clock: milliseconds since 1970. Every statement reads it once.
CREATE FUNCTION onceward.now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- A time after another one; the end of time is never passed.
CREATE FUNCTION onceward.after(moment bigint, duration bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN duration > 9223372036854775807 - moment THEN 9223372036854775807
                      ELSE moment + duration END $$;

-- The partition of an answer that is kept until then.
CREATE FUNCTION onceward.day_of(moment bigint) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT least(moment / 86400000, 2147483646)::integer $$;

-- One row for each key. Wide columns first, so that nothing is padded; no index but the primary
-- key and one of a few bytes for thousands of rows: an index on state or lease would cost every
-- completion its cheap (HOT) update. uuid: 16 bytes without a length, in the row and in the index.
CREATE TABLE onceward.keys (
    until       bigint   NOT NULL,  -- Milliseconds: end of the lease or of the state.
    reserved_at bigint   NOT NULL,  -- Milliseconds, of the current epoch.
    settled_at  bigint   NOT NULL,  -- Milliseconds; 0 while pending.
    epoch       integer  NOT NULL,  -- Grows with each claim: fences late holders.
    body_day    integer  NOT NULL,  -- The partition of its answer; 0: it has none.
    fp_rule     integer  NOT NULL,  -- Which rule made the fingerprint.
    state       smallint NOT NULL,  -- pending, done, failed, unknown, released, expired.
    reason      smallint NOT NULL,  -- Why it is unknown or released; 0 otherwise.
    kept        smallint NOT NULL,  -- How much of the answer is kept.
    status      smallint NOT NULL,  -- Of the answer; 0 without one.
    tier        smallint NOT NULL,  -- tiers.id.
    digest      uuid     NOT NULL,  -- Subject, action and key in one.
    fingerprint uuid     NOT NULL,  -- Which request.
    token       uuid,               -- Which attempt holds the key. NULL once nobody does.
    CONSTRAINT keys_pkey PRIMARY KEY (digest)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX keys_reserved_at ON onceward.keys USING brin (reserved_at)
    WITH (pages_per_range = 32, autosummarize = on);

-- What may become of a row is written once in the program and once here, for whoever can write.
CREATE FUNCTION onceward.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'onceward: % refused: a key that is forgotten or re-opened runs again', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- After, not before: a trigger before the update would lock every row and write that to the log.
CREATE TRIGGER keys_change AFTER UPDATE ON onceward.keys FOR EACH ROW WHEN (
    NEW.digest <> OLD.digest
    OR NOT (NEW.epoch = OLD.epoch AND (
                (OLD.state = 0 AND NEW.state IN (1, 2, 3, 4))
                OR (OLD.state = 3 AND NEW.state IN (1, 2, 4, 5))
                OR (OLD.state IN (1, 2) AND NEW.state = 5))
            OR (OLD.state = 4 AND NEW.state = 0 AND NEW.epoch = OLD.epoch + 1)))
    EXECUTE FUNCTION onceward.refuse();
CREATE TRIGGER keys_truncate BEFORE TRUNCATE ON onceward.keys
    FOR EACH STATEMENT EXECUTE FUNCTION onceward.refuse();

-- Only what says nothing more may go: a tombstone past its window, a released record past its time.
CREATE FUNCTION onceward.may_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state IN (4, 5) AND OLD.until <= onceward.now_ms() THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'onceward: DELETE refused: this key is inside its window and would run again'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER keys_delete BEFORE DELETE ON onceward.keys
    FOR EACH ROW EXECUTE FUNCTION onceward.may_go();

-- The operators' queue. Rows are closed, not deleted; the purge takes closed ones away.
CREATE TABLE onceward.unknown_queue (
    reserved_at bigint  NOT NULL,
    digest      uuid    NOT NULL,
    open        boolean NOT NULL,
    CONSTRAINT unknown_queue_pkey PRIMARY KEY (digest)
);
CREATE INDEX unknown_queue_open ON onceward.unknown_queue (reserved_at, digest) WHERE open;

-- Answers, by the day on which they expire: a day goes by dropping its partition.
CREATE TABLE onceward.bodies (
    day     integer  NOT NULL,
    epoch   integer  NOT NULL,  -- With the state: an answer is only given out for
    state   smallint NOT NULL,  -- the very settlement that it came with.
    digest  uuid     NOT NULL,
    headers bytea    NOT NULL,  -- (u16 length, name, u32 length, value)*, as received.
    body    bytea    NOT NULL
) PARTITION BY RANGE (day);
CREATE INDEX bodies_digest ON onceward.bodies (digest);
-- A missing partition must never lose a completion.
CREATE TABLE onceward.bodies_default PARTITION OF onceward.bodies DEFAULT;
-- What is kept for ever, and so has no day.
CREATE TABLE onceward.bodies_2147483646 PARTITION OF onceward.bodies
    FOR VALUES FROM (2147483646) TO (MAXVALUE);

-- Rows keep their tier when the configuration's list changes its order, and its times when it is
-- removed.
CREATE TABLE onceward.tiers (
    id                smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name              text   NOT NULL UNIQUE,
    unknown_retention bigint NOT NULL,  -- Milliseconds.
    tombstone         bigint            -- Milliseconds; NULL: never purged.
);

-- What the names of keys are made of. A start that would make old keys new ones is refused.
CREATE TABLE onceward.identity (
    kind   text    NOT NULL,  -- route, subject, action or canary.
    value  bytea   NOT NULL,
    active boolean NOT NULL DEFAULT true,
    PRIMARY KEY (kind, value)
);

-- How far the janitors are; they share it.
CREATE TABLE onceward.janitor (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    pending_at bigint  NOT NULL DEFAULT 0,  -- No row reserved before is still pending.
    page       bigint  NOT NULL DEFAULT 0   -- Of the round through the whole table.
) WITH (fillfactor = 10);
INSERT INTO onceward.janitor DEFAULT VALUES;

-- Which life of this database it is: a restore from a backup gets a new one.
CREATE TABLE onceward.store_generation (
    one        boolean     PRIMARY KEY DEFAULT true CHECK (one),
    generation uuid        NOT NULL DEFAULT gen_random_uuid(),
    since      timestamptz NOT NULL DEFAULT now()
);
INSERT INTO onceward.store_generation DEFAULT VALUES;

CREATE TABLE onceward.schema_version (
    version integer     PRIMARY KEY,
    since   timestamptz NOT NULL DEFAULT now()
);

-- Makes the days of answers up to 14 days past the longest retention, and drops those that are
-- over for a day. A day that cannot be had now, because somebody holds a lock or the default
-- partition has rows of it, is tried again at the next call. Returns what is wrong: rows in the
-- default partition (counted up to 1000) and days that could not be made or dropped.
CREATE FUNCTION onceward.maintain_bodies(longest_days integer, OUT made integer,
                                         OUT dropped integer, OUT failed integer, OUT strays bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '200ms' AS $$
DECLARE
    today integer := onceward.day_of(onceward.now_ms());
    past  record;
    next  integer;
BEGIN
    made := 0; dropped := 0; failed := 0;
    PERFORM pg_advisory_xact_lock(7021830562191);
    FOR next IN today .. today + least(greatest(longest_days, 0), 400) + 14 LOOP
        CONTINUE WHEN to_regclass('onceward.bodies_' || next) IS NOT NULL;
        BEGIN
            EXECUTE format('CREATE TABLE onceward.bodies_%s PARTITION OF onceward.bodies'
                           ' FOR VALUES FROM (%s) TO (%s)', next, next, next + 1);
            EXECUTE format('GRANT SELECT ON onceward.bodies_%s TO onceward_proxy', next);
            made := made + 1;
        EXCEPTION WHEN check_violation OR lock_not_available OR deadlock_detected THEN
            failed := failed + 1;
            EXIT WHEN failed > 3;
        END;
    END LOOP;
    FOR past IN SELECT c.relname, substr(c.relname, 8)::integer AS day
                FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'onceward.bodies'::regclass
                AND c.relname ~ '^bodies_[0-9]+$' LOOP
        CONTINUE WHEN past.day >= today - 1;
        BEGIN
            EXECUTE format('DROP TABLE onceward.%I', past.relname);
            dropped := dropped + 1;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            failed := failed + 1;
        END;
    END LOOP;
    SELECT count(*) INTO strays FROM (SELECT 1 FROM onceward.bodies_default LIMIT 1000) AS counted;
END $$;

REVOKE ALL ON FUNCTION onceward.maintain_bodies(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION onceward.maintain_bodies(integer) TO onceward_proxy;
GRANT USAGE ON SCHEMA onceward TO onceward_proxy;
GRANT SELECT, INSERT, UPDATE
    ON onceward.keys, onceward.unknown_queue, onceward.tiers, onceward.identity TO onceward_proxy;
GRANT SELECT, INSERT ON onceward.bodies TO onceward_proxy;
-- Read directly: a plan over all days would open every one of them for each reading.
GRANT SELECT ON onceward.bodies_default, onceward.bodies_2147483646 TO onceward_proxy;
GRANT SELECT, UPDATE ON onceward.janitor TO onceward_proxy;
GRANT SELECT ON onceward.store_generation, onceward.schema_version TO onceward_proxy;

INSERT INTO onceward.schema_version (version) VALUES (1);
)sql";

constexpr std::array<PostgresStep, 1> steps{{{1, version_1}}};
static_assert(steps.back().version == postgres_schema_version);

}  // namespace

std::span<const PostgresStep> postgres_steps()
{
    return steps;
}

}  // namespace onceward
