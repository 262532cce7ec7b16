ALTER TABLE contexts ADD COLUMN instruction_ids UUID[] DEFAULT '{}' NOT NULL, ADD COLUMN profile TEXT[] DEFAULT '{}' NOT NULL;

COMMENT ON COLUMN contexts.profile IS 'By which its lines and their values are known again.';

ALTER TABLE search_index ADD COLUMN asks BOOLEAN DEFAULT false NOT NULL, ADD COLUMN names SMALLINT DEFAULT 0 NOT NULL;

COMMENT ON COLUMN search_index.names IS 'Names that are spoken of.';

UPDATE search_index i SET asks = m.content ~ '[?？]', names = least(regexp_count(m.content, '[a-z,] [A-Z][a-z]+'), 32767)
FROM messages m WHERE i.type = 'message' AND i.tenant_id = m.tenant_id AND i.session_id = m.session_id AND i.ref = m.id;

CREATE OR REPLACE VIEW second.search_index WITH (security_invoker = true) AS
SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
       embedding_next AS embedding, xmin, asks, names
FROM public.search_index;

CREATE TABLE search_changes (
    tenant_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    type TEXT NOT NULL,
    session_id TEXT NOT NULL,
    ref TEXT NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT search_changes_pkey PRIMARY KEY (tenant_id, owner, at, type, session_id, ref)
);

COMMENT ON TABLE search_changes IS 'Which rows of the search index were written lately, and by which transaction; written by triggers.';

COMMENT ON COLUMN search_changes.owner IS 'user:<id> or group:<id>';

COMMENT ON COLUMN search_changes.at IS 'The id of the transaction that wrote it.';

COMMENT ON COLUMN search_changes.ref IS 'Empty: a message has gone, and nobody shall read here which.';

CREATE FUNCTION note_indexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, c.session_id, c.ref
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type <> 'document' AND o.owner IS NOT NULL
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
    WHERE c.type <> 'document' AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT n.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'memory', '', n.id::text
    FROM (SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned FROM new_rows
          EXCEPT
          SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned FROM old_rows) AS n,
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
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_witnessed()
