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
    session_id text, user_id text, causation_id text, extensions jsonb
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
           e.extensions
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
