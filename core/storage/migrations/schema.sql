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
CREATE POLICY all_queues ON rules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON rule_versions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON sessions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON schedules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY lookups ON memories FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON messages FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON model_calls FOR SELECT TO imprint_router USING (true);
CREATE POLICY limits_of_all ON tenant_settings FOR SELECT TO imprint_router USING (name IN ('limits', 'embedding'));

GRANT SELECT ON tenants, rules, rule_versions, sessions, tenant_settings TO imprint_router;
GRANT SELECT, INSERT, UPDATE ON events, decisions, dispatches TO imprint_router;
GRANT SELECT, INSERT, UPDATE, DELETE ON flows, schedules TO imprint_router;
GRANT SELECT (tenant_id, id, user_id, status, importance, recorded_at) ON memories TO imprint_router;
GRANT SELECT (tenant_id, session_id, position, event_seq, token_count, occurred_at) ON messages TO imprint_router;
GRANT SELECT (tenant_id, at, input_tokens, output_tokens, cost) ON model_calls TO imprint_router;

-- The same search with the vectors of the other model.
CREATE SCHEMA second;

CREATE VIEW second.search_index WITH (security_invoker = true) AS
SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
       embedding_next AS embedding, xmin, asks, names
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
                 occurred_at, expires_at, session_id, pinned, audience_labels FROM new_rows
          EXCEPT
          SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned, audience_labels FROM old_rows) AS n,
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
