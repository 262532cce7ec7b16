ALTER TABLE tenants ADD COLUMN salt TEXT DEFAULT gen_random_uuid()::text || gen_random_uuid()::text NOT NULL;

COMMENT ON COLUMN tenants.salt IS 'Goes into every hash of what was erased, so that nobody can guess it from outside.';

ALTER TABLE memories ADD COLUMN level SMALLINT DEFAULT 0 NOT NULL;

COMMENT ON COLUMN memories.level IS '0: someone said it. 1 and more: drawn together from memories of lower levels.';

CREATE INDEX memories_category ON memories (tenant_id, user_id, category, id);

ALTER TABLE memory_versions ADD COLUMN change_id UUID;

COMMENT ON COLUMN memory_versions.change_id IS 'What was done at once, and can be undone at once.';

CREATE INDEX memory_versions_of_change ON memory_versions (tenant_id, change_id) WHERE change_id IS NOT NULL;

CREATE INDEX memory_versions_by_time ON memory_versions (tenant_id, memory_id, at);

ALTER TABLE evidence ADD COLUMN change_id UUID;

ALTER TABLE relations ADD COLUMN change_id UUID;

CREATE INDEX relations_of_change ON relations (tenant_id, change_id) WHERE change_id IS NOT NULL;

CREATE TABLE verdicts (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    candidate JSONB DEFAULT '{}'::jsonb NOT NULL,
    memory_id UUID,
    other_id UUID,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    dispatch_id UUID,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    undone_by UUID,
    CONSTRAINT verdicts_pkey PRIMARY KEY (tenant_id, id)
);

COMMENT ON COLUMN verdicts.id IS 'The change that carried it out.';

COMMENT ON COLUMN verdicts.memory_id IS 'The memory that stands for what was said; null: it was not kept.';

COMMENT ON COLUMN verdicts.other_id IS 'The memory that was absorbed, superseded or contradicted.';

COMMENT ON COLUMN verdicts.undone_by IS 'The change that undid it.';

CREATE INDEX verdicts_of_user ON verdicts (tenant_id, user_id, id);

CREATE INDEX verdicts_of_memory ON verdicts (tenant_id, memory_id);

CREATE TABLE tombstones (
    tenant_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_id, hash)
);

COMMENT ON COLUMN tombstones.hash IS 'Salted hash of an erased statement of one user; see core.tombstones.';

CREATE TABLE receipts (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    scope TEXT NOT NULL,
    body JSONB DEFAULT '{}'::jsonb NOT NULL,
    signature TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE servings (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    memory_id UUID,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT servings_pkey PRIMARY KEY (tenant_id, user_id, hash)
);

COMMENT ON COLUMN servings.hash IS 'Hash of a text that was handed out: what comes back soon is an echo.';

CREATE INDEX servings_by_time ON servings (tenant_id, at);

CREATE TABLE profiles (
    tenant_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL,
    attributes JSONB DEFAULT '{}'::jsonb NOT NULL,
    built_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT profiles_pkey PRIMARY KEY (tenant_id, owner)
);

COMMENT ON COLUMN profiles.owner IS 'user:<id> or group:<id>';

CREATE TABLE mirrors (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    file TEXT NOT NULL,
    content TEXT NOT NULL,
    versions JSONB DEFAULT '{}'::jsonb NOT NULL,
    synced_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT mirrors_pkey PRIMARY KEY (tenant_id, user_id, file)
);

COMMENT ON COLUMN mirrors.content IS 'The file as both sides last agreed on it.';

COMMENT ON COLUMN mirrors.versions IS 'The version of each memory in it, by id.';

CREATE TABLE endpoints (
    tenant_id TEXT NOT NULL,
    address TEXT NOT NULL,
    failing_since TIMESTAMP WITH TIME ZONE,
    failures INTEGER DEFAULT 0 NOT NULL,
    disabled_at TIMESTAMP WITH TIME ZONE,
    error TEXT,
    CONSTRAINT endpoints_pkey PRIMARY KEY (tenant_id, address)
);

COMMENT ON COLUMN endpoints.address IS 'A channel''s name, or a webhook''s scheme, host and path.';

CREATE TABLE notices (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    channel TEXT NOT NULL,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    user_id TEXT,
    event_id TEXT NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notices_pkey PRIMARY KEY (tenant_id, id)
);

COMMENT ON COLUMN notices.digest IS 'What goes out together: rule and channel; or the dispatch that has taken it.';

CREATE INDEX notices_due ON notices (tenant_id, channel, digest, due_at);

CREATE TABLE rebuilds (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    user_id TEXT NOT NULL,
    shadow_id TEXT NOT NULL,
    status TEXT NOT NULL,
    params JSONB DEFAULT '{}'::jsonb NOT NULL,
    difference JSONB,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT rebuilds_pkey PRIMARY KEY (tenant_id, id)
);

COMMENT ON COLUMN rebuilds.shadow_id IS 'The tenant in which the rebuilt memories stand until they are taken over.';

ALTER TABLE search_index ADD COLUMN embedding_next HALFVEC;

COMMENT ON COLUMN search_index.embedding_next IS 'By the other of two models, where there are two; see core.places.';

COMMENT ON COLUMN dispatches.hold IS 'What a held one waits for: approval, its time, or the turn that `after` names.';

COMMENT ON COLUMN dispatches.expires_at IS 'When an approval that nobody gave is refused, or its time is.';

CREATE SCHEMA second;

CREATE VIEW second.search_index WITH (security_invoker = true) AS
SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
       embedding_next AS embedding, xmin
FROM public.search_index;

COMMENT ON VIEW second.search_index IS 'The same rows, with the vectors of the other model; see core.places.';

GRANT USAGE ON SCHEMA second TO imprint_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON second.search_index TO imprint_app;
