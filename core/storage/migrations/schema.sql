-- What SQLAlchemy's metadata cannot express. `core.storage.schema` runs this file once, after the tables of a new database have
-- been created and each table with a tenant has been bound to it.

-- Vectors stay in the row: a scan over one user's rows must not fetch each from elsewhere.
ALTER TABLE search_index ALTER COLUMN terms SET STORAGE MAIN, ALTER COLUMN embedding SET STORAGE MAIN;

-- An upload is packed already.
ALTER TABLE import_parts ALTER COLUMN data SET STORAGE EXTERNAL;

-- The application sees its own tenant, and deletes only one in which memories are rebuilt.
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY own_row ON tenants TO imprint_app
    USING (id = current_setting('imprint.tenant', true)) WITH CHECK (id = current_setting('imprint.tenant', true));

CREATE POLICY only_rebuilds ON tenants AS RESTRICTIVE FOR DELETE TO imprint_app USING (id LIKE 'rebuild-%');

GRANT SELECT, INSERT, DELETE, UPDATE (allows_high_risk, fade_formula, fade_under) ON tenants TO imprint_app;

GRANT SELECT ON deployment TO imprint_app, imprint_router;

GRANT SELECT, INSERT, UPDATE, DELETE ON heartbeats TO imprint_app, imprint_router;

GRANT SELECT, INSERT, UPDATE, DELETE ON providers TO imprint_app;

GRANT USAGE ON SEQUENCE rule_revision TO imprint_app;

-- What has labels is visible to readers who hold all of them. A transaction that does not name its reader holds none.
CREATE POLICY readers ON messages AS RESTRICTIVE FOR SELECT TO imprint_app
    USING (audience_labels = '{}' OR current_setting('imprint.reader', true) = '*'
           OR audience_labels <@ string_to_array(current_setting('imprint.reader', true), ','));

CREATE POLICY readers ON memories AS RESTRICTIVE FOR SELECT TO imprint_app
    USING (audience_labels = '{}' OR current_setting('imprint.reader', true) = '*'
           OR audience_labels <@ string_to_array(current_setting('imprint.reader', true), ','));

-- The router works for all tenants. Of memories, messages and calls of models it reads only the columns that rules may
-- ask about: never what one of them says.
CREATE POLICY all_tenants ON tenants FOR SELECT TO imprint_router USING (true);
CREATE POLICY all_queues ON events TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON decisions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON flows TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON dispatches TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON turn_bounds TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON rules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON rule_versions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON sessions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON schedules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON alarms TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY lookups ON memories FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON messages FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON model_calls FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON evidence FOR SELECT TO imprint_router USING (true);
CREATE POLICY limits_of_all ON tenant_settings FOR SELECT TO imprint_router USING (name IN ('limits', 'embedding'));

GRANT SELECT ON tenants, rules, rule_versions, sessions, tenant_settings TO imprint_router;
GRANT SELECT, INSERT, UPDATE ON events, decisions, dispatches, turn_bounds TO imprint_router;
GRANT SELECT, INSERT, UPDATE, DELETE ON flows, schedules, alarms TO imprint_router;
GRANT SELECT (tenant_id, id, user_id, status, importance, recorded_at) ON memories TO imprint_router;
GRANT SELECT (tenant_id, session_id, position, event_seq, token_count, occurred_at) ON messages TO imprint_router;
GRANT SELECT (tenant_id, at, input_tokens, output_tokens, cost) ON model_calls TO imprint_router;
GRANT SELECT (tenant_id, memory_id, event_id) ON evidence TO imprint_router;

-- The same search with the vectors of the other model.
CREATE SCHEMA second;

CREATE VIEW second.search_index WITH (security_invoker = true) AS
SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
       embedding_next AS embedding, xmin, asks, names, naming
FROM public.search_index;

COMMENT ON VIEW second.search_index IS 'The same rows, with the vectors of the other model.';

GRANT USAGE ON SCHEMA second TO imprint_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON second.search_index TO imprint_app;

