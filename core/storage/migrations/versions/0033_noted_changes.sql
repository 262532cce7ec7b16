CREATE OR REPLACE FUNCTION note_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
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
