-- Returns how many further dispatches of each tenant and queue may be sent. A running one whose lease is no longer
-- renewed has lost its process: its tenant must not wait for it until the lease ends. `least` ignores nulls: no limit
-- chosen, no worker known. The status in CASE keeps `older` to the primary key: by another condition the index of turns
-- could be taken, which the statistics say is empty.
CREATE FUNCTION turn_room(
    tenants text[], queues text[], priorities int[], lease_seconds float8, most_running int, stale_seconds float8
) RETURNS TABLE (tenant_id text, queue text, free bigint) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH bounds AS MATERIALIZED (
        -- Read first: row-level security keeps an expression such as `coalesce` out of the search of an index.
        SELECT w.tenant_id, w.queue, p.priority, coalesce(b.older, '{}') AS older,
               coalesce(b.from_id, '00000000-0000-0000-0000-000000000000') AS from_id
        FROM unnest(tenants, queues) AS w (tenant_id, queue)
        CROSS JOIN unnest(priorities) AS p (priority)
        LEFT JOIN turn_bounds b ON b.tenant_id = w.tenant_id AND b.queue = w.queue AND b.priority = p.priority
    )
    SELECT w.tenant_id, w.queue, least(
        coalesce((s.value #>> '{granted,running}')::int, most_running),
        (s.value #>> '{chosen,running}')::int,
        (SELECT greatest(1, CASE WHEN max(h.tenants) > 1 THEN least(sum(h.processes), sum(h.cores))
                                 ELSE sum(h.processes) END - 1)
         FROM heartbeats h
         WHERE (h.queue = w.queue OR h.queue IS NULL) AND h.at > clock_timestamp() - make_interval(secs => stale_seconds)
         HAVING count(h.processes) > 0)
    ) - w.sent
    FROM (
        SELECT b.tenant_id, b.queue, sum(
            (SELECT count(*) FROM dispatches u
             WHERE u.tenant_id = b.tenant_id AND u.queue = b.queue AND u.turn = 'sent' AND u.priority = b.priority
               AND u.id >= b.from_id AND u.status IN ('pending', 'running')
               AND (u.status = 'pending' OR u.wake_at > clock_timestamp() + make_interval(secs => lease_seconds / 2)))
            + (SELECT count(*) FROM dispatches u
               WHERE u.tenant_id = b.tenant_id AND u.id = ANY(b.older) AND u.id < b.from_id AND u.turn = 'sent'
                 AND CASE u.status WHEN 'pending' THEN true WHEN 'running' THEN
                          u.wake_at > clock_timestamp() + make_interval(secs => lease_seconds / 2) END))::bigint AS sent
        FROM bounds b GROUP BY b.tenant_id, b.queue
    ) AS w
    LEFT JOIN tenant_settings s ON s.tenant_id = w.tenant_id AND s.name = 'limits';
END
$$;

-- Marks as many ready dispatches as sent as there is room for, and returns them. A function, because a session keeps its
-- plan: planning takes four times as long as carrying it out. No plan made while a table was small may read all of it.
CREATE FUNCTION offer_turns(
    tenants text[], queues text[], priorities int[], lease_seconds float8, most_running int, stale_seconds float8,
    resend float8, longest float8
) RETURNS TABLE (tenant_id text, queue text, id uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH room AS MATERIALIZED (
        SELECT w.tenant_id, w.queue, w.free, p.priority,
               coalesce(b.from_id, '00000000-0000-0000-0000-000000000000') AS from_id
        FROM turn_room(tenants, queues, priorities, lease_seconds, most_running, stale_seconds) AS w
        CROSS JOIN unnest(priorities) AS p (priority)
        LEFT JOIN turn_bounds b ON b.tenant_id = w.tenant_id AND b.queue = w.queue AND b.priority = p.priority
        WHERE w.free > 0
    ), chosen AS MATERIALIZED (
        SELECT o.tenant_id, o.id FROM (
            SELECT w.tenant_id, d.id, w.free,
                   row_number() OVER (PARTITION BY w.tenant_id, w.queue ORDER BY w.priority, d.id) AS place
            FROM room w, LATERAL (
                SELECT u.id FROM dispatches u
                WHERE u.tenant_id = w.tenant_id AND u.queue = w.queue AND u.turn = 'ready' AND u.priority = w.priority
                  AND u.id >= w.from_id AND u.status = 'pending'
                ORDER BY u.id LIMIT w.free FOR UPDATE SKIP LOCKED
            ) AS d
        ) AS o
        WHERE o.place <= o.free
    )
    UPDATE dispatches d SET
        turn = 'sent',
        -- Doubled each time: a long queue must not be filled with repeats.
        wake_at = clock_timestamp()
                  + make_interval(secs => least(resend * power(2, least(greatest(d.sends - 1, 0), 10)), longest))
    FROM chosen c WHERE d.tenant_id = c.tenant_id AND d.id = c.id
    RETURNING d.tenant_id, d.queue, d.id;
END
$$;

-- Without statistics the planner supposes hundreds of tenants, to each of which a few rows belong. A plan made while the
-- table was empty, which a session keeps, would then look for one dispatch among all of its tenant. ANALYZE replaces this.
SELECT pg_restore_attribute_stats(
    'schemaname', current_schema()::text, 'relname', 'dispatches', 'attname', 'tenant_id', 'inherited', false,
    'null_frac', 0::real, 'avg_width', 8, 'n_distinct', 1::real)
WHERE NOT EXISTS (
    SELECT FROM pg_stats
    WHERE schemaname = current_schema() AND tablename = 'dispatches' AND attname = 'tenant_id');