-- Processes that cache an owner's rows of the search index read from `search_changes` which of them have changed.
CREATE FUNCTION note_indexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, c.session_id, c.ref
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type IN ('message', 'memory') AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_unindexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Where a message has gone all is read anew: no other note of a message is needed, and no row is looked for by name.
    DELETE FROM public.search_changes WHERE ctid = ANY(ARRAY(
        SELECT s.ctid FROM public.search_changes s
        JOIN (SELECT DISTINCT c.tenant_id, o.owner
              FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
              WHERE c.type = 'message' AND o.owner IS NOT NULL) AS w ON w.tenant_id = s.tenant_id AND w.owner = s.owner
        WHERE s.type = 'message' AND s.ref <> '' FOR UPDATE OF s SKIP LOCKED));
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT DISTINCT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, '',
           CASE WHEN c.type = 'memory' THEN c.ref ELSE '' END
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type IN ('message', 'memory') AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT n.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'memory', '', n.id::text
    FROM (SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned, audience_labels, updated_at FROM new_rows
          EXCEPT
          SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned, audience_labels, updated_at FROM old_rows) AS n,
         LATERAL (VALUES ('user:' || n.user_id), ('group:' || n.group_id)) AS o (owner)
    WHERE o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_witnessed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Planned each time: by a plan made for one row, twenty thousand would be looked for one by one in all memories.
    EXECUTE $insert$
        INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
        SELECT DISTINCT m.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'memory', '', m.id::text
        FROM changed c JOIN public.memories m ON m.tenant_id = c.tenant_id AND m.id = c.memory_id,
             LATERAL (VALUES ('user:' || m.user_id), ('group:' || m.group_id)) AS o (owner)
        WHERE o.owner IS NOT NULL
        ON CONFLICT DO NOTHING
    $insert$;
    RETURN NULL;
END $$;

CREATE TRIGGER indexed AFTER INSERT ON search_index
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_indexed();

CREATE TRIGGER indexed_anew AFTER UPDATE ON search_index
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_indexed();

CREATE TRIGGER unindexed AFTER DELETE ON search_index
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_unindexed();

CREATE TRIGGER remembered AFTER UPDATE ON memories
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_remembered();

CREATE TRIGGER witnessed AFTER INSERT ON evidence
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_witnessed();

CREATE TRIGGER unwitnessed AFTER DELETE ON evidence
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_witnessed();

-- What a unit said before it was written again, or deleted, is found no longer.
CREATE FUNCTION forget_unit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM public.search_index i USING changed c
    WHERE i.tenant_id = c.tenant_id AND i.type = 'unit' AND i.session_id = c.session_id AND i.ref = c.id::text;
    RETURN NULL;
END $$;

CREATE TRIGGER retold AFTER UPDATE ON units
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION forget_unit();

CREATE TRIGGER untold AFTER DELETE ON units
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION forget_unit();

-- A message that other readers may read now: all is read anew, as where a message has gone.
CREATE FUNCTION note_relabelled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT DISTINCT n.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'message', '', ''
    FROM new_rows n JOIN old_rows r ON r.tenant_id = n.tenant_id AND r.session_id = n.session_id
                                   AND r.position = n.position AND r.audience_labels <> n.audience_labels,
         LATERAL (VALUES ('user:' || n.user_id), ('group:' || n.group_id)) AS o (owner)
    WHERE o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER relabelled AFTER UPDATE ON messages
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_relabelled();

-- What an erasure that can be undone changes is kept aside, by the transaction that sets `imprint.keep`.
CREATE FUNCTION keep_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    becomes jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
BEGIN
    INSERT INTO public.kept_rows AS k (tenant_id, forgetting_id, name, key, before, after)
    SELECT coalesce(becomes, was) ->> 'tenant_id', current_setting('imprint.keep')::uuid, TG_TABLE_NAME,
           (SELECT jsonb_agg(coalesce(becomes, was) -> part ORDER BY place)::text
            FROM unnest(TG_ARGV) WITH ORDINALITY AS p (part, place)), was, becomes
    ON CONFLICT (tenant_id, forgetting_id, name, key) DO UPDATE SET after = excluded.after;
    RETURN NULL;
END $$;

CREATE TRIGGER kept AFTER UPDATE OF content ON messages
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('session_id', 'position');

CREATE TRIGGER kept AFTER UPDATE OF payload ON events
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('seq');

CREATE TRIGGER kept AFTER UPDATE OF state ON sessions
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('id');

