-- A database at revision 0037 with rows of two tenants, by pg_dump --inserts --no-owner: what a test migrates. It never changes.
SET check_function_bodies = false;
CREATE SCHEMA second;
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE TYPE public.claim AS (
	tenant_id text,
	id uuid,
	action_type text,
	target text,
	params jsonb,
	queue text,
	priority smallint,
	rule text,
	rule_version integer,
	attempt integer,
	lease uuid,
	alone text,
	lane text,
	lane_limit integer,
	overruns integer,
	replay_id uuid,
	root_seq bigint,
	correlation_id text,
	hop smallint,
	lineage text[],
	turn_before text,
	waited double precision,
	embedding jsonb,
	event_seq bigint,
	event_id text,
	source text,
	event_type text,
	subject text,
	"time" timestamp with time zone,
	payload jsonb,
	session_id text,
	user_id text,
	causation_id text,
	extensions jsonb
);
CREATE FUNCTION public.claim_dispatch(wanted uuid, holder uuid, lease_seconds double precision, limits json) RETURNS SETOF public.claim
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
CREATE FUNCTION public.drop_features() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.features := NULL;
    RETURN NEW;
END $$;
CREATE FUNCTION public.end_dispatch(ended uuid, holder uuid, outcome jsonb, hands_on boolean) RETURNS TABLE(id uuid, queue text, target text)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
CREATE FUNCTION public.forget_unit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM public.search_index i USING changed c
    WHERE i.tenant_id = c.tenant_id AND i.type = 'unit' AND i.session_id = c.session_id AND i.ref = c.id::text;
    RETURN NULL;
