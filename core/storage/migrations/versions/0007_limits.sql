CREATE TABLE tenant_settings (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value JSONB NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tenant_settings_pkey PRIMARY KEY (tenant_id, name)
);

COMMENT ON TABLE tenant_settings IS 'Settings of a tenant, one row for each kind: limits, and others by name.';

COMMENT ON COLUMN tenant_settings.name IS 'Which setting; the router reads `limits` alone.';
