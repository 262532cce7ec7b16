ALTER TABLE messages ADD COLUMN audience_labels TEXT[] DEFAULT '{}' NOT NULL;

COMMENT ON COLUMN messages.audience_labels IS 'A reader must hold all of them.';

ALTER TABLE memories ADD COLUMN audience_labels TEXT[] DEFAULT '{}' NOT NULL;

COMMENT ON COLUMN memories.audience_labels IS 'A reader must hold all of them.';

ALTER TABLE api_keys ADD COLUMN labels TEXT[];

COMMENT ON COLUMN api_keys.labels IS 'All that its holder may read of what has labels; null: anything.';

CREATE POLICY readers ON messages AS RESTRICTIVE FOR SELECT TO imprint_app
    USING (audience_labels = '{}' OR current_setting('imprint.reader', true) = '*'
           OR audience_labels <@ string_to_array(current_setting('imprint.reader', true), ','));

CREATE POLICY readers ON memories AS RESTRICTIVE FOR SELECT TO imprint_app
    USING (audience_labels = '{}' OR current_setting('imprint.reader', true) = '*'
           OR audience_labels <@ string_to_array(current_setting('imprint.reader', true), ','));

CREATE OR REPLACE FUNCTION note_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
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
