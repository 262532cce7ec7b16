CREATE TABLE forgettings (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    event_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sessions TEXT[] DEFAULT '{}' NOT NULL,
    owners TEXT[] DEFAULT '{}' NOT NULL,
    messages INTEGER DEFAULT 0 NOT NULL,
    memories INTEGER DEFAULT 0 NOT NULL,
    models JSONB DEFAULT '{}'::jsonb NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    final_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT forgettings_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX forgettings_due ON forgettings (tenant_id, final_at);

COMMENT ON TABLE forgettings IS 'Requests to forget that were carried out and can still be undone.';

COMMENT ON COLUMN forgettings.event_id IS 'The event with the request.';

COMMENT ON COLUMN forgettings.user_id IS 'Who asked.';

COMMENT ON COLUMN forgettings.session_id IS 'With message_id: the message that asked.';

COMMENT ON COLUMN forgettings.sessions IS 'Sessions of which messages were erased.';

COMMENT ON COLUMN forgettings.owners IS 'Users whose messages or memories were erased.';

COMMENT ON COLUMN forgettings.models IS 'The models of the kept vectors.';

CREATE TABLE kept_rows (
    tenant_id TEXT NOT NULL,
    forgetting_id UUID NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    before JSONB,
    after JSONB,
    CONSTRAINT kept_rows_pkey PRIMARY KEY (tenant_id, forgetting_id, name, key)
);

COMMENT ON TABLE kept_rows IS 'Rows as they were before an erasure that can still be undone; written by triggers, read by the undo.';

COMMENT ON COLUMN kept_rows.name IS 'The table.';

COMMENT ON COLUMN kept_rows.key IS 'The rest of the row''s primary key, as JSON.';

COMMENT ON COLUMN kept_rows.before IS 'Null: the erasure inserted the row.';

COMMENT ON COLUMN kept_rows.after IS 'Null: the erasure deleted the row.';

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
EXECUTE FUNCTION keep_row('id')
