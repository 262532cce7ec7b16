CREATE SEQUENCE rule_revision;

CREATE TABLE deployment (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT deployment_pkey PRIMARY KEY (name)
);

COMMENT ON TABLE deployment IS 'What holds for the whole installation, such as the embedding model its vectors were made with.';

CREATE TABLE heartbeats (
    process TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT heartbeats_pkey PRIMARY KEY (process)
);

COMMENT ON TABLE heartbeats IS 'When each kind of process last said that it works.';

CREATE TABLE tenants (
    id TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    CONSTRAINT tenants_name_check CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);

CREATE TABLE api_keys (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    secret_sha256 TEXT NOT NULL,
    scopes TEXT[] DEFAULT '{}' NOT NULL,
    name TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id)
);

COMMENT ON COLUMN api_keys.secret_sha256 IS 'The secret is 256 random bits, so a plain hash is enough.';

CREATE TABLE events (
    tenant_id TEXT NOT NULL,
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    event_type TEXT NOT NULL,
    subject TEXT,
    time TIMESTAMP WITH TIME ZONE NOT NULL,
    payload JSONB DEFAULT '{}'::jsonb NOT NULL,
    session_id TEXT,
    user_id TEXT,
    correlation_id TEXT NOT NULL,
    causation_id TEXT,
    hop SMALLINT DEFAULT 0 NOT NULL,
    root_seq BIGINT,
    dispatch_id UUID,
    extensions JSONB,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    routed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT events_pkey PRIMARY KEY (tenant_id, seq),
    CONSTRAINT events_tenant_id_id_source_key UNIQUE (tenant_id, id, source)
);

CREATE INDEX events_of_chain ON events (tenant_id, causation_id) WHERE causation_id IS NOT NULL;

CREATE INDEX events_of_session ON events (tenant_id, session_id, seq) WHERE session_id IS NOT NULL;

CREATE INDEX events_unrouted ON events (seq) WHERE routed_at IS NULL;

COMMENT ON COLUMN events.seq IS 'Place in the log.';

COMMENT ON COLUMN events.root_seq IS 'First event of the chain; null: this one.';

COMMENT ON COLUMN events.dispatch_id IS 'The dispatch whose effect this event reports.';

