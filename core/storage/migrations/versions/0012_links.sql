ALTER TABLE relations ADD COLUMN strength double precision NOT NULL DEFAULT 1;

ALTER TABLE relations ADD CONSTRAINT relations_strength_check CHECK (strength > 0 AND strength <= 1);

COMMENT ON COLUMN relations.strength IS 'From 0 to 1: how much of the weight of its kind it carries.';

CREATE INDEX memories_shared_statement ON memories (tenant_id, group_id, statement_key) WHERE group_id IS NOT NULL;

COMMENT ON COLUMN search_index.type IS 'message, memory, document or unit';

COMMENT ON COLUMN search_index.session_id IS 'Empty for a memory; of a passage its document''s id.';

COMMENT ON COLUMN search_index.ref IS 'The message''s id in its session, the memory''s or unit''s id, the passage.';

CREATE OR REPLACE FUNCTION note_indexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, c.session_id, c.ref
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type IN ('message', 'memory') AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_unindexed() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE FUNCTION forget_unit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM public.search_index i USING changed c
    WHERE i.tenant_id = c.tenant_id AND i.type = 'unit' AND i.session_id = c.session_id AND i.ref = c.id::text;
    RETURN NULL;
END $$;

CREATE TRIGGER retold AFTER UPDATE ON units
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION forget_unit();

CREATE TRIGGER untold AFTER DELETE ON units
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION forget_unit()
