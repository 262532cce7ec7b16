ALTER TABLE events ADD COLUMN written_in BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE events ALTER COLUMN written_in SET DEFAULT ((pg_current_xact_id())::text)::bigint;

COMMENT ON COLUMN events.written_in IS 'The transaction that wrote it: the order in which the log is followed; 0: before all others.';

CREATE INDEX events_feed ON events (tenant_id, written_in, seq)