CREATE TABLE sessions (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    user_id TEXT,
    group_id TEXT,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    message_count INTEGER DEFAULT 0 NOT NULL,
    token_count INTEGER DEFAULT 0 NOT NULL,
    extracted_to INTEGER DEFAULT 0 NOT NULL,
    indexed_to INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX sessions_of_user ON sessions (tenant_id, user_id);

CREATE INDEX sessions_unindexed ON sessions (tenant_id, user_id) WHERE indexed_to < message_count;

COMMENT ON COLUMN sessions.extracted_to IS 'Last position extracted.';

COMMENT ON COLUMN sessions.indexed_to IS 'Last position indexed.';

CREATE TABLE messages (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    event_seq BIGINT NOT NULL,
    event_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT,
    agent_id TEXT,
    role TEXT NOT NULL,
    speaker TEXT,
    content TEXT NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
    importance DOUBLE PRECISION,
    extras JSONB,
    CONSTRAINT messages_pkey PRIMARY KEY (tenant_id, session_id, position),
    CONSTRAINT messages_tenant_id_session_id_id_key UNIQUE (tenant_id, session_id, id)
);

COMMENT ON COLUMN messages.position IS '1, 2, … in order of acceptance, without gaps.';

CREATE TABLE rules (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    document JSONB DEFAULT '{}'::jsonb NOT NULL,
    deleted_at TIMESTAMP WITH TIME ZONE,
    revision BIGINT DEFAULT nextval('rule_revision') NOT NULL,
    CONSTRAINT rules_pkey PRIMARY KEY (tenant_id, name)
);

CREATE INDEX rules_revision ON rules (revision);

CREATE TABLE rule_versions (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    document JSONB,
    author TEXT NOT NULL,
    comment TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT rule_versions_pkey PRIMARY KEY (tenant_id, name, version)
);

CREATE TABLE decisions (
    tenant_id TEXT NOT NULL,
    event_seq BIGINT NOT NULL,
    rule TEXT NOT NULL,
    version INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT decisions_pkey PRIMARY KEY (tenant_id, event_seq, rule)
);

COMMENT ON COLUMN decisions.verdict IS 'fired, held or gathered';

CREATE TABLE flows (
    tenant_id TEXT NOT NULL,
    rule TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    gathered INTEGER NOT NULL,
    event_seqs BIGINT[] NOT NULL,
    root_seq BIGINT NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT flows_pkey PRIMARY KEY (tenant_id, rule, kind, key)
);

CREATE INDEX flows_due ON flows (due_at) WHERE due_at IS NOT NULL;

COMMENT ON COLUMN flows.kind IS 'debounce or count';

CREATE TABLE dispatches (
    tenant_id TEXT NOT NULL,
    id UUID DEFAULT uuidv7() NOT NULL,
    event_seq BIGINT,
    root_seq BIGINT DEFAULT 0 NOT NULL,
    correlation_id TEXT DEFAULT '' NOT NULL,
    hop SMALLINT DEFAULT 0 NOT NULL,
    rule TEXT,
    rule_version INTEGER,
    action_type TEXT NOT NULL,
    target TEXT NOT NULL,
    params JSONB DEFAULT '{}'::jsonb NOT NULL,
    queue TEXT NOT NULL,
    alone TEXT,
    status TEXT NOT NULL,
    attempt INTEGER DEFAULT 0 NOT NULL,
    sends INTEGER DEFAULT 0 NOT NULL,
    lease UUID,
    wake_at TIMESTAMP WITH TIME ZONE,
    error TEXT,
    result JSONB,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT dispatches_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX dispatches_open ON dispatches (tenant_id, root_seq) WHERE status IN ('pending', 'running', 'retrying');

CREATE INDEX dispatches_dead ON dispatches (tenant_id, id) WHERE status = 'dead';

CREATE INDEX dispatches_owed ON dispatches (wake_at) WHERE status IN ('pending', 'running', 'retrying');

CREATE UNIQUE INDEX dispatches_alone ON dispatches (tenant_id, alone) WHERE status = 'running' AND alone IS NOT NULL;

CREATE INDEX dispatches_waiting ON dispatches (tenant_id, alone) WHERE status = 'pending' AND alone IS NOT NULL;

CREATE INDEX dispatches_of_event ON dispatches (tenant_id, event_seq);

COMMENT ON COLUMN dispatches.event_seq IS 'The event it reacts to; null for what could not become one.';

COMMENT ON COLUMN dispatches.alone IS 'Of the dispatches with one such key, one runs at a time.';

COMMENT ON COLUMN dispatches.lease IS 'Token of the attempt that owns it; only its holder may finish it.';

COMMENT ON COLUMN dispatches.wake_at IS 'When the sweep must act: send again, or take the lease back.';

CREATE TABLE memories (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    user_id TEXT,
    group_id TEXT,
    session_id TEXT,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    category TEXT NOT NULL,
    topic TEXT NOT NULL,
    content TEXT NOT NULL,
    statement_key TEXT NOT NULL,
    structured JSONB DEFAULT '{}'::jsonb NOT NULL,
    attribute TEXT,
    value TEXT,
    importance DOUBLE PRECISION DEFAULT 0.5 NOT NULL,
    confidence DOUBLE PRECISION DEFAULT 0.7 NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
    valid_from TIMESTAMP WITH TIME ZONE,
    valid_to TIMESTAMP WITH TIME ZONE,
    recorded_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    half_life_days DOUBLE PRECISION,
    last_used_at TIMESTAMP WITH TIME ZONE,
    uses INTEGER DEFAULT 0 NOT NULL,
    pinned BOOLEAN DEFAULT false NOT NULL,
    tags TEXT[] DEFAULT '{}' NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT memories_owner_check CHECK (user_id IS NOT NULL OR group_id IS NOT NULL)
);

CREATE INDEX memories_slot ON memories (tenant_id, user_id, subject, attribute) WHERE attribute IS NOT NULL;

CREATE INDEX memories_of_group ON memories (tenant_id, group_id, id) WHERE group_id IS NOT NULL;

CREATE INDEX memories_of_user ON memories (tenant_id, user_id, id);

CREATE INDEX memories_statement ON memories (tenant_id, user_id, statement_key);

COMMENT ON COLUMN memories.statement_key IS 'Hash of the normalised statement, per owner and subject.';

CREATE TABLE memory_versions (
    tenant_id TEXT NOT NULL,
    memory_id UUID NOT NULL,
    version INTEGER NOT NULL,
    change TEXT NOT NULL,
    reason TEXT NOT NULL,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    snapshot JSONB DEFAULT '{}'::jsonb NOT NULL,
    dispatch_id UUID,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant_id, memory_id, version)
);

CREATE INDEX memory_versions_of_dispatch ON memory_versions (tenant_id, dispatch_id);

CREATE TABLE evidence (
    tenant_id TEXT NOT NULL,
    memory_id UUID NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    quote TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT evidence_pkey PRIMARY KEY (tenant_id, memory_id, session_id, message_id)
);

CREATE INDEX evidence_of_message ON evidence (tenant_id, session_id, message_id);

CREATE TABLE relations (
    tenant_id TEXT NOT NULL,
    from_id UUID NOT NULL,
    relation TEXT NOT NULL,
    to_id UUID NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT relations_pkey PRIMARY KEY (tenant_id, from_id, relation, to_id)
);

CREATE INDEX relations_back ON relations (tenant_id, to_id);

CREATE TABLE search_index (
    tenant_id TEXT NOT NULL,
    type TEXT NOT NULL,
    session_id TEXT NOT NULL,
    ref TEXT NOT NULL,
    position INTEGER DEFAULT 0 NOT NULL,
    user_id TEXT,
    group_id TEXT,
    occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
    told SMALLINT DEFAULT 0 NOT NULL,
    timed BOOLEAN DEFAULT false NOT NULL,
    terms SPARSEVEC(999999937) NOT NULL,
    own_terms INTEGER[] NOT NULL,
    embedding HALFVEC,
    CONSTRAINT search_index_pkey PRIMARY KEY (tenant_id, type, session_id, ref)
);

CREATE INDEX search_index_unembedded ON search_index (tenant_id, session_id) WHERE embedding IS NULL;

CREATE INDEX search_index_of_group ON search_index (tenant_id, group_id, type) WHERE group_id IS NOT NULL;

CREATE INDEX search_index_of_user ON search_index (tenant_id, user_id, type);

COMMENT ON COLUMN search_index.type IS 'message or memory';

COMMENT ON COLUMN search_index.session_id IS 'Empty for a memory.';

COMMENT ON COLUMN search_index.ref IS 'The message''s id in its session, or the memory''s id.';

COMMENT ON COLUMN search_index.told IS 'Terms outside of questions.';

COMMENT ON COLUMN search_index.terms IS 'BM25 document weights by term id.';

COMMENT ON COLUMN search_index.own_terms IS 'Terms counted for this row in term_counts.';

COMMENT ON COLUMN search_index.embedding IS 'Null until made: found by its words alone.';

CREATE TABLE term_counts (
    tenant_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    term INTEGER NOT NULL,
    documents INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT term_counts_pkey PRIMARY KEY (tenant_id, owner, term)
);

COMMENT ON COLUMN term_counts.owner IS 'user:<id> or group:<id>';

CREATE TABLE model_calls (
    tenant_id TEXT NOT NULL,
    id UUID DEFAULT uuidv7() NOT NULL,
    dispatch_id UUID NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    input_tokens INTEGER DEFAULT 0 NOT NULL,
    output_tokens INTEGER DEFAULT 0 NOT NULL,
    latency_ms DOUBLE PRECISION DEFAULT 0 NOT NULL,
    outcome TEXT NOT NULL,
    answer TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT model_calls_pkey PRIMARY KEY (tenant_id, id)
);

CREATE INDEX model_calls_of_dispatch ON model_calls (tenant_id, dispatch_id);

COMMENT ON COLUMN model_calls.prompt IS 'Name and version of the prompt.';

COMMENT ON COLUMN model_calls.answer IS 'Kept where it could not be used.';

-- A queue lives in these tables: their rows change soon after they are written.
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

ALTER TABLE dispatches SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

ALTER TABLE sessions SET (fillfactor = 70);

-- Vectors stay in the row: a scan over one user's rows must not fetch each from elsewhere.
ALTER TABLE search_index ALTER COLUMN terms SET STORAGE MAIN, ALTER COLUMN embedding SET STORAGE MAIN;