CREATE TRIGGER kept AFTER UPDATE OF reason ON hidden_messages
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('session_id', 'message_id');

CREATE TRIGGER kept AFTER UPDATE OF answer ON model_calls
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('id');

CREATE TRIGGER kept AFTER UPDATE OF summary ON units
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('id');

CREATE TRIGGER kept AFTER DELETE ON summaries
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('session_id', 'to_position');

CREATE TRIGGER kept AFTER DELETE ON plans
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('session_id', 'id');

CREATE TRIGGER kept AFTER DELETE ON working
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('session_id', 'key');

CREATE TRIGGER kept AFTER DELETE ON search_index
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('type', 'session_id', 'ref');

CREATE TRIGGER kept AFTER DELETE ON naming_decisions
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('user_id', 'form', 'other');

CREATE TRIGGER kept AFTER INSERT OR DELETE ON tombstones
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('hash');

CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON memories
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('id');

CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON memory_versions
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('memory_id', 'version');

CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON evidence
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('memory_id', 'session_id', 'message_id');

CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON relations
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('from_id', 'relation', 'to_id');

CREATE TRIGGER kept AFTER INSERT OR UPDATE OR DELETE ON verdicts
FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
EXECUTE FUNCTION keep_row('id');

CREATE FUNCTION drop_features() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.features := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER reworded BEFORE UPDATE OF content ON memories
FOR EACH ROW WHEN (OLD.content IS DISTINCT FROM NEW.content) EXECUTE FUNCTION drop_features();

-- Returns how many further dispatches of each tenant and queue may be sent. A running one whose lease is no longer
-- renewed has lost its process: its tenant must not wait for it until the lease ends. `least` ignores nulls: no limit
-- chosen, no worker known. The status in CASE keeps `older` to the primary key: by another condition the index of turns
-- could be taken, which the statistics say is empty. Step by step, because to begin one statement that asks for all of it
-- takes four times as long as to carry it out.
CREATE FUNCTION turn_room(
    tenants text[], queues text[], priorities int[], lease_seconds float8, most_running int, stale_seconds float8
) RETURNS TABLE (tenant_id text, queue text, free bigint) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    own_tenant text;
    own_queue text;
    own_priority int;
    allowed int;
    workers int;
    low uuid;
    below uuid[];
    counted bigint;
    room bigint;
