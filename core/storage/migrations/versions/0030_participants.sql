CREATE TABLE participants (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    CONSTRAINT participants_pkey PRIMARY KEY (tenant_id, session_id, user_id)
);

INSERT INTO participants (tenant_id, session_id, user_id)
SELECT DISTINCT tenant_id, session_id, user_id FROM messages WHERE user_id <> '';

CREATE INDEX participants_of_user ON participants (tenant_id, user_id, session_id);

COMMENT ON TABLE participants IS 'Who has spoken in which session; written with the messages.';

ALTER TABLE events
    ADD COLUMN group_id TEXT GENERATED ALWAYS AS (left(payload ->> 'group_id', 200)) STORED,
    ADD COLUMN memory_id TEXT GENERATED ALWAYS AS (CASE WHEN subject IS DISTINCT FROM 'memory:' || (payload ->> 'memory_id') THEN left(payload ->> 'memory_id', 36) END) STORED;

COMMENT ON COLUMN events.memory_id IS 'Likewise of the memory that its payload names, unless its subject does.';

COMMENT ON COLUMN events.group_id IS 'Beginning of the group that its payload names. A column, as row-level security demands of an index.';

CREATE INDEX events_of_group ON events (tenant_id, group_id, seq) WHERE group_id IS NOT NULL;

CREATE INDEX events_correlated ON events (tenant_id, correlation_id) WHERE causation_id IS NULL AND correlation_id <> id;

CREATE INDEX events_about_memory ON events (tenant_id, subject) WHERE subject LIKE 'memory:%';

CREATE INDEX events_naming_memory ON events (tenant_id, memory_id) WHERE memory_id IS NOT NULL;

CREATE INDEX events_beside_memory ON events (tenant_id, time) WHERE jsonb_exists_any(payload, '{reason,new}') AND jsonb_exists_any(payload, '{by,with,absorbed,parts}');

CREATE INDEX events_naming_erased ON events (tenant_id, seq) WHERE event_type = ANY (ARRAY['user.erased', 'group.erased']) AND subject IS NOT NULL;

ALTER TABLE dispatches ADD COLUMN lists_others BOOLEAN DEFAULT false NOT NULL;

COMMENT ON COLUMN dispatches.lists_others IS 'Whether `params` lists sessions or events of others than its event''s.';

UPDATE dispatches d SET lists_others = true FROM events e
WHERE e.tenant_id = d.tenant_id AND e.seq = d.event_seq AND (
    (jsonb_exists(d.params, 'sessions') AND d.params -> 'sessions' <> jsonb_build_array(e.session_id))
    OR (jsonb_path_exists(d.params, '$.gathered[1]') AND EXISTS (
        SELECT FROM jsonb_array_elements_text(d.params -> 'gathered') AS g (id)
        LEFT JOIN events o ON o.tenant_id = d.tenant_id AND o.id = g.id
        WHERE (o.session_id, o.user_id, o.group_id) IS DISTINCT FROM (e.session_id, e.user_id, e.group_id)
           OR coalesce(o.session_id, o.user_id, o.group_id) IS NULL)));

CREATE INDEX dispatches_listing ON dispatches (tenant_id, id) WHERE lists_others;

CREATE INDEX documents_of_group ON documents (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX notices_of_event ON notices (tenant_id, event_id);

CREATE INDEX notices_of_user ON notices (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE INDEX imports_of_group ON imports (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX evidence_of_request ON evidence (tenant_id, event_id) WHERE session_id = '';

CREATE INDEX verdicts_of_group ON verdicts (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX rebuilds_of_user ON rebuilds (tenant_id, user_id)
