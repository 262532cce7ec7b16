CREATE TABLE prompt_versions (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT,
    share DOUBLE PRECISION DEFAULT 1 NOT NULL,
    comment TEXT DEFAULT '' NOT NULL,
    author TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT prompt_versions_pkey PRIMARY KEY (tenant_id, name, version)
);

COMMENT ON TABLE prompt_versions IS 'Prompts of a tenant''s own; the newest version of each name is in force.';

COMMENT ON COLUMN prompt_versions.text IS 'Null: the packaged prompt is used again.';

COMMENT ON COLUMN prompt_versions.share IS 'Of the sessions, those that it is used for.'
