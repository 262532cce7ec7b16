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

ALTER TABLE events ADD COLUMN group_id TEXT GENERATED ALWAYS AS (left(payload ->> 'group_id', 200)) STORED;

COMMENT ON COLUMN events.group_id IS 'Beginning of the group that its payload names. A column, as row-level security demands of an index.';

CREATE INDEX events_of_group ON events (tenant_id, group_id, seq) WHERE group_id IS NOT NULL;

CREATE INDEX events_naming_erased ON events (tenant_id, seq) WHERE event_type = ANY (ARRAY['user.erased', 'group.erased']) AND subject IS NOT NULL;

CREATE INDEX documents_of_group ON documents (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX notices_of_event ON notices (tenant_id, event_id);

CREATE INDEX notices_of_user ON notices (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE INDEX imports_of_group ON imports (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX evidence_of_request ON evidence (tenant_id, event_id) WHERE session_id = '';

CREATE INDEX verdicts_of_group ON verdicts (tenant_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX rebuilds_of_user ON rebuilds (tenant_id, user_id)
