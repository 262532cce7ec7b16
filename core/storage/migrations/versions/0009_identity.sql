CREATE TABLE webhooks (
    tenant_id TEXT NOT NULL,
    hosts TEXT[] NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_by TEXT NOT NULL,
    CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id)
);

COMMENT ON COLUMN webhooks.hosts IS 'Where rules may send something; what the settings do not allow is left out.';

CREATE TABLE secrets (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    hint TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_by TEXT NOT NULL,
    CONSTRAINT secrets_pkey PRIMARY KEY (tenant_id, kind, name)
);

COMMENT ON COLUMN secrets.kind IS 'header, channel or signing';

COMMENT ON COLUMN secrets.sealed IS 'AES-256-GCM, by the key of core.vault, bound to tenant, kind and name.';

COMMENT ON COLUMN secrets.hint IS 'What may be shown of it: of a channel its scheme and host.'