BEGIN
    FOR place IN 1 .. cardinality(tenants) LOOP
        own_tenant := tenants[place];
        own_queue := queues[place];
        SELECT least(coalesce((s.value #>> '{granted,running}')::int, most_running), (s.value #>> '{chosen,running}')::int)
        INTO allowed FROM tenant_settings s WHERE s.tenant_id = own_tenant AND s.name = 'limits';
        IF NOT FOUND THEN
            allowed := most_running;
        END IF;
        SELECT greatest(1, CASE WHEN max(h.tenants) > 1 THEN least(sum(h.processes), sum(h.cores))
                                ELSE sum(h.processes) END - 1)
        INTO workers FROM heartbeats h
        WHERE (h.queue = own_queue OR h.queue IS NULL) AND h.at > clock_timestamp() - make_interval(secs => stale_seconds)
        HAVING count(h.processes) > 0;
        room := least(allowed, workers);
        FOREACH own_priority IN ARRAY priorities LOOP
            SELECT b.from_id, b.older INTO low, below FROM turn_bounds b
            WHERE b.tenant_id = own_tenant AND b.queue = own_queue AND b.priority = own_priority;
            SELECT count(*) INTO counted FROM dispatches u
            WHERE u.tenant_id = own_tenant AND u.queue = own_queue AND u.turn = 'sent' AND u.priority = own_priority
              AND u.id >= coalesce(low, '00000000-0000-0000-0000-000000000000') AND u.status IN ('pending', 'running')
              AND (u.status = 'pending' OR u.wake_at > clock_timestamp() + make_interval(secs => lease_seconds / 2));
            room := room - counted;
            IF below <> '{}' THEN
                SELECT count(*) INTO counted FROM dispatches u
                WHERE u.tenant_id = own_tenant AND u.id = ANY(below) AND u.id < low AND u.turn = 'sent'
                  AND CASE u.status WHEN 'pending' THEN true WHEN 'running' THEN
                           u.wake_at > clock_timestamp() + make_interval(secs => lease_seconds / 2) END;
                room := room - counted;
            END IF;
        END LOOP;
        tenant_id := own_tenant;
        queue := own_queue;
        free := room;
        RETURN NEXT;
    END LOOP;
END
$$;

-- Locks the turns of these tenants and queues, lowers their bounds to `lowest`, what was made ready there, marks as many ready
-- dispatches as sent as there is room for, and returns them. Of `claiming`, a queue, at most `most`; the first with one
-- of these targets is claimed at once by `holder`, and named by the setting `imprint.claimed`; one that shares a key or a
-- lane is not, because its claim would wait for others. A function, because a session keeps its plans, and planning takes
-- longer than all else. No plan made while a table was small may read all of it.
CREATE FUNCTION offer_turns(
    tenants text[], queues text[], lowest uuid[], priorities int[], lease_seconds float8, most_running int, stale_seconds float8,
    resend float8, longest float8, claiming text, most int, targets text[], holder uuid, limits json
) RETURNS TABLE (tenant_id text, queue text, id uuid, claimed boolean) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    own_tenant text;
    own_queue text;
    own_priority int;
    room bigint;
    low uuid;
    next uuid;
    goes_on boolean;
    has_claimed boolean := claiming IS NULL;
    turn bigint;
BEGIN
    -- In one order, so that two transactions that need the same locks cannot deadlock. What follows reads after them.
    FOR turn IN
        SELECT DISTINCT hashtextextended(w.tenant_id || E'\n' || w.queue, 1) AS turn
        FROM unnest(tenants, queues) AS w (tenant_id, queue) ORDER BY turn
    LOOP
        PERFORM pg_advisory_xact_lock(turn);
    END LOOP;
    -- Ids grow with time, but an older dispatch is made ready by a retry, an approval, or the end of what it waited for.
    FOR place IN 1 .. cardinality(tenants) LOOP
        IF lowest[place] IS NOT NULL THEN
            UPDATE turn_bounds b SET from_id = lowest[place]
            WHERE b.tenant_id = tenants[place] AND b.queue = queues[place] AND b.from_id > lowest[place];
        END IF;
    END LOOP;
    FOR own_tenant, own_queue, room IN
        SELECT w.tenant_id, w.queue, w.free
        FROM turn_room(tenants, queues, priorities, lease_seconds, most_running, stale_seconds) AS w
    LOOP
        IF own_queue = claiming THEN
            room := least(room, most);
        END IF;
        FOREACH own_priority IN ARRAY priorities LOOP
            EXIT WHEN room <= 0;
            SELECT b.from_id INTO low FROM turn_bounds b
            WHERE b.tenant_id = own_tenant AND b.queue = own_queue AND b.priority = own_priority;
            FOR next, goes_on IN
                SELECT u.id, u.alone IS NULL AND u.lane IS NULL AND u.target = ANY(targets) FROM dispatches u
                WHERE u.tenant_id = own_tenant AND u.queue = own_queue AND u.turn = 'ready'
                  AND u.priority = own_priority AND u.id >= coalesce(low, '00000000-0000-0000-0000-000000000000')
                  AND u.status = 'pending'
                ORDER BY u.id LIMIT room FOR UPDATE SKIP LOCKED
            LOOP
                IF goes_on AND NOT has_claimed AND own_queue = claiming THEN
                    UPDATE dispatches d SET
                        turn = 'sent', status = 'running', attempt = d.attempt + 1, lease = holder,
                        started_at = clock_timestamp(),
                        wake_at = clock_timestamp() + make_interval(secs => lease_seconds),
                        deadline_at = clock_timestamp() + make_interval(secs => (limits ->> d.target)::float8)
                    WHERE d.tenant_id = own_tenant AND d.id = next;
                    PERFORM set_config('imprint.claimed', next::text, true);
                    claimed := true;
                    has_claimed := true;
                ELSE
                    UPDATE dispatches d SET
                        turn = 'sent',
                        -- Doubled each time: a long queue must not be filled with repeats.
                        wake_at = clock_timestamp() + make_interval(
                            secs => least(resend * power(2, least(greatest(d.sends - 1, 0), 10)), longest))
                    WHERE d.tenant_id = own_tenant AND d.id = next;
                    claimed := false;
                END IF;
                room := room - 1;
                tenant_id := own_tenant;
                queue := own_queue;
                id := next;
                RETURN NEXT;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;

-- What a worker reads of a dispatch that it has claimed, with the event that this reacts to. `waited`: seconds since it was
-- made; null where it was held, or waited for something else than the queue. Not the whole rows: a value that is a row costs
-- ten times as much to take apart as it does to read.
CREATE TYPE claim AS (
    tenant_id text, id uuid, action_type text, target text, params jsonb, queue text, priority smallint, rule text,
    rule_version int, attempt int, lease uuid, alone text, lane text, lane_limit int, overruns int, replay_id uuid,
    root_seq bigint, correlation_id text, hop smallint, lineage text[], turn_before text, waited float8, embedding jsonb,
    event_seq bigint, event_id text, source text, event_type text, subject text, "time" timestamptz, payload jsonb,
    session_id text, user_id text, causation_id text, extensions jsonb, trace jsonb
);

-- Claims a dispatch unless it is held, has ended, or its next attempt is not due. One whose lease has expired is left to
-- the sweep, which counts lost workers. Without an id: the one that an offer of this transaction has claimed.
CREATE FUNCTION claim_dispatch(wanted uuid, holder uuid, lease_seconds float8, limits json) RETURNS SETOF claim
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    claimed uuid := coalesce(wanted, nullif(current_setting('imprint.claimed', true), '')::uuid);
    turn_was text := 'ready';
    place bigint;
BEGIN
    IF claimed IS NULL THEN
        RETURN;
    END IF;
    IF wanted IS NOT NULL THEN
        UPDATE dispatches d SET
            status = 'running', attempt = d.attempt + 1, lease = holder, turn = 'sent', started_at = clock_timestamp(),
            wake_at = clock_timestamp() + make_interval(secs => lease_seconds),
            deadline_at = clock_timestamp() + make_interval(secs => (limits ->> d.target)::float8)
        WHERE d.id = wanted AND (d.status = 'pending' OR (d.status = 'retrying' AND d.wake_at <= clock_timestamp()))
        RETURNING old.turn, d.event_seq INTO turn_was, place;
    ELSE
        SELECT d.event_seq INTO place FROM dispatches d WHERE d.id = claimed;
    END IF;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.tenant_id, d.id, d.action_type, d.target, d.params, d.queue, d.priority, d.rule, d.rule_version, d.attempt,
           d.lease, d.alone, d.lane, d.lane_limit, d.overruns, d.replay_id, d.root_seq, d.correlation_id, d.hop,
           d.lineage, turn_was,
           CASE WHEN d.approval IS NULL AND d.after IS NULL AND d.expires_at IS NULL AND d.error IS NULL
                THEN extract(epoch FROM clock_timestamp() - d.created_at)::float8 END,
           (SELECT s.value FROM tenant_settings s WHERE s.tenant_id = d.tenant_id AND s.name = 'embedding'),
           e.seq, e.id, e.source, e.event_type, e.subject, e.time, e.payload, e.session_id, e.user_id, e.causation_id,
           e.extensions, d.trace
    -- By a value that is known: a plan that joins by a column could read the whole log.
    FROM dispatches d LEFT JOIN events e ON e.seq = place
    WHERE d.id = claimed;
END
$$;

-- Ends a dispatch as done, or fails (LEASE) if another holds its lease, so that nothing behind it in the same message is
-- done. `hands_on`: returns the next actions of its rule, which waited for it and are ready now.
CREATE FUNCTION end_dispatch(ended uuid, holder uuid, outcome jsonb, hands_on boolean)
RETURNS TABLE (id uuid, queue text, target text) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    UPDATE dispatches d SET
        status = 'done', ended_at = clock_timestamp(), wake_at = NULL, lease = NULL, error = NULL, result = outcome
    WHERE d.id = ended AND d.lease = holder AND d.status = 'running';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another holds the lease' USING ERRCODE = 'LEASE';
    END IF;
    IF hands_on THEN
        RETURN QUERY
        UPDATE dispatches d SET status = 'pending', hold = NULL, turn = 'ready', wake_at = NULL
        WHERE d.after = ended AND d.status = 'held' AND d.hold = 'turn'
        RETURNING d.id, d.queue, d.target;
    END IF;
END
$$;
