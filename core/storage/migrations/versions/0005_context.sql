ALTER TABLE sessions ADD COLUMN state JSONB DEFAULT '{}'::jsonb NOT NULL;

CREATE TABLE providers (
    name TEXT NOT NULL,
    requests DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    filled_at TIMESTAMP WITH TIME ZONE NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    open_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT providers_pkey PRIMARY KEY (name)
);

COMMENT ON TABLE providers IS 'Providers of models: what may still be asked this minute, and whether the breaker is open.';

COMMENT ON COLUMN providers.name IS 'Host and model: who counts requests and tokens.';

COMMENT ON COLUMN providers.requests IS 'Left in the bucket at `filled_at`; below zero: owed.';

COMMENT ON COLUMN providers.tokens IS 'Likewise.';

COMMENT ON COLUMN providers.open_until IS 'Until then nobody asks; then one tries.';

CREATE TABLE hidden_messages (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    reason TEXT,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT hidden_messages_pkey PRIMARY KEY (tenant_id, session_id, message_id)
);

COMMENT ON TABLE hidden_messages IS 'Messages that an agent does not want to see again until they are restored; they are kept as they are.';

CREATE TABLE working (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value JSONB NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT working_pkey PRIMARY KEY (tenant_id, session_id, key)
);

COMMENT ON TABLE working IS 'What an agent keeps at hand while a session lasts: any JSON, gone with the end of the session.';

CREATE INDEX working_expiring ON working (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE units (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    session_id TEXT NOT NULL,
    group_id TEXT,
    from_position INTEGER NOT NULL,
    to_position INTEGER NOT NULL,
    boundary TEXT NOT NULL,
    subject TEXT NOT NULL,
    summary TEXT NOT NULL,
    narrative TEXT NOT NULL,
    participants TEXT[] DEFAULT '{}' NOT NULL,
    keywords TEXT[] DEFAULT '{}' NOT NULL,
    facts JSONB DEFAULT '[]'::jsonb NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    prompt TEXT,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT units_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT units_tenant_id_session_id_from_position_key UNIQUE (tenant_id, session_id, from_position)
);

COMMENT ON TABLE units IS 'Slices of conversations, each on one topic.';

COMMENT ON COLUMN units.boundary IS 'Why it begins here: start, gap, shift, marker or length.';

COMMENT ON COLUMN units.prompt IS 'The prompt a model retold it by; null: by rules.';

CREATE TABLE summaries (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    to_position INTEGER NOT NULL,
    content TEXT NOT NULL,
    key_messages JSONB DEFAULT '[]'::jsonb NOT NULL,
    token_count INTEGER DEFAULT 0 NOT NULL,
    prompt TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT summaries_pkey PRIMARY KEY (tenant_id, session_id, to_position)
);

COMMENT ON TABLE summaries IS 'Rolling summaries of long sessions; the last one holds what those before it said.';

COMMENT ON COLUMN summaries.to_position IS 'It stands for all messages up to this one.';

COMMENT ON COLUMN summaries.prompt IS 'The prompt of the model that wrote it; null: by rules.';

CREATE TABLE plans (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT,
    goal TEXT NOT NULL,
    status TEXT NOT NULL,
    steps JSONB DEFAULT '[]'::jsonb NOT NULL,
    current TEXT,
    event_id TEXT NOT NULL,
    event_seq BIGINT NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT plans_pkey PRIMARY KEY (tenant_id, session_id, id)
);

COMMENT ON COLUMN plans.current IS 'Id of the step that is being worked on.';

COMMENT ON COLUMN plans.event_id IS 'The event that said so last.';

COMMENT ON COLUMN plans.event_seq IS 'Its place in the log: an older one changes nothing.';

CREATE INDEX plans_of_user ON plans (tenant_id, user_id);

CREATE TABLE contexts (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    reader TEXT NOT NULL,
    from_position INTEGER NOT NULL,
    memory_ids UUID[] NOT NULL,
    passages TEXT[] DEFAULT '{}' NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT contexts_pkey PRIMARY KEY (tenant_id, session_id, reader)
);

COMMENT ON TABLE contexts IS 'What a session''s contexts keep showing until their window moves, so that a model''s cache stays warm.';

COMMENT ON COLUMN contexts.reader IS 'Whose memories, and under which limit, the context shows.';

COMMENT ON COLUMN contexts.from_position IS 'The first message that it shows as it was said.';

COMMENT ON COLUMN contexts.memory_ids IS 'In the order in which they are shown.';

CREATE TABLE documents (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    user_id TEXT,
    group_id TEXT,
    title TEXT NOT NULL,
    uri TEXT,
    media_type TEXT NOT NULL,
    content TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT documents_pkey PRIMARY KEY (tenant_id, id)
);

COMMENT ON COLUMN documents.user_id IS 'Whose it is; with neither user nor group it is the whole tenant''s.';

COMMENT ON COLUMN documents.uri IS 'Where it comes from; the same one again is a new version of the same document.';

CREATE INDEX documents_of_user ON documents (tenant_id, user_id);

CREATE INDEX documents_uri ON documents (tenant_id, uri) WHERE uri IS NOT NULL;

CREATE TABLE passages (
    tenant_id TEXT NOT NULL,
    document_id UUID NOT NULL,
    position INTEGER NOT NULL,
    headings TEXT[] DEFAULT '{}' NOT NULL,
    content TEXT NOT NULL,
    from_char INTEGER NOT NULL,
    to_char INTEGER NOT NULL,
    CONSTRAINT passages_pkey PRIMARY KEY (tenant_id, document_id, position)
);

COMMENT ON COLUMN passages.position IS '1, 2, … in reading order.';

COMMENT ON COLUMN passages.from_char IS 'Where in the document it begins, in characters.';

CREATE INDEX sessions_open ON sessions (tenant_id, last_at) WHERE ended_at IS NULL;

CREATE INDEX search_index_shared ON search_index (tenant_id, session_id) WHERE type = 'document' AND user_id IS NULL AND group_id IS NULL;

COMMENT ON COLUMN search_index.type IS 'message, memory or document';

COMMENT ON COLUMN search_index.session_id IS 'Empty for a memory; of a passage its document''s id.';

COMMENT ON COLUMN search_index.ref IS 'The message''s id in its session, the memory''s id, the passage.';
