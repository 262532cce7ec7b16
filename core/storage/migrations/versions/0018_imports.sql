CREATE TABLE imports (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT,
    formats TEXT[] DEFAULT '{}' NOT NULL,
    status TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT,
    file TEXT DEFAULT '' NOT NULL,
    line INTEGER DEFAULT 0 NOT NULL,
    report JSONB DEFAULT '{}'::jsonb NOT NULL,
    error JSONB,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    event_seq BIGINT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT imports_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX imports_of_user ON imports (tenant_id, user_id, id);

CREATE INDEX imports_open ON imports (tenant_id, updated_at) WHERE ended_at IS NULL;

COMMENT ON TABLE imports IS 'Imports, and how far an archive has been restored.';

COMMENT ON COLUMN imports.status IS 'uploading, pending, running, done, failed or cancelled';

COMMENT ON COLUMN imports.size IS 'Bytes of the upload.';

COMMENT ON COLUMN imports.sha256 IS 'Of an upload in parts, by which one that was interrupted is found again.';

COMMENT ON COLUMN imports.file IS 'With `line`: what is restored already.';

COMMENT ON COLUMN imports.line IS 'Lines of `file` that are restored.';

COMMENT ON COLUMN imports.event_seq IS 'The event that asked for it.';

CREATE TABLE import_parts (
    tenant_id TEXT NOT NULL,
    import_id UUID NOT NULL,
    number INTEGER NOT NULL,
    data BYTEA NOT NULL,
    CONSTRAINT import_parts_pkey PRIMARY KEY (tenant_id, import_id, number)
);

COMMENT ON TABLE import_parts IS 'Uploaded archives in pieces, until they are restored.';

COMMENT ON COLUMN import_parts.number IS '0, 1, …; all but the last are as long.';

CREATE TABLE import_places (
    tenant_id TEXT NOT NULL,
    import_id UUID NOT NULL,
    file TEXT NOT NULL,
    session_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    ref TEXT NOT NULL,
    CONSTRAINT import_places_pkey PRIMARY KEY (tenant_id, import_id, file, session_id, ordinal)
);

COMMENT ON TABLE import_places IS 'What the ordinals of an archive stand for, while it is restored.';

COMMENT ON COLUMN import_places.file IS 'messages or memories';

COMMENT ON COLUMN import_places.session_id IS 'Empty for a memory.';

COMMENT ON COLUMN import_places.ref IS 'The message''s or the memory''s id.';

ALTER TABLE import_parts ALTER COLUMN data SET STORAGE EXTERNAL
