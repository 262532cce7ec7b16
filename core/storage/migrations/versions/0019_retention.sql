ALTER TABLE sessions ADD COLUMN keep_days INTEGER;

ALTER TABLE sessions ADD COLUMN leaves_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (timezone('UTC', timezone('UTC', ended_at) + keep_days * interval '1 day')) STORED;

COMMENT ON COLUMN sessions.leaves_at IS 'When it leaves by `keep_days`. A column, for row-level security searches no index of an expression.';

ALTER TABLE sessions ADD COLUMN oldest_at TIMESTAMP WITH TIME ZONE;

ALTER TABLE sessions ADD COLUMN oldest_tool_at TIMESTAMP WITH TIME ZONE;

ALTER TABLE sessions ADD COLUMN is_remnant BOOLEAN DEFAULT false NOT NULL;

COMMENT ON COLUMN sessions.is_remnant IS 'Left are the places of messages that memories of others cite, and nothing else.';

COMMENT ON COLUMN sessions.keep_days IS 'Days after its end for which it is kept; null: no time of its own.';

COMMENT ON COLUMN sessions.oldest_at IS 'Nothing that is kept of the conversation is older; null: nothing is kept.';

COMMENT ON COLUMN sessions.oldest_tool_at IS 'Likewise of the results of tools alone.';

ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;

UPDATE sessions SET oldest_at = started_at, oldest_tool_at = started_at;

ALTER TABLE sessions FORCE ROW LEVEL SECURITY;

CREATE INDEX sessions_oldest ON sessions (tenant_id, oldest_at, id) WHERE oldest_at IS NOT NULL;

CREATE INDEX sessions_oldest_tool ON sessions (tenant_id, oldest_tool_at, id) WHERE oldest_tool_at IS NOT NULL;

CREATE INDEX sessions_ended ON sessions (tenant_id, ended_at, id) WHERE ended_at IS NOT NULL AND NOT is_remnant;

CREATE INDEX sessions_own_days ON sessions (tenant_id, leaves_at, id) WHERE leaves_at IS NOT NULL AND oldest_at IS NOT NULL;

CREATE TABLE expiries (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    last_rows BIGINT NOT NULL,
    total BIGINT NOT NULL,
    to_time TIMESTAMP WITH TIME ZONE NOT NULL,
    written_in BIGINT,
    seq BIGINT,
    CONSTRAINT expiries_pkey PRIMARY KEY (tenant_id, kind)
);

COMMENT ON TABLE expiries IS 'What the tenant''s retention has removed: how much, and up to when the record has gaps.';

COMMENT ON COLUMN expiries.kind IS 'messages, tool_results, sessions, events, dispatches or decisions';

COMMENT ON COLUMN expiries.at IS 'When rows of the kind left last.';

COMMENT ON COLUMN expiries.last_rows IS 'How many left then, in one transaction.';

COMMENT ON COLUMN expiries.to_time IS 'The newest of those that ever left: before it the record has gaps.';

COMMENT ON COLUMN expiries.written_in IS 'Of events: the last place in the feed from which one has left.';

COMMENT ON COLUMN expiries.seq IS 'Likewise.';

ALTER TABLE evidence ADD COLUMN expired BOOLEAN DEFAULT false NOT NULL;

ALTER TABLE kept_rows NO FORCE ROW LEVEL SECURITY;

UPDATE kept_rows SET before = before || '{"expired": false}' WHERE name = 'evidence' AND before IS NOT NULL;

ALTER TABLE kept_rows FORCE ROW LEVEL SECURITY;

COMMENT ON COLUMN evidence.expired IS 'The message has left, because its time of retention was over.';

ALTER TABLE model_calls ADD COLUMN rule TEXT;

ALTER TABLE model_calls ADD COLUMN target TEXT;

COMMENT ON COLUMN model_calls.rule IS 'That of its dispatch, once this has left.';

COMMENT ON COLUMN model_calls.target IS 'Likewise its agent.';

CREATE INDEX dispatches_kept ON dispatches (tenant_id, root_seq) WHERE status IN ('held', 'dead');

ALTER TABLE expiries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON expiries TO imprint_app USING (tenant_id = current_setting('imprint.tenant', true)) WITH CHECK (tenant_id = current_setting('imprint.tenant', true));

GRANT SELECT, INSERT, UPDATE, DELETE ON expiries TO imprint_app