END $$;
CREATE FUNCTION public.keep_row() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.note_indexed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, c.session_id, c.ref
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type IN ('message', 'memory') AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION public.note_relabelled() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.note_remembered() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.note_unindexed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.note_witnessed() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
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
END $_$;
CREATE FUNCTION public.offer_turns(tenants text[], queues text[], lowest uuid[], priorities integer[], lease_seconds double precision, most_running integer, stale_seconds double precision, resend double precision, longest double precision, claiming text, most integer, targets text[], holder uuid, limits json) RETURNS TABLE(tenant_id text, queue text, id uuid, claimed boolean)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
CREATE FUNCTION public.turn_room(tenants text[], queues text[], priorities integer[], lease_seconds double precision, most_running integer, stale_seconds double precision) RETURNS TABLE(tenant_id text, queue text, free bigint)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_keys (
    tenant_id text NOT NULL,
    id text NOT NULL,
    secret_sha256 text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    name text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    revoked_at timestamp with time zone,
    labels text[],
    last_used_at timestamp with time zone
);
ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.api_keys.secret_sha256 IS 'The secret is 256 random bits, so a plain hash is enough.';
COMMENT ON COLUMN public.api_keys.labels IS 'All that its holder may read of what has labels; null: anything.';
COMMENT ON COLUMN public.api_keys.last_used_at IS 'To within a minute.';
CREATE TABLE public.bulk_jobs (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    request text,
    asked text NOT NULL,
    action text NOT NULL,
    preview boolean DEFAULT false NOT NULL,
    of_preview uuid,
    status text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    chosen jsonb DEFAULT '{}'::jsonb NOT NULL,
    rows integer DEFAULT 0 NOT NULL,
    erased boolean DEFAULT false NOT NULL,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone
);
ALTER TABLE ONLY public.bulk_jobs FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.bulk_jobs IS 'Jobs that change many memories.';
COMMENT ON COLUMN public.bulk_jobs.request IS 'Digest of the idempotency key and of who sent it.';
COMMENT ON COLUMN public.bulk_jobs.asked IS 'Digest of what was asked for.';
COMMENT ON COLUMN public.bulk_jobs.preview IS 'Whether each row is taken back.';
COMMENT ON COLUMN public.bulk_jobs.of_preview IS 'The preview whose rows it carries out.';
COMMENT ON COLUMN public.bulk_jobs.status IS 'running, done or cancelled';
COMMENT ON COLUMN public.bulk_jobs.params IS 'The reason; of an erasure whether evidence goes, too; of a merge its wording.';
COMMENT ON COLUMN public.bulk_jobs.chosen IS 'What the rows were chosen by, without words.';
COMMENT ON COLUMN public.bulk_jobs.rows IS 'How many memories it is about.';
COMMENT ON COLUMN public.bulk_jobs.erased IS 'Whether one of them was erased since.';
CREATE TABLE public.bulk_rows (
    tenant_id text NOT NULL,
    job_id uuid NOT NULL,
    place integer NOT NULL,
    memory_id uuid NOT NULL,
    version integer,
    outcome text,
    status integer,
    detail text,
    change_id uuid,
    receipt_id uuid,
    with_id uuid,
    erased uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE ONLY public.bulk_rows FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.bulk_rows IS 'Memories of bulk jobs, with what became of each; no text of theirs.';
COMMENT ON COLUMN public.bulk_rows.version IS 'The one that is to be changed; null: whichever it has by then.';
COMMENT ON COLUMN public.bulk_rows.outcome IS 'done, unchanged or refused; null: still to come';
COMMENT ON COLUMN public.bulk_rows.status IS 'What the single route would have answered.';
COMMENT ON COLUMN public.bulk_rows.with_id IS 'The row with which it was erased.';
COMMENT ON COLUMN public.bulk_rows.erased IS 'Memories that go together.';
COMMENT ON COLUMN public.bulk_rows.counts IS 'Rows of each table that are erased.';
CREATE TABLE public.contexts (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    reader text NOT NULL,
    from_position integer NOT NULL,
    memory_ids uuid[] NOT NULL,
    passages text[] DEFAULT '{}'::text[] NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    instruction_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    profile text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY public.contexts FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.contexts IS 'What a session''s contexts keep showing until their window moves, so that a model''s cache stays warm.';
COMMENT ON COLUMN public.contexts.reader IS 'Whose memories, and under which limit, the context shows.';
COMMENT ON COLUMN public.contexts.from_position IS 'The first message that it shows as it was said.';
COMMENT ON COLUMN public.contexts.memory_ids IS 'In the order in which they are shown.';
COMMENT ON COLUMN public.contexts.profile IS 'By which its lines and their values are known again.';
CREATE TABLE public.decisions (
    tenant_id text NOT NULL,
    event_seq bigint NOT NULL,
    rule text NOT NULL,
    version integer NOT NULL,
    verdict text NOT NULL,
    reason text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.decisions FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.decisions.verdict IS 'fired, held or gathered';
CREATE TABLE public.deployment (
    name text NOT NULL,
    value text NOT NULL
);
COMMENT ON TABLE public.deployment IS 'What holds for the whole installation, such as the embedding model its vectors were made with.';
CREATE TABLE public.dispatches (
    tenant_id text NOT NULL,
    id uuid DEFAULT uuidv7() NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    event_seq bigint,
    root_seq bigint DEFAULT 0 NOT NULL,
    correlation_id text DEFAULT ''::text NOT NULL,
    hop smallint DEFAULT 0 NOT NULL,
    rule text,
    rule_version integer,
    action_type text NOT NULL,
    target text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    alone text,
    lane text,
    lane_limit integer,
    lineage text[] DEFAULT '{}'::text[] NOT NULL,
    after uuid,
    hold text,
    expires_at timestamp with time zone,
    approval jsonb,
    status text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    sends integer DEFAULT 0 NOT NULL,
    lease uuid,
    wake_at timestamp with time zone,
    error text,
    result jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    turn text,
    overruns integer DEFAULT 0 NOT NULL,
    deadline_at timestamp with time zone,
    replay_id uuid,
    failures jsonb DEFAULT '[]'::jsonb NOT NULL,
    edit_of uuid,
    edited_by text,
    fingerprint text GENERATED ALWAYS AS (
CASE
    WHEN (status = 'dead'::text) THEN "left"(md5((target ||
    CASE
        WHEN (strpos(error, '  File '::text) > 0) THEN "right"(regexp_replace(COALESCE(error, ''::text), '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}|[0-9]+([.][0-9]+)?|"[^"]*"|\Y''[^'']*'''::text, '…'::text, 'gi'::text), 400)
        ELSE "left"(regexp_replace(COALESCE(error, ''::text), '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}|[0-9]+([.][0-9]+)?|"[^"]*"|\Y''[^'']*'''::text, '…'::text, 'gi'::text), 200)
    END)), 16)
    ELSE NULL::text
END) STORED,
    lists_others boolean DEFAULT false NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
ALTER TABLE ONLY public.dispatches FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.dispatches.event_seq IS 'The event it reacts to; null for what could not become one.';
COMMENT ON COLUMN public.dispatches.priority IS 'The lowest goes first.';
COMMENT ON COLUMN public.dispatches.alone IS 'Of the dispatches with one such key, one runs at a time.';
COMMENT ON COLUMN public.dispatches.lane IS 'Rule and key whose `concurrency` it counts for.';
COMMENT ON COLUMN public.dispatches.lane_limit IS 'How many of its lane may run at a time.';
COMMENT ON COLUMN public.dispatches.lineage IS 'As of events, with its rule.';
COMMENT ON COLUMN public.dispatches.after IS 'The action of the same rule that must be done first.';
COMMENT ON COLUMN public.dispatches.hold IS 'What a held one waits for: approval, its time, or the turn that `after` names.';
COMMENT ON COLUMN public.dispatches.expires_at IS 'When an approval that nobody gave is refused, or its time is.';
COMMENT ON COLUMN public.dispatches.lease IS 'Token of the attempt that owns it; only its holder may finish it.';
COMMENT ON COLUMN public.dispatches.wake_at IS 'When the sweep must act: send again, or take the lease back.';
COMMENT ON COLUMN public.dispatches.turn IS 'ready: waits until its tenant may run another on this queue; sent: given to the broker; null: waits for wake_at.';
COMMENT ON COLUMN public.dispatches.overruns IS 'Attempts that were ended because they took too long.';
COMMENT ON COLUMN public.dispatches.deadline_at IS 'When the process of the current attempt is ended, whatever it does.';
COMMENT ON COLUMN public.dispatches.replay_id IS 'The replay that decided it; null: the event was decided as it came.';
COMMENT ON COLUMN public.dispatches.failures IS 'The last failed attempts: number, stage, class of the error, beginning and end.';
COMMENT ON COLUMN public.dispatches.edit_of IS 'The dead dispatch that it retries with other parameters.';
COMMENT ON COLUMN public.dispatches.edited_by IS 'The key that has changed the parameters.';
COMMENT ON COLUMN public.dispatches.fingerprint IS 'Of a dead one: hash of its agent and its error without ids, numbers and quotes.';
COMMENT ON COLUMN public.dispatches.lists_others IS 'Whether `params` lists sessions or events of others than its event''s.';
CREATE TABLE public.documents (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    user_id text,
    group_id text,
    title text NOT NULL,
    uri text,
    media_type text NOT NULL,
    content text NOT NULL,
    sha256 text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.documents FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.documents.user_id IS 'Whose it is; with neither user nor group it is the whole tenant''s.';
COMMENT ON COLUMN public.documents.uri IS 'Where it comes from; the same one again is a new version of the same document.';
CREATE TABLE public.endpoints (
    tenant_id text NOT NULL,
    address text NOT NULL,
    failing_since timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    disabled_at timestamp with time zone,
    error text
);
ALTER TABLE ONLY public.endpoints FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.endpoints.address IS 'A channel''s name, or a webhook''s scheme, host and path.';
CREATE TABLE public.events (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    event_type text NOT NULL,
    subject text,
    "time" timestamp with time zone NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    session_id text,
    user_id text,
    correlation_id text NOT NULL,
    causation_id text,
    hop smallint DEFAULT 0 NOT NULL,
    root_seq bigint,
    dispatch_id uuid,
    extensions jsonb,
    lineage text[],
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    routed_at timestamp with time zone,
    rules_as_of timestamp with time zone,
    written_in bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    group_id text GENERATED ALWAYS AS ("left"((payload ->> 'group_id'::text), 200)) STORED,
    memory_id text GENERATED ALWAYS AS (
CASE
    WHEN (subject IS DISTINCT FROM ('memory:'::text || (payload ->> 'memory_id'::text))) THEN "left"((payload ->> 'memory_id'::text), 36)
    ELSE NULL::text
END) STORED
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');
ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.events.seq IS 'Place in the log.';
COMMENT ON COLUMN public.events.root_seq IS 'First event of the chain; null: this one.';
COMMENT ON COLUMN public.events.dispatch_id IS 'The dispatch whose effect this event reports.';
COMMENT ON COLUMN public.events.lineage IS 'Rules that acted on the way from the root of the chain to this event.';
COMMENT ON COLUMN public.events.rules_as_of IS 'When the router had read the rules by which it decided; null: when it was routed.';
COMMENT ON COLUMN public.events.written_in IS 'The transaction that wrote it: the order in which the log is followed; 0: before all others.';
COMMENT ON COLUMN public.events.group_id IS 'Beginning of the group that its payload names. A column, as row-level security demands of an index.';
COMMENT ON COLUMN public.events.memory_id IS 'Likewise of the memory that its payload names, unless its subject does.';
ALTER TABLE public.events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.evidence (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    session_id text NOT NULL,
    message_id text NOT NULL,
    event_id text NOT NULL,
    quote text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    change_id uuid,
    expired boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY public.evidence FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.evidence.expired IS 'The message has left, because its time of retention was over.';
CREATE TABLE public.expiries (
    tenant_id text NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_rows bigint NOT NULL,
    total bigint NOT NULL,
    to_time timestamp with time zone NOT NULL,
    written_in bigint,
    seq bigint
);
ALTER TABLE ONLY public.expiries FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.expiries IS 'What the tenant''s retention has removed: how much, and up to when the record has gaps.';
COMMENT ON COLUMN public.expiries.kind IS 'messages, tool_results, sessions, events, dispatches or decisions';
COMMENT ON COLUMN public.expiries.at IS 'When rows of the kind left last.';
COMMENT ON COLUMN public.expiries.last_rows IS 'How many left then, in one transaction.';
COMMENT ON COLUMN public.expiries.to_time IS 'The newest of those that ever left: before it the record has gaps.';
COMMENT ON COLUMN public.expiries.written_in IS 'Of events: the last place in the feed from which one has left.';
COMMENT ON COLUMN public.expiries.seq IS 'Likewise.';
CREATE TABLE public.flows (
    tenant_id text NOT NULL,
    rule text NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    version integer NOT NULL,
    gathered integer NOT NULL,
    event_seqs bigint[] NOT NULL,
    times timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    root_seq bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    expires_at timestamp with time zone
);
ALTER TABLE ONLY public.flows FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.flows.kind IS 'The stage: debounce, count, concurrency, cooldown or throttle.';
COMMENT ON COLUMN public.flows.times IS 'When each of the events came, or when the rule acted.';
COMMENT ON COLUMN public.flows.expires_at IS 'From then on the row means nothing and may go.';
CREATE TABLE public.forgettings (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL,
    user_id text NOT NULL,
    group_id text,
    session_id text NOT NULL,
    message_id text NOT NULL,
    sessions text[] DEFAULT '{}'::text[] NOT NULL,
    owners text[] DEFAULT '{}'::text[] NOT NULL,
    messages integer DEFAULT 0 NOT NULL,
    memories integer DEFAULT 0 NOT NULL,
    models jsonb DEFAULT '{}'::jsonb NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    final_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.forgettings FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.forgettings IS 'Requests to forget that were carried out and can still be undone.';
COMMENT ON COLUMN public.forgettings.event_id IS 'The event with the request.';
COMMENT ON COLUMN public.forgettings.user_id IS 'Who asked.';
COMMENT ON COLUMN public.forgettings.session_id IS 'With message_id: the message that asked.';
COMMENT ON COLUMN public.forgettings.sessions IS 'Sessions of which messages were erased.';
COMMENT ON COLUMN public.forgettings.owners IS 'Users whose messages or memories were erased.';
COMMENT ON COLUMN public.forgettings.models IS 'The models of the kept vectors.';
CREATE TABLE public.heartbeats (
    process text NOT NULL,
    at timestamp with time zone NOT NULL,
    queue text,
    processes integer,
    cores integer,
    tenants integer,
    since timestamp with time zone,
    version text,
    gauges jsonb
);
COMMENT ON TABLE public.heartbeats IS 'When each kind of process last said that it works.';
COMMENT ON COLUMN public.heartbeats.queue IS 'Of one worker: the queue that its processes serve.';
COMMENT ON COLUMN public.heartbeats.processes IS 'Of one worker: how many of them.';
COMMENT ON COLUMN public.heartbeats.cores IS 'Of one worker: how many of them can compute at once.';
COMMENT ON COLUMN public.heartbeats.tenants IS 'Of the router: how many tenants had events within a minute.';
COMMENT ON COLUMN public.heartbeats.since IS 'When it started; of several of a kind, the one that said so last.';
COMMENT ON COLUMN public.heartbeats.version IS 'Its version of Imprint.';
COMMENT ON COLUMN public.heartbeats.gauges IS 'Of the clock: what waits in the whole installation, as it counted last.';
CREATE TABLE public.hidden_messages (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    message_id text NOT NULL,
    reason text,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.hidden_messages FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.hidden_messages IS 'Messages that an agent does not want to see again until they are restored; they are kept as they are.';
CREATE TABLE public.import_parts (
    tenant_id text NOT NULL,
    import_id uuid NOT NULL,
    number integer NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.import_parts ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.import_parts FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.import_parts IS 'Uploaded archives in pieces, until they are restored.';
COMMENT ON COLUMN public.import_parts.number IS '0, 1, …; all but the last are as long.';
CREATE TABLE public.import_places (
    tenant_id text NOT NULL,
    import_id uuid NOT NULL,
    file text NOT NULL,
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    ref text NOT NULL
);
ALTER TABLE ONLY public.import_places FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.import_places IS 'What the ordinals of an archive stand for, while it is restored.';
COMMENT ON COLUMN public.import_places.file IS 'messages or memories';
COMMENT ON COLUMN public.import_places.session_id IS 'Empty for a memory.';
COMMENT ON COLUMN public.import_places.ref IS 'The message''s or the memory''s id.';
CREATE TABLE public.imports (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    user_id text NOT NULL,
    group_id text,
    formats text[] DEFAULT '{}'::text[] NOT NULL,
    status text NOT NULL,
    size bigint NOT NULL,
    sha256 text,
    file text DEFAULT ''::text NOT NULL,
    line integer DEFAULT 0 NOT NULL,
    report jsonb DEFAULT '{}'::jsonb NOT NULL,
    error jsonb,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    event_seq bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone
);
ALTER TABLE ONLY public.imports FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.imports IS 'Imports, and how far an archive has been restored.';
COMMENT ON COLUMN public.imports.status IS 'uploading, pending, running, done, failed or cancelled';
COMMENT ON COLUMN public.imports.size IS 'Bytes of the upload.';
COMMENT ON COLUMN public.imports.sha256 IS 'Of an upload in parts, by which one that was interrupted is found again.';
COMMENT ON COLUMN public.imports.file IS 'With `line`: what is restored already.';
COMMENT ON COLUMN public.imports.line IS 'Lines of `file` that are restored.';
COMMENT ON COLUMN public.imports.event_seq IS 'The event that asked for it.';
CREATE TABLE public.kept_rows (
    tenant_id text NOT NULL,
    forgetting_id uuid NOT NULL,
    name text NOT NULL,
    key text NOT NULL,
    before jsonb,
    after jsonb
);
ALTER TABLE ONLY public.kept_rows FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.kept_rows IS 'Rows as they were before an erasure that can still be undone; written by triggers, read by the undo.';
COMMENT ON COLUMN public.kept_rows.name IS 'The table.';
COMMENT ON COLUMN public.kept_rows.key IS 'The rest of the row''s primary key, as JSON.';
COMMENT ON COLUMN public.kept_rows.before IS 'Null: the erasure inserted the row.';
COMMENT ON COLUMN public.kept_rows.after IS 'Null: the erasure deleted the row.';
CREATE TABLE public.memories (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    user_id text,
    group_id text,
    session_id text,
    subject text NOT NULL,
    kind text NOT NULL,
    category text NOT NULL,
    topic text NOT NULL,
    content text NOT NULL,
    statement_key text NOT NULL,
    features bytea,
    structured jsonb DEFAULT '{}'::jsonb NOT NULL,
    attribute text,
    value text,
    importance double precision DEFAULT 0.5 NOT NULL,
    confidence double precision DEFAULT 0.7 NOT NULL,
    trust text NOT NULL,
    status text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    said_at timestamp with time zone,
    valid_from timestamp with time zone,
    valid_to timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    half_life_days double precision,
    last_used_at timestamp with time zone,
    uses integer DEFAULT 0 NOT NULL,
    fade_height double precision DEFAULT 0.5 NOT NULL,
    fade_floor double precision DEFAULT 0 NOT NULL,
    fade_half_life double precision,
    fade_at timestamp with time zone,
    pinned boolean DEFAULT false NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    level smallint DEFAULT 0 NOT NULL,
    audience_labels text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT memories_owner_check CHECK (((user_id IS NOT NULL) OR (group_id IS NOT NULL)))
);
ALTER TABLE ONLY public.memories FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.memories.statement_key IS 'Hash of the normalised statement, per owner and subject.';
COMMENT ON COLUMN public.memories.features IS 'Digests and numbers of the content that the judge compares; null: unknown.';
COMMENT ON COLUMN public.memories.said_at IS 'When it was said last; of two values of a slot the later holds.';
COMMENT ON COLUMN public.memories.last_used_at IS 'When it was last of use: recalled, confirmed or restored.';
COMMENT ON COLUMN public.memories.fade_height IS 'The part of its strength that fades, as of its last use.';
COMMENT ON COLUMN public.memories.fade_floor IS 'The part that stays.';
COMMENT ON COLUMN public.memories.fade_half_life IS 'Days in which the first part halves; null: it never fades.';
COMMENT ON COLUMN public.memories.fade_at IS 'When an active one will have faded if nobody uses it; null: never.';
COMMENT ON COLUMN public.memories.level IS '0: someone said it. 1 and more: drawn together from memories of lower levels.';
COMMENT ON COLUMN public.memories.audience_labels IS 'A reader must hold all of them.';
CREATE TABLE public.memory_versions (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    version integer NOT NULL,
    change text NOT NULL,
    reason text NOT NULL,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    snapshot jsonb DEFAULT '{}'::jsonb NOT NULL,
    dispatch_id uuid,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    change_id uuid
);
ALTER TABLE ONLY public.memory_versions FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.memory_versions.change_id IS 'What was done at once, and can be undone at once.';
CREATE TABLE public.messages (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    "position" integer NOT NULL,
    id text NOT NULL,
    event_seq bigint NOT NULL,
    event_id text NOT NULL,
    user_id text NOT NULL,
    group_id text,
    agent_id text,
    role text NOT NULL,
    speaker text,
    content text NOT NULL,
    token_count integer,
    occurred_at timestamp with time zone NOT NULL,
    utc_offset smallint,
    importance double precision,
    extras jsonb,
    audience_labels text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY public.messages FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.messages."position" IS '1, 2, … in order of acceptance, without gaps.';
COMMENT ON COLUMN public.messages.token_count IS 'Tokens of the session up to and with this message.';
COMMENT ON COLUMN public.messages.utc_offset IS 'Minutes of the speaker''s clock ahead of UTC; null: not known.';
COMMENT ON COLUMN public.messages.audience_labels IS 'A reader must hold all of them.';
CREATE TABLE public.mirrors (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    file text NOT NULL,
    content text NOT NULL,
    versions jsonb DEFAULT '{}'::jsonb NOT NULL,
    synced_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.mirrors FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.mirrors.content IS 'The file as both sides last agreed on it.';
COMMENT ON COLUMN public.mirrors.versions IS 'The version of each memory in it, by id.';
CREATE TABLE public.model_calls (
    tenant_id text NOT NULL,
    id uuid DEFAULT uuidv7() NOT NULL,
    dispatch_id uuid NOT NULL,
    model text NOT NULL,
    prompt text NOT NULL,
    input_tokens integer DEFAULT 0 NOT NULL,
    output_tokens integer DEFAULT 0 NOT NULL,
    cost double precision DEFAULT 0 NOT NULL,
    latency_ms double precision DEFAULT 0 NOT NULL,
    outcome text NOT NULL,
    answer text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    rule text,
    target text
);
ALTER TABLE ONLY public.model_calls FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.model_calls.prompt IS 'Name and version of the prompt.';
COMMENT ON COLUMN public.model_calls.answer IS 'Kept where it could not be used.';
COMMENT ON COLUMN public.model_calls.rule IS 'That of its dispatch.';
COMMENT ON COLUMN public.model_calls.target IS 'The agent of its dispatch.';
CREATE TABLE public.notices (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    channel text NOT NULL,
    digest text NOT NULL,
    text text NOT NULL,
    user_id text,
    event_id text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.notices FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.notices.digest IS 'What goes out together: rule and channel; or the dispatch that has taken it.';
CREATE TABLE public.owners (
    tenant_id text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    known_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_at timestamp with time zone NOT NULL,
    time_zone text
);
ALTER TABLE ONLY public.owners FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.owners IS 'Users and groups of whom something is or was held, until they are erased.';
COMMENT ON COLUMN public.owners.kind IS 'user or group';
COMMENT ON COLUMN public.owners.known_at IS 'Since when something is held of it.';
COMMENT ON COLUMN public.owners.last_at IS 'When something of it was said or sent last, to within a minute.';
COMMENT ON COLUMN public.owners.time_zone IS 'IANA name of the zone of a user''s clock; null: not set.';
CREATE TABLE public.participants (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    user_id text NOT NULL
);
ALTER TABLE ONLY public.participants FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.participants IS 'Who has spoken in which session; written with the messages.';
CREATE TABLE public.passages (
    tenant_id text NOT NULL,
    document_id uuid NOT NULL,
    "position" integer NOT NULL,
    headings text[] DEFAULT '{}'::text[] NOT NULL,
    content text NOT NULL,
    from_char integer NOT NULL,
    to_char integer NOT NULL
);
ALTER TABLE ONLY public.passages FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.passages."position" IS '1, 2, … in reading order.';
COMMENT ON COLUMN public.passages.from_char IS 'Where in the document it begins, in characters.';
CREATE TABLE public.plans (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    id text NOT NULL,
    user_id text NOT NULL,
    group_id text,
    goal text NOT NULL,
    status text NOT NULL,
    steps jsonb DEFAULT '[]'::jsonb NOT NULL,
    current text,
    event_id text NOT NULL,
    event_seq bigint NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.plans FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.plans.current IS 'Id of the step that is being worked on.';
COMMENT ON COLUMN public.plans.event_id IS 'The event that said so last.';
COMMENT ON COLUMN public.plans.event_seq IS 'Its place in the log: an older one changes nothing.';
CREATE TABLE public.profiles (
    tenant_id text NOT NULL,
    owner text NOT NULL,
    version integer NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    built_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.profiles FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.profiles.owner IS 'user:<id> or group:<id>';
CREATE TABLE public.prompt_versions (
    tenant_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    text text,
    share double precision DEFAULT 1 NOT NULL,
    comment text DEFAULT ''::text NOT NULL,
    author text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.prompt_versions FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.prompt_versions IS 'Prompts of a tenant''s own; the newest version of each name is in force.';
COMMENT ON COLUMN public.prompt_versions.text IS 'Null: the packaged prompt is used again.';
COMMENT ON COLUMN public.prompt_versions.share IS 'Of the sessions, those that it is used for.';
CREATE TABLE public.providers (
    name text NOT NULL,
    requests double precision NOT NULL,
    tokens double precision NOT NULL,
    filled_at timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    open_until timestamp with time zone
);
COMMENT ON TABLE public.providers IS 'Providers of models: what may still be asked this minute, and whether the breaker is open.';
COMMENT ON COLUMN public.providers.name IS 'Host and model: who counts requests and tokens.';
COMMENT ON COLUMN public.providers.requests IS 'Left in the bucket at `filled_at`; below zero: owed.';
COMMENT ON COLUMN public.providers.tokens IS 'Likewise.';
COMMENT ON COLUMN public.providers.open_until IS 'Until then nobody asks; then one tries.';
CREATE TABLE public.rebuilds (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL,
    shadow_id text NOT NULL,
    status text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    difference jsonb,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone
);
ALTER TABLE ONLY public.rebuilds FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.rebuilds.shadow_id IS 'The tenant in which the rebuilt memories stand until they are taken over.';
CREATE TABLE public.receipts (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL,
    body jsonb DEFAULT '{}'::jsonb NOT NULL,
    signature text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.receipts FORCE ROW LEVEL SECURITY;
CREATE TABLE public.relations (
    tenant_id text NOT NULL,
    from_id uuid NOT NULL,
    relation text NOT NULL,
    to_id uuid NOT NULL,
    strength double precision DEFAULT 1 NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    change_id uuid,
    CONSTRAINT relations_strength_check CHECK (((strength > (0)::double precision) AND (strength <= (1)::double precision)))
);
ALTER TABLE ONLY public.relations FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.relations.strength IS 'From 0 to 1: how much of the weight of its kind it carries.';
CREATE TABLE public.replay_decisions (
    tenant_id text NOT NULL,
    replay_id uuid NOT NULL,
    event_seq bigint NOT NULL,
    rule text NOT NULL,
    version integer NOT NULL,
    verdict text NOT NULL,
    reason text
);
ALTER TABLE ONLY public.replay_decisions FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.replay_decisions IS 'Decisions of replays; those that were made as the events came are in decisions.';
COMMENT ON COLUMN public.replay_decisions.verdict IS 'fired, held or gathered';
CREATE TABLE public.replays (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    request text,
    mode text NOT NULL,
    status text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    events integer DEFAULT 0 NOT NULL,
    decided integer DEFAULT 0 NOT NULL,
    cursor bigint NOT NULL,
    upto bigint NOT NULL,
    flow jsonb,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone
);
ALTER TABLE ONLY public.replays FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.replays IS 'Replays of events: rules that decide stored events again.';
COMMENT ON COLUMN public.replays.request IS 'Digest of the idempotency key and of who sent it.';
COMMENT ON COLUMN public.replays.mode IS 'shadow or live';
COMMENT ON COLUMN public.replays.status IS 'running, done or cancelled';
COMMENT ON COLUMN public.replays.params IS 'The filter, the rules with their versions, and what was asked.';
COMMENT ON COLUMN public.replays.events IS 'How many it decides on.';
COMMENT ON COLUMN public.replays.decided IS 'How many of them it has decided on.';
COMMENT ON COLUMN public.replays.cursor IS 'The last of them in the log.';
COMMENT ON COLUMN public.replays.upto IS 'Where in the log it ends.';
COMMENT ON COLUMN public.replays.flow IS 'Flow control on the time of the events, until the end.';
COMMENT ON COLUMN public.replays.counts IS 'By rule.';
CREATE SEQUENCE public.rule_revision
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.rule_versions (
    tenant_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    document jsonb,
    author text NOT NULL,
    comment text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.rule_versions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.rules (
    tenant_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    document jsonb DEFAULT '{}'::jsonb NOT NULL,
    cost integer DEFAULT 0 NOT NULL,
    deleted_at timestamp with time zone,
    revision bigint DEFAULT nextval('public.rule_revision'::regclass) NOT NULL
);
ALTER TABLE ONLY public.rules FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.rules.cost IS 'Its bound, in comparisons an event.';
CREATE TABLE public.schedules (
    tenant_id text NOT NULL,
    rule text NOT NULL,
    schedule jsonb NOT NULL,
    fired_to timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    page_after text
);
ALTER TABLE ONLY public.schedules FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.schedules.schedule IS 'The time table that `fired_to` was counted by.';
COMMENT ON COLUMN public.schedules.fired_to IS 'Due times up to this one are dealt with.';
COMMENT ON COLUMN public.schedules.due_at IS 'The due time that is being handed to one user after another.';
COMMENT ON COLUMN public.schedules.page_after IS 'The last user it was handed to.';
CREATE TABLE public.search_changes (
    tenant_id text NOT NULL,
    owner text NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    session_id text NOT NULL,
    ref text NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.search_changes FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.search_changes IS 'Which rows of the search index were written lately, and by which transaction; written by triggers.';
COMMENT ON COLUMN public.search_changes.owner IS 'user:<id> or group:<id>';
COMMENT ON COLUMN public.search_changes.at IS 'The id of the transaction that wrote it.';
COMMENT ON COLUMN public.search_changes.ref IS 'Empty: a message has gone, and nobody shall read here which.';
CREATE TABLE public.search_index (
    tenant_id text NOT NULL,
    type text NOT NULL,
    session_id text NOT NULL,
    ref text NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    user_id text,
    group_id text,
    occurred_at timestamp with time zone NOT NULL,
    told smallint DEFAULT 0 NOT NULL,
    timed boolean DEFAULT false NOT NULL,
    terms public.sparsevec(999999937) NOT NULL,
    own_terms integer[] NOT NULL,
    embedding public.halfvec,
    embedding_next public.halfvec,
    asks boolean DEFAULT false NOT NULL,
    names smallint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.search_index ALTER COLUMN terms SET STORAGE MAIN;
ALTER TABLE ONLY public.search_index ALTER COLUMN embedding SET STORAGE MAIN;
ALTER TABLE ONLY public.search_index FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.search_index.type IS 'message, memory, document or unit';
COMMENT ON COLUMN public.search_index.session_id IS 'Empty for a memory; of a passage its document''s id.';
COMMENT ON COLUMN public.search_index.ref IS 'The message''s id in its session, the memory''s or unit''s id, the passage.';
COMMENT ON COLUMN public.search_index.told IS 'Terms outside of questions.';
COMMENT ON COLUMN public.search_index.terms IS 'BM25 document weights by term id.';
COMMENT ON COLUMN public.search_index.own_terms IS 'Terms counted for this row in term_counts.';
COMMENT ON COLUMN public.search_index.embedding IS 'Null until made: found by its words alone.';
COMMENT ON COLUMN public.search_index.embedding_next IS 'By the other of two models, where there are two.';
COMMENT ON COLUMN public.search_index.names IS 'Names that are spoken of.';
CREATE TABLE public.secrets (
    tenant_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    sealed bytea NOT NULL,
    hint text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_by text NOT NULL
);
ALTER TABLE ONLY public.secrets FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.secrets.kind IS 'header, channel or signing';
COMMENT ON COLUMN public.secrets.sealed IS 'AES-256-GCM, bound to tenant, kind and name.';
COMMENT ON COLUMN public.secrets.hint IS 'What may be shown of it: of a channel its scheme and host.';
CREATE TABLE public.servings (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    hash text NOT NULL,
    memory_id uuid,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.servings FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.servings.hash IS 'Hash of a text that was handed out: what comes back soon is an echo.';
CREATE TABLE public.sessions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    user_id text,
    group_id text,
    started_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    message_count integer DEFAULT 0 NOT NULL,
    token_count integer DEFAULT 0 NOT NULL,
    extracted_to integer DEFAULT 0 NOT NULL,
    indexed_to integer DEFAULT 0 NOT NULL,
    state jsonb DEFAULT '{}'::jsonb NOT NULL,
    keep_days integer,
    leaves_at timestamp with time zone GENERATED ALWAYS AS (timezone('UTC'::text, (timezone('UTC'::text, ended_at) + ((keep_days)::double precision * '1 day'::interval)))) STORED,
    oldest_at timestamp with time zone,
    oldest_tool_at timestamp with time zone,
    is_remnant boolean DEFAULT false NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.sessions.extracted_to IS 'Last position extracted.';
COMMENT ON COLUMN public.sessions.indexed_to IS 'Last position indexed.';
COMMENT ON COLUMN public.sessions.keep_days IS 'Days after its end for which it is kept; null: no time of its own.';
COMMENT ON COLUMN public.sessions.leaves_at IS 'When it leaves by `keep_days`. A column, for row-level security searches no index of an expression.';
COMMENT ON COLUMN public.sessions.oldest_at IS 'Nothing that is kept of the conversation is older; null: nothing is kept.';
COMMENT ON COLUMN public.sessions.oldest_tool_at IS 'Likewise of the results of tools alone.';
COMMENT ON COLUMN public.sessions.is_remnant IS 'Left are the places of messages that memories of others cite, and nothing else.';
CREATE TABLE public.summaries (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    to_position integer NOT NULL,
    content text NOT NULL,
    key_messages jsonb DEFAULT '[]'::jsonb NOT NULL,
    token_count integer DEFAULT 0 NOT NULL,
    prompt text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.summaries FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.summaries IS 'Rolling summaries of long sessions; the last one holds what those before it said.';
COMMENT ON COLUMN public.summaries.to_position IS 'It stands for all messages up to this one.';
COMMENT ON COLUMN public.summaries.prompt IS 'The prompt of the model that wrote it; null: by rules.';
CREATE TABLE public.sweeps (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    memory_id uuid NOT NULL
);
ALTER TABLE ONLY public.sweeps FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.sweeps.recorded_at IS 'Memories up to here were compared.';
COMMENT ON COLUMN public.sweeps.memory_id IS 'Of those recorded at that very moment, up to this one.';
CREATE TABLE public.tenant_settings (
    tenant_id text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.tenant_settings FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.tenant_settings IS 'Settings of a tenant, one row for each kind: limits, and others by name.';
COMMENT ON COLUMN public.tenant_settings.name IS 'Which setting; the router reads `limits` alone.';
CREATE TABLE public.tenants (
    id text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    allows_high_risk boolean DEFAULT false NOT NULL,
    fade_formula text DEFAULT 'fading'::text NOT NULL,
    fade_under double precision DEFAULT 0.05 NOT NULL,
    salt text DEFAULT ((gen_random_uuid())::text || (gen_random_uuid())::text) NOT NULL,
    CONSTRAINT tenants_name_check CHECK ((id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text))
);
ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.tenants.allows_high_risk IS 'Whether rules of high risk may run without anyone''s approval.';
COMMENT ON COLUMN public.tenants.fade_formula IS 'By which its memories'' curves were drawn.';
COMMENT ON COLUMN public.tenants.fade_under IS 'The strength below which they were to count as faded.';
COMMENT ON COLUMN public.tenants.salt IS 'Goes into every hash of what was erased, so that nobody can guess it from outside.';
CREATE TABLE public.term_counts (
    tenant_id text NOT NULL,
    owner text NOT NULL,
    term integer NOT NULL,
    documents integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.term_counts FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.term_counts.owner IS 'user:<id> or group:<id>';
CREATE TABLE public.tombstones (
    tenant_id text NOT NULL,
    hash text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.tombstones FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.tombstones.hash IS 'Salted hash of an erased statement of one user.';
CREATE TABLE public.turn_bounds (
    tenant_id text NOT NULL,
    queue text NOT NULL,
    priority smallint NOT NULL,
    from_id uuid NOT NULL,
    older uuid[] DEFAULT '{}'::uuid[] NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.turn_bounds FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.turn_bounds IS 'Where the ready and the sent dispatches of a tenant''s queue begin: behind those that have ended.';
COMMENT ON COLUMN public.turn_bounds.from_id IS 'No dispatch with a smaller id is ready or sent, except `older`.';
COMMENT ON COLUMN public.turn_bounds.older IS 'Sent ones with smaller ids.';
CREATE TABLE public.units (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    session_id text NOT NULL,
    group_id text,
    from_position integer NOT NULL,
    to_position integer NOT NULL,
    boundary text NOT NULL,
    subject text NOT NULL,
    summary text NOT NULL,
    narrative text NOT NULL,
    participants text[] DEFAULT '{}'::text[] NOT NULL,
    keywords text[] DEFAULT '{}'::text[] NOT NULL,
    facts jsonb DEFAULT '[]'::jsonb NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    prompt text,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.units FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.units IS 'Slices of conversations, each on one topic.';
COMMENT ON COLUMN public.units.boundary IS 'Why it begins here: start, gap, shift, marker or length.';
COMMENT ON COLUMN public.units.prompt IS 'The prompt a model retold it by; null: by rules.';
CREATE TABLE public.verdicts (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    id_tail text GENERATED ALWAYS AS (reverse("right"((id)::text, 8))) STORED NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL,
    group_id text,
    kind text NOT NULL,
    reason text NOT NULL,
    candidate jsonb DEFAULT '{}'::jsonb NOT NULL,
    memory_id uuid,
    other_id uuid,
    author jsonb DEFAULT '{}'::jsonb NOT NULL,
    dispatch_id uuid,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    undone_by uuid
);
ALTER TABLE ONLY public.verdicts FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.verdicts.id IS 'The change that carried it out.';
COMMENT ON COLUMN public.verdicts.memory_id IS 'The memory that stands for what was said; null: it was not kept.';
COMMENT ON COLUMN public.verdicts.other_id IS 'The memory that was absorbed, superseded or contradicted.';
COMMENT ON COLUMN public.verdicts.undone_by IS 'The change that undid it.';
CREATE TABLE public.webhooks (
    tenant_id text NOT NULL,
    hosts text[] NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_by text NOT NULL
);
ALTER TABLE ONLY public.webhooks FORCE ROW LEVEL SECURITY;
COMMENT ON COLUMN public.webhooks.hosts IS 'Where rules may send something; what the settings do not allow is left out.';
CREATE TABLE public.working (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    key text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone
);
ALTER TABLE ONLY public.working FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE public.working IS 'What an agent keeps at hand while a session lasts: any JSON, gone with the end of the session.';
CREATE VIEW second.search_index WITH (security_invoker='true') AS
 SELECT tenant_id,
    type,
    session_id,
    ref,
    "position",
    user_id,
    group_id,
    occurred_at,
    told,
    timed,
    terms,
    own_terms,
    embedding_next AS embedding,
    xmin,
    asks,
    names
   FROM public.search_index;
COMMENT ON VIEW second.search_index IS 'The same rows, with the vectors of the other model.';
INSERT INTO public.alembic_version VALUES ('0037');
INSERT INTO public.deployment VALUES ('embedding.model', 'hash');
INSERT INTO public.deployment VALUES ('embedding.dimension', '384');
INSERT INTO public.dispatches VALUES ('acme', '01a22480-c454-7a7d-8462-07c6165c2b23', DEFAULT, NULL, 0, '', 0, NULL, NULL, 'agent', 'extractor', '{}', 'cpu', 1, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, 'pending', 0, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.372672+00', NULL, NULL, NULL, 0, NULL, NULL, '[]', NULL, NULL, DEFAULT, false);
INSERT INTO public.dispatches VALUES ('other', '01a22480-c45d-70e0-94fc-b3d3f192e140', DEFAULT, NULL, 0, '', 0, NULL, NULL, 'agent', 'extractor', '{}', 'cpu', 1, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, 'pending', 0, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.381067+00', NULL, NULL, NULL, 0, NULL, NULL, '[]', NULL, NULL, DEFAULT, false);
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES ('acme', 1, 'e1', 'chat', 'message.user', NULL, '2026-11-28 23:32:28.351453+00', '{}', NULL, NULL, 'c', NULL, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.354928+00', NULL, NULL, 761, DEFAULT, DEFAULT);
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES ('acme', 2, 'e2', 'chat', 'message.user', NULL, '2026-11-28 23:32:28.351453+00', '{}', NULL, NULL, 'c', NULL, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.356052+00', NULL, NULL, 761, DEFAULT, DEFAULT);
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES ('other', 3, 'e1', 'chat', 'message.user', NULL, '2026-11-28 23:32:28.374123+00', '{}', NULL, NULL, 'c', NULL, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.378762+00', NULL, NULL, 762, DEFAULT, DEFAULT);
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES ('other', 4, 'e2', 'chat', 'message.user', NULL, '2026-11-28 23:32:28.374123+00', '{}', NULL, NULL, 'c', NULL, 0, NULL, NULL, NULL, NULL, '2026-11-28 23:32:28.378844+00', NULL, NULL, 762, DEFAULT, DEFAULT);
INSERT INTO public.evidence VALUES ('acme', '01a20000-0000-7000-8000-000000000001', 's', 'm1', 'e1', 'q', '2026-11-28 23:32:28.351453+00', NULL, false);
INSERT INTO public.evidence VALUES ('acme', '01a20000-0000-7000-8000-000000000001', 's', 'm2', 'e2', 'q', '2026-11-28 23:32:28.351453+00', NULL, false);
INSERT INTO public.evidence VALUES ('other', '01a20000-0000-7000-8000-000000000001', 's', 'm1', 'e1', 'q', '2026-11-28 23:32:28.374123+00', NULL, false);
INSERT INTO public.evidence VALUES ('other', '01a20000-0000-7000-8000-000000000001', 's', 'm2', 'e2', 'q', '2026-11-28 23:32:28.374123+00', NULL, false);
INSERT INTO public.memories VALUES ('acme', '01a20000-0000-7000-8000-000000000001', DEFAULT, 'ada', NULL, NULL, 'Ada', 'semantic', 'preference', 'preference', 'Ada''s favourite colour is green.', 'k', NULL, '{}', 'preference.colour', 'green', 0.5, 0.7, 'candidate', 'active', '2026-05-01 10:00:00+00', NULL, NULL, NULL, '2026-05-01 10:00:00+00', '2026-11-28 23:32:28.361097+00', NULL, NULL, NULL, 0, 0.5, 0, NULL, NULL, false, '{}', 1, 0, '{}');
INSERT INTO public.memories VALUES ('other', '01a20000-0000-7000-8000-000000000001', DEFAULT, 'ada', NULL, NULL, 'Ada', 'semantic', 'preference', 'preference', 'Ada''s favourite colour is green.', 'k', NULL, '{}', 'preference.colour', 'green', 0.5, 0.7, 'candidate', 'active', '2026-05-01 10:00:00+00', NULL, NULL, NULL, '2026-05-01 10:00:00+00', '2026-11-28 23:32:28.379925+00', NULL, NULL, NULL, 0, 0.5, 0, NULL, NULL, false, '{}', 1, 0, '{}');
INSERT INTO public.messages VALUES ('acme', 's', 1, 'm1', 1, 'e1', 'ada', NULL, NULL, 'user', NULL, 'My favourite colour is green.', NULL, '2026-05-01 10:00:00+00', NULL, NULL, NULL, '{}');
INSERT INTO public.messages VALUES ('acme', 's', 2, 'm2', 2, 'e2', 'ada', NULL, NULL, 'user', NULL, 'Green is my favourite colour.', NULL, '2026-06-01 10:00:00+00', NULL, NULL, NULL, '{}');
INSERT INTO public.messages VALUES ('other', 's', 1, 'm1', 1, 'e1', 'ada', NULL, NULL, 'user', NULL, 'My favourite colour is green.', NULL, '2026-05-01 10:00:00+00', NULL, NULL, NULL, '{}');
INSERT INTO public.messages VALUES ('other', 's', 2, 'm2', 2, 'e2', 'ada', NULL, NULL, 'user', NULL, 'Green is my favourite colour.', NULL, '2026-06-01 10:00:00+00', NULL, NULL, NULL, '{}');
INSERT INTO public.search_changes VALUES ('acme', 'user:ada', 761, 'memory', '', '01a20000-0000-7000-8000-000000000001', '2026-11-28 23:32:28.371533+00');
INSERT INTO public.search_changes VALUES ('other', 'user:ada', 762, 'memory', '', '01a20000-0000-7000-8000-000000000001', '2026-11-28 23:32:28.38069+00');
INSERT INTO public.sessions VALUES ('acme', 's', 'ada', NULL, '2026-11-28 23:32:28.351453+00', '2026-11-28 23:32:28.351453+00', NULL, 2, 0, 0, 0, '{}', NULL, DEFAULT, NULL, NULL, false);
INSERT INTO public.sessions VALUES ('other', 's', 'ada', NULL, '2026-11-28 23:32:28.374123+00', '2026-11-28 23:32:28.374123+00', NULL, 2, 0, 0, 0, '{}', NULL, DEFAULT, NULL, NULL, false);
INSERT INTO public.tenants VALUES ('acme', '2026-11-28 23:32:28.353283+00', false, 'fading', 0.05, 'b44fcc89-0e04-434f-a4f6-4ced1e42c9c1d322a3c4-ef7a-450e-91a7-674f8ec48771');
INSERT INTO public.tenants VALUES ('other', '2026-11-28 23:32:28.374645+00', false, 'fading', 0.05, 'da591b24-c733-49de-a48f-f853d4007603dcb86be5-0195-4914-bcdb-7225a049c272');
SELECT pg_catalog.setval('public.events_seq_seq', 4, true);
SELECT pg_catalog.setval('public.rule_revision', 1, false);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.bulk_jobs
    ADD CONSTRAINT bulk_jobs_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.bulk_jobs
    ADD CONSTRAINT bulk_jobs_tenant_id_request_key UNIQUE (tenant_id, request);
ALTER TABLE ONLY public.bulk_rows
    ADD CONSTRAINT bulk_rows_pkey PRIMARY KEY (tenant_id, job_id, place);
ALTER TABLE ONLY public.contexts
    ADD CONSTRAINT contexts_pkey PRIMARY KEY (tenant_id, session_id, reader);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (tenant_id, event_seq, rule);
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.dispatches
    ADD CONSTRAINT dispatches_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (tenant_id, address);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (tenant_id, seq);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_id_source_key UNIQUE (tenant_id, id, source);
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (tenant_id, memory_id, session_id, message_id);
ALTER TABLE ONLY public.expiries
    ADD CONSTRAINT expiries_pkey PRIMARY KEY (tenant_id, kind);
ALTER TABLE ONLY public.flows
    ADD CONSTRAINT flows_pkey PRIMARY KEY (tenant_id, rule, kind, key);
ALTER TABLE ONLY public.forgettings
    ADD CONSTRAINT forgettings_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (process);
ALTER TABLE ONLY public.hidden_messages
    ADD CONSTRAINT hidden_messages_pkey PRIMARY KEY (tenant_id, session_id, message_id);
ALTER TABLE ONLY public.import_parts
    ADD CONSTRAINT import_parts_pkey PRIMARY KEY (tenant_id, import_id, number);
ALTER TABLE ONLY public.import_places
    ADD CONSTRAINT import_places_pkey PRIMARY KEY (tenant_id, import_id, file, session_id, ordinal);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.kept_rows
    ADD CONSTRAINT kept_rows_pkey PRIMARY KEY (tenant_id, forgetting_id, name, key);
ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant_id, memory_id, version);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (tenant_id, session_id, "position");
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_tenant_id_session_id_id_key UNIQUE (tenant_id, session_id, id);
ALTER TABLE ONLY public.mirrors
    ADD CONSTRAINT mirrors_pkey PRIMARY KEY (tenant_id, user_id, file);
ALTER TABLE ONLY public.model_calls
    ADD CONSTRAINT model_calls_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_pkey PRIMARY KEY (tenant_id, kind, id);
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_pkey PRIMARY KEY (tenant_id, session_id, user_id);
ALTER TABLE ONLY public.passages
    ADD CONSTRAINT passages_pkey PRIMARY KEY (tenant_id, document_id, "position");
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (tenant_id, session_id, id);
ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT profiles_pkey PRIMARY KEY (tenant_id, owner);
ALTER TABLE ONLY public.prompt_versions
    ADD CONSTRAINT prompt_versions_pkey PRIMARY KEY (tenant_id, name, version);
ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.rebuilds
    ADD CONSTRAINT rebuilds_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.relations
    ADD CONSTRAINT relations_pkey PRIMARY KEY (tenant_id, from_id, relation, to_id);
ALTER TABLE ONLY public.replay_decisions
    ADD CONSTRAINT replay_decisions_pkey PRIMARY KEY (tenant_id, replay_id, event_seq, rule);
ALTER TABLE ONLY public.replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.replays
    ADD CONSTRAINT replays_tenant_id_request_key UNIQUE (tenant_id, request);
ALTER TABLE ONLY public.rule_versions
    ADD CONSTRAINT rule_versions_pkey PRIMARY KEY (tenant_id, name, version);
ALTER TABLE ONLY public.rules
    ADD CONSTRAINT rules_pkey PRIMARY KEY (tenant_id, name);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (tenant_id, rule);
ALTER TABLE ONLY public.search_changes
    ADD CONSTRAINT search_changes_pkey PRIMARY KEY (tenant_id, owner, at, type, session_id, ref);
ALTER TABLE ONLY public.search_index
    ADD CONSTRAINT search_index_pkey PRIMARY KEY (tenant_id, type, session_id, ref);
ALTER TABLE ONLY public.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (tenant_id, kind, name);
ALTER TABLE ONLY public.servings
    ADD CONSTRAINT servings_pkey PRIMARY KEY (tenant_id, user_id, hash);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.summaries
    ADD CONSTRAINT summaries_pkey PRIMARY KEY (tenant_id, session_id, to_position);
ALTER TABLE ONLY public.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (tenant_id, user_id);
ALTER TABLE ONLY public.tenant_settings
    ADD CONSTRAINT tenant_settings_pkey PRIMARY KEY (tenant_id, name);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.term_counts
    ADD CONSTRAINT term_counts_pkey PRIMARY KEY (tenant_id, owner, term);
ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_id, hash);
ALTER TABLE ONLY public.turn_bounds
    ADD CONSTRAINT turn_bounds_pkey PRIMARY KEY (tenant_id, queue, priority);
ALTER TABLE ONLY public.units
    ADD CONSTRAINT units_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.units
    ADD CONSTRAINT units_tenant_id_session_id_from_position_key UNIQUE (tenant_id, session_id, from_position);
ALTER TABLE ONLY public.verdicts
    ADD CONSTRAINT verdicts_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.working
    ADD CONSTRAINT working_pkey PRIMARY KEY (tenant_id, session_id, key);
CREATE INDEX bulk_rows_of_memory ON public.bulk_rows USING btree (tenant_id, memory_id);
CREATE INDEX bulk_rows_open ON public.bulk_rows USING btree (tenant_id, job_id, place) WHERE (outcome IS NULL);
CREATE INDEX decisions_of_rule ON public.decisions USING btree (tenant_id, rule, at) INCLUDE (verdict);
CREATE INDEX dispatches_after ON public.dispatches USING btree (tenant_id, after) WHERE (after IS NOT NULL);
CREATE UNIQUE INDEX dispatches_alone ON public.dispatches USING btree (tenant_id, alone) WHERE ((status = 'running'::text) AND (alone IS NOT NULL));
CREATE INDEX dispatches_by_tail ON public.dispatches USING btree (tenant_id, id_tail) WHERE (status = ANY (ARRAY['held'::text, 'dead'::text]));
CREATE INDEX dispatches_dead ON public.dispatches USING btree (tenant_id, id) WHERE (status = 'dead'::text);
CREATE INDEX dispatches_dead_groups ON public.dispatches USING btree (tenant_id, fingerprint, ended_at, id) WHERE (status = 'dead'::text);
CREATE UNIQUE INDEX dispatches_edits ON public.dispatches USING btree (tenant_id, edit_of) WHERE (edit_of IS NOT NULL);
CREATE INDEX dispatches_expiring ON public.dispatches USING btree (expires_at) WHERE ((status = 'held'::text) AND (expires_at IS NOT NULL));
CREATE INDEX dispatches_held ON public.dispatches USING btree (tenant_id, hold, id) WHERE (hold IS NOT NULL);
CREATE INDEX dispatches_kept ON public.dispatches USING btree (tenant_id, root_seq) WHERE (status = ANY (ARRAY['held'::text, 'dead'::text]));
CREATE INDEX dispatches_lane ON public.dispatches USING btree (tenant_id, lane) WHERE ((lane IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX dispatches_listing ON public.dispatches USING btree (tenant_id, id) WHERE lists_others;
CREATE INDEX dispatches_of_event ON public.dispatches USING btree (tenant_id, event_seq);
CREATE INDEX dispatches_of_replay ON public.dispatches USING btree (tenant_id, replay_id, status) WHERE (replay_id IS NOT NULL);
CREATE INDEX dispatches_of_rule ON public.dispatches USING btree (tenant_id, rule, id) WHERE (rule IS NOT NULL);
CREATE INDEX dispatches_open ON public.dispatches USING btree (tenant_id, root_seq) WHERE ((status = ANY (ARRAY['pending'::text, 'running'::text, 'retrying'::text])) AND (root_seq IS NOT NULL));
CREATE INDEX dispatches_outbound ON public.dispatches USING btree (tenant_id, id) WHERE (action_type = ANY (ARRAY['webhook'::text, 'notify'::text, 'celery'::text]));
CREATE INDEX dispatches_owed ON public.dispatches USING btree (tenant_id, wake_at) WHERE ((status = ANY (ARRAY['pending'::text, 'running'::text, 'retrying'::text])) AND (wake_at IS NOT NULL));
CREATE INDEX dispatches_turns ON public.dispatches USING btree (tenant_id, queue, turn, priority, id) WHERE ((turn IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'running'::text])));
CREATE INDEX dispatches_waiting ON public.dispatches USING btree (tenant_id, alone) WHERE ((status = 'pending'::text) AND (alone IS NOT NULL));
CREATE INDEX documents_by_tail ON public.documents USING btree (tenant_id, id_tail);
CREATE INDEX documents_of_group ON public.documents USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX documents_of_user ON public.documents USING btree (tenant_id, user_id);
CREATE INDEX documents_uri ON public.documents USING btree (tenant_id, uri) WHERE (uri IS NOT NULL);
CREATE INDEX events_about_memory ON public.events USING btree (tenant_id, subject) WHERE (subject ~~ 'memory:%'::text);
CREATE INDEX events_beside_memory ON public.events USING btree (tenant_id, "time") WHERE (jsonb_exists_any(payload, '{reason,new}'::text[]) AND jsonb_exists_any(payload, '{by,with,absorbed,parts}'::text[]));
CREATE INDEX events_by_time ON public.events USING brin ("time");
CREATE INDEX events_correlated ON public.events USING btree (tenant_id, correlation_id) WHERE ((causation_id IS NULL) AND (correlation_id <> id));
CREATE INDEX events_feed ON public.events USING btree (tenant_id, written_in, seq);
CREATE INDEX events_naming_erased ON public.events USING btree (tenant_id, seq) WHERE ((event_type = ANY (ARRAY['user.erased'::text, 'group.erased'::text])) AND (subject IS NOT NULL));
CREATE INDEX events_naming_memory ON public.events USING btree (tenant_id, memory_id) WHERE (memory_id IS NOT NULL);
CREATE INDEX events_of_chain ON public.events USING btree (tenant_id, causation_id) WHERE (causation_id IS NOT NULL);
CREATE INDEX events_of_group ON public.events USING btree (tenant_id, group_id, seq) WHERE (group_id IS NOT NULL);
CREATE INDEX events_of_session ON public.events USING btree (tenant_id, session_id, seq) WHERE (session_id IS NOT NULL);
CREATE INDEX events_of_user ON public.events USING btree (tenant_id, user_id, seq) WHERE (user_id IS NOT NULL);
CREATE INDEX events_unrouted ON public.events USING btree (tenant_id, seq) WHERE (routed_at IS NULL);
CREATE INDEX evidence_of_message ON public.evidence USING btree (tenant_id, session_id, message_id);
CREATE INDEX evidence_of_request ON public.evidence USING btree (tenant_id, event_id) WHERE (session_id = ''::text);
CREATE INDEX flows_due ON public.flows USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX flows_expired ON public.flows USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX forgettings_by_tail ON public.forgettings USING btree (tenant_id, id_tail);
CREATE INDEX forgettings_due ON public.forgettings USING btree (tenant_id, final_at);
CREATE INDEX imports_of_group ON public.imports USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX imports_of_user ON public.imports USING btree (tenant_id, user_id, id);
CREATE INDEX imports_open ON public.imports USING btree (tenant_id, updated_at) WHERE (ended_at IS NULL);
CREATE INDEX memories_active ON public.memories USING btree (tenant_id, user_id, pinned) WHERE (status = 'active'::text);
CREATE INDEX memories_begun ON public.memories USING btree (tenant_id, user_id, COALESCE(valid_from, occurred_at), id);
CREATE INDEX memories_begun_in_group ON public.memories USING btree (tenant_id, group_id, COALESCE(valid_from, occurred_at), id) WHERE (group_id IS NOT NULL);
CREATE INDEX memories_by_tail ON public.memories USING btree (tenant_id, id_tail);
CREATE INDEX memories_category ON public.memories USING btree (tenant_id, user_id, category, id);
CREATE INDEX memories_expiring ON public.memories USING btree (tenant_id, expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX memories_fading ON public.memories USING btree (tenant_id, fade_at) WHERE ((status = 'active'::text) AND (fade_at IS NOT NULL));
CREATE INDEX memories_of_group ON public.memories USING btree (tenant_id, group_id, id) WHERE (group_id IS NOT NULL);
CREATE INDEX memories_of_user ON public.memories USING btree (tenant_id, user_id, id);
CREATE INDEX memories_questioned ON public.memories USING btree (tenant_id, trust, id) WHERE ((status = 'active'::text) AND (trust = ANY (ARRAY['disputed'::text, 'quarantined'::text])));
CREATE INDEX memories_recorded ON public.memories USING btree (tenant_id, user_id, recorded_at, id) WHERE (status = 'active'::text);
CREATE INDEX memories_shared_statement ON public.memories USING btree (tenant_id, group_id, statement_key) WHERE (group_id IS NOT NULL);
CREATE INDEX memories_slot ON public.memories USING btree (tenant_id, user_id, subject, attribute) WHERE (attribute IS NOT NULL);
CREATE INDEX memories_statement ON public.memories USING btree (tenant_id, user_id, statement_key);
CREATE INDEX memory_versions_by_time ON public.memory_versions USING btree (tenant_id, memory_id, at);
CREATE INDEX memory_versions_of_change ON public.memory_versions USING btree (tenant_id, change_id) WHERE (change_id IS NOT NULL);
CREATE INDEX memory_versions_of_dispatch ON public.memory_versions USING btree (tenant_id, dispatch_id);
CREATE INDEX model_calls_by_time ON public.model_calls USING btree (tenant_id, at);
CREATE INDEX model_calls_of_dispatch ON public.model_calls USING btree (tenant_id, dispatch_id);
CREATE INDEX notices_due ON public.notices USING btree (tenant_id, channel, digest, due_at);
CREATE INDEX notices_of_event ON public.notices USING btree (tenant_id, event_id);
CREATE INDEX notices_of_user ON public.notices USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX owners_by_last ON public.owners USING btree (tenant_id, kind, last_at, id);
CREATE INDEX participants_of_user ON public.participants USING btree (tenant_id, user_id, session_id);
CREATE INDEX plans_of_user ON public.plans USING btree (tenant_id, user_id);
CREATE INDEX rebuilds_by_tail ON public.rebuilds USING btree (tenant_id, id_tail);
CREATE INDEX rebuilds_of_user ON public.rebuilds USING btree (tenant_id, user_id);
CREATE INDEX receipts_by_tail ON public.receipts USING btree (tenant_id, id_tail);
CREATE INDEX relations_back ON public.relations USING btree (tenant_id, to_id);
CREATE INDEX relations_of_change ON public.relations USING btree (tenant_id, change_id) WHERE (change_id IS NOT NULL);
CREATE INDEX replay_decisions_of_event ON public.replay_decisions USING btree (tenant_id, event_seq);
CREATE INDEX rules_revision ON public.rules USING btree (revision);
CREATE INDEX search_index_of_group ON public.search_index USING btree (tenant_id, group_id, type) WHERE (group_id IS NOT NULL);
CREATE INDEX search_index_of_user ON public.search_index USING btree (tenant_id, user_id, type);
CREATE INDEX search_index_shared ON public.search_index USING btree (tenant_id, session_id) WHERE ((type = 'document'::text) AND (user_id IS NULL) AND (group_id IS NULL));
CREATE INDEX search_index_unembedded ON public.search_index USING btree (tenant_id, session_id) WHERE (embedding IS NULL);
CREATE INDEX servings_by_time ON public.servings USING btree (tenant_id, at);
CREATE INDEX sessions_closed ON public.sessions USING btree (tenant_id, last_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX sessions_ended ON public.sessions USING btree (tenant_id, ended_at, id) WHERE ((ended_at IS NOT NULL) AND (NOT is_remnant));
CREATE INDEX sessions_of_group ON public.sessions USING btree (tenant_id, group_id, last_at, id) WHERE (group_id IS NOT NULL);
CREATE INDEX sessions_of_user ON public.sessions USING btree (tenant_id, user_id);
CREATE INDEX sessions_oldest ON public.sessions USING btree (tenant_id, oldest_at, id) WHERE (oldest_at IS NOT NULL);
CREATE INDEX sessions_oldest_tool ON public.sessions USING btree (tenant_id, oldest_tool_at, id) WHERE (oldest_tool_at IS NOT NULL);
CREATE INDEX sessions_open ON public.sessions USING btree (tenant_id, last_at) WHERE (ended_at IS NULL);
CREATE INDEX sessions_own_days ON public.sessions USING btree (tenant_id, leaves_at, id) WHERE ((leaves_at IS NOT NULL) AND (oldest_at IS NOT NULL));
CREATE INDEX sessions_unindexed ON public.sessions USING btree (tenant_id, user_id) WHERE (indexed_to < message_count);
CREATE INDEX verdicts_by_tail ON public.verdicts USING btree (tenant_id, id_tail);
CREATE INDEX verdicts_of_group ON public.verdicts USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX verdicts_of_memory ON public.verdicts USING btree (tenant_id, memory_id);
CREATE INDEX verdicts_of_user ON public.verdicts USING btree (tenant_id, user_id, id);
CREATE INDEX working_expiring ON public.working USING btree (tenant_id, expires_at) WHERE (expires_at IS NOT NULL);
CREATE TRIGGER indexed AFTER INSERT ON public.search_index REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_indexed();
CREATE TRIGGER indexed_anew AFTER UPDATE ON public.search_index REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_indexed();
CREATE TRIGGER kept AFTER UPDATE OF payload ON public.events FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('seq');
CREATE TRIGGER kept AFTER INSERT OR DELETE OR UPDATE ON public.evidence FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('memory_id', 'session_id', 'message_id');
CREATE TRIGGER kept AFTER UPDATE OF reason ON public.hidden_messages FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('session_id', 'message_id');
CREATE TRIGGER kept AFTER INSERT OR DELETE OR UPDATE ON public.memories FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('id');
CREATE TRIGGER kept AFTER INSERT OR DELETE OR UPDATE ON public.memory_versions FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('memory_id', 'version');
CREATE TRIGGER kept AFTER UPDATE OF content ON public.messages FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('session_id', 'position');
CREATE TRIGGER kept AFTER UPDATE OF answer ON public.model_calls FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('id');
CREATE TRIGGER kept AFTER DELETE ON public.plans FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('session_id', 'id');
CREATE TRIGGER kept AFTER INSERT OR DELETE OR UPDATE ON public.relations FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('from_id', 'relation', 'to_id');
CREATE TRIGGER kept AFTER DELETE ON public.search_index FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('type', 'session_id', 'ref');
CREATE TRIGGER kept AFTER UPDATE OF state ON public.sessions FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('id');
CREATE TRIGGER kept AFTER DELETE ON public.summaries FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('session_id', 'to_position');
CREATE TRIGGER kept AFTER INSERT OR DELETE ON public.tombstones FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('hash');
CREATE TRIGGER kept AFTER UPDATE OF summary ON public.units FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('id');
CREATE TRIGGER kept AFTER INSERT OR DELETE OR UPDATE ON public.verdicts FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('id');
CREATE TRIGGER kept AFTER DELETE ON public.working FOR EACH ROW WHEN ((COALESCE(current_setting('imprint.keep'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION public.keep_row('session_id', 'key');
CREATE TRIGGER relabelled AFTER UPDATE ON public.messages REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.note_relabelled();
CREATE TRIGGER remembered AFTER UPDATE ON public.memories REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.note_remembered();
CREATE TRIGGER retold AFTER UPDATE ON public.units REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.forget_unit();
CREATE TRIGGER reworded BEFORE UPDATE OF content ON public.memories FOR EACH ROW WHEN ((old.content IS DISTINCT FROM new.content)) EXECUTE FUNCTION public.drop_features();
CREATE TRIGGER unindexed AFTER DELETE ON public.search_index REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_unindexed();
CREATE TRIGGER untold AFTER DELETE ON public.units REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.forget_unit();
CREATE TRIGGER unwitnessed AFTER DELETE ON public.evidence REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_witnessed();
CREATE TRIGGER witnessed AFTER INSERT ON public.evidence REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_witnessed();
CREATE POLICY all_queues ON public.decisions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.dispatches TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.events TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.flows TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.rule_versions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.rules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.schedules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.sessions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON public.turn_bounds TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_tenants ON public.tenants FOR SELECT TO imprint_router USING (true);
ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.bulk_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.bulk_rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.contexts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.decisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.dispatches ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.expiries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.flows ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.forgettings ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.hidden_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.import_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.import_places ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kept_rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY limits_of_all ON public.tenant_settings FOR SELECT TO imprint_router USING ((name = ANY (ARRAY['limits'::text, 'embedding'::text])));
CREATE POLICY lookups ON public.memories FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON public.messages FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON public.model_calls FOR SELECT TO imprint_router USING (true);
ALTER TABLE public.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.memory_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mirrors ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.model_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.notices ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_rebuilds ON public.tenants AS RESTRICTIVE FOR DELETE TO imprint_app USING ((id ~~ 'rebuild-%'::text));
CREATE POLICY own_row ON public.tenants TO imprint_app USING ((id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.api_keys TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.bulk_jobs TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.bulk_rows TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.contexts TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.decisions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.dispatches TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.documents TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.endpoints TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.events TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.evidence TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.expiries TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.flows TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.forgettings TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.hidden_messages TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.import_parts TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.import_places TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.imports TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.kept_rows TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.memories TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.memory_versions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.messages TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.mirrors TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.model_calls TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.notices TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.owners TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.participants TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.passages TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.plans TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.profiles TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.prompt_versions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.rebuilds TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.receipts TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.relations TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.replay_decisions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.replays TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.rule_versions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.rules TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.schedules TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.search_changes TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.search_index TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.secrets TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.servings TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.sessions TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.summaries TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.sweeps TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.tenant_settings TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.term_counts TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.tombstones TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.turn_bounds TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.units TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.verdicts TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.webhooks TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
CREATE POLICY own_rows ON public.working TO imprint_app USING ((tenant_id = current_setting('imprint.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('imprint.tenant'::text, true)));
ALTER TABLE public.owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.participants ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.plans ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.prompt_versions ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON public.memories AS RESTRICTIVE FOR SELECT TO imprint_app USING (((audience_labels = '{}'::text[]) OR (current_setting('imprint.reader'::text, true) = '*'::text) OR (audience_labels <@ string_to_array(current_setting('imprint.reader'::text, true), ','::text))));
CREATE POLICY readers ON public.messages AS RESTRICTIVE FOR SELECT TO imprint_app USING (((audience_labels = '{}'::text[]) OR (current_setting('imprint.reader'::text, true) = '*'::text) OR (audience_labels <@ string_to_array(current_setting('imprint.reader'::text, true), ','::text))));
ALTER TABLE public.rebuilds ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.relations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.replay_decisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.replays ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.rule_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.search_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.search_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.servings ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.summaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sweeps ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tenant_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.term_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.turn_bounds ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.units ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.verdicts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.working ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA public TO imprint_app;
GRANT USAGE ON SCHEMA public TO imprint_router;
GRANT USAGE ON SCHEMA second TO imprint_app;
GRANT SELECT ON TABLE public.alembic_version TO imprint_app;
GRANT SELECT ON TABLE public.alembic_version TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_keys TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bulk_jobs TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bulk_rows TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.contexts TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.decisions TO imprint_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.decisions TO imprint_router;
GRANT SELECT ON TABLE public.deployment TO imprint_app;
GRANT SELECT ON TABLE public.deployment TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.dispatches TO imprint_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.dispatches TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.documents TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.endpoints TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events TO imprint_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.events TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.evidence TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.expiries TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flows TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flows TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.forgettings TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.heartbeats TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.heartbeats TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hidden_messages TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.import_parts TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.import_places TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.imports TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kept_rows TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memories TO imprint_app;
GRANT SELECT(tenant_id) ON TABLE public.memories TO imprint_router;
GRANT SELECT(id) ON TABLE public.memories TO imprint_router;
GRANT SELECT(user_id) ON TABLE public.memories TO imprint_router;
GRANT SELECT(importance) ON TABLE public.memories TO imprint_router;
GRANT SELECT(status) ON TABLE public.memories TO imprint_router;
GRANT SELECT(recorded_at) ON TABLE public.memories TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_versions TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.messages TO imprint_app;
GRANT SELECT(tenant_id) ON TABLE public.messages TO imprint_router;
GRANT SELECT(session_id) ON TABLE public.messages TO imprint_router;
GRANT SELECT("position") ON TABLE public.messages TO imprint_router;
GRANT SELECT(event_seq) ON TABLE public.messages TO imprint_router;
GRANT SELECT(token_count) ON TABLE public.messages TO imprint_router;
GRANT SELECT(occurred_at) ON TABLE public.messages TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mirrors TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.model_calls TO imprint_app;
GRANT SELECT(tenant_id) ON TABLE public.model_calls TO imprint_router;
GRANT SELECT(input_tokens) ON TABLE public.model_calls TO imprint_router;
GRANT SELECT(output_tokens) ON TABLE public.model_calls TO imprint_router;
GRANT SELECT(cost) ON TABLE public.model_calls TO imprint_router;
GRANT SELECT(at) ON TABLE public.model_calls TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notices TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.owners TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.participants TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.passages TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.plans TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profiles TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.prompt_versions TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.providers TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rebuilds TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.receipts TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.relations TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.replay_decisions TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.replays TO imprint_app;
GRANT USAGE ON SEQUENCE public.rule_revision TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rule_versions TO imprint_app;
GRANT SELECT ON TABLE public.rule_versions TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rules TO imprint_app;
GRANT SELECT ON TABLE public.rules TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedules TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedules TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.search_changes TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.search_index TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.secrets TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.servings TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO imprint_app;
GRANT SELECT ON TABLE public.sessions TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.summaries TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sweeps TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_settings TO imprint_app;
GRANT SELECT ON TABLE public.tenant_settings TO imprint_router;
GRANT SELECT,INSERT,DELETE ON TABLE public.tenants TO imprint_app;
GRANT SELECT ON TABLE public.tenants TO imprint_router;
GRANT UPDATE(allows_high_risk) ON TABLE public.tenants TO imprint_app;
GRANT UPDATE(fade_formula) ON TABLE public.tenants TO imprint_app;
GRANT UPDATE(fade_under) ON TABLE public.tenants TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.term_counts TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tombstones TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turn_bounds TO imprint_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.turn_bounds TO imprint_router;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.units TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.verdicts TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhooks TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.working TO imprint_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE second.search_index TO imprint_app;
