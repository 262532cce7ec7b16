ALTER TABLE dispatches
    ADD COLUMN failures JSONB DEFAULT '[]' NOT NULL,
    ADD COLUMN edit_of UUID,
    ADD COLUMN edited_by TEXT,
    ADD COLUMN fingerprint TEXT GENERATED ALWAYS AS (CASE WHEN status = 'dead' THEN left(md5(target || CASE WHEN strpos(error, '  File ') > 0 THEN right(regexp_replace(coalesce(error, ''), '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}|[0-9]+([.][0-9]+)?|"[^"]*"|\Y''[^'']*''', '…', 'gi'), 400) ELSE left(regexp_replace(coalesce(error, ''), '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}|[0-9]+([.][0-9]+)?|"[^"]*"|\Y''[^'']*''', '…', 'gi'), 200) END), 16) END) STORED;

COMMENT ON COLUMN dispatches.failures IS 'The last failed attempts: number, stage, class of the error, beginning and end.';

COMMENT ON COLUMN dispatches.edit_of IS 'The dead dispatch that it retries with other parameters.';

COMMENT ON COLUMN dispatches.edited_by IS 'The key that has changed the parameters.';

COMMENT ON COLUMN dispatches.fingerprint IS 'Of a dead one: hash of its agent and its error without ids, numbers and quotes.';

CREATE INDEX dispatches_dead_groups ON dispatches (tenant_id, fingerprint, ended_at, id) WHERE status = 'dead';

CREATE UNIQUE INDEX dispatches_edits ON dispatches (tenant_id, edit_of) WHERE edit_of IS NOT NULL
