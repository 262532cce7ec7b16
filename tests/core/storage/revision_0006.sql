-- The database as revision 0006 had it: what a test migrates. It never changes.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE SEQUENCE rule_revision;

CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE api_keys (
    tenant_id text NOT NULL, id text NOT NULL, secret_sha256 text NOT NULL, scopes text[] DEFAULT '{}' NOT NULL,
    name text, created_at timestamptz DEFAULT clock_timestamp() NOT NULL, revoked_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id)
);
COMMENT ON COLUMN api_keys.secret_sha256 IS 'The secret is 256 random bits, so a plain hash is enough.';

CREATE TABLE contexts (
    tenant_id text NOT NULL, session_id text NOT NULL, reader text NOT NULL, from_position integer NOT NULL,
    memory_ids uuid[] NOT NULL, passages text[] DEFAULT '{}' NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL, instruction_ids uuid[] DEFAULT '{}' NOT NULL,
    profile text[] DEFAULT '{}' NOT NULL, CONSTRAINT contexts_pkey PRIMARY KEY (tenant_id, session_id, reader)
);
COMMENT ON TABLE contexts IS
    'What a session''s contexts keep showing until their window moves, so that a model''s cache stays warm.';
COMMENT ON COLUMN contexts.reader IS 'Whose memories, and under which limit, the context shows.';
COMMENT ON COLUMN contexts.from_position IS 'The first message that it shows as it was said.';
COMMENT ON COLUMN contexts.memory_ids IS 'In the order in which they are shown.';
COMMENT ON COLUMN contexts.profile IS 'By which its lines and their values are known again.';

CREATE TABLE decisions (
    tenant_id text NOT NULL, event_seq bigint NOT NULL, rule text NOT NULL, version integer NOT NULL,
    verdict text NOT NULL, reason text, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT decisions_pkey PRIMARY KEY (tenant_id, event_seq, rule)
);
CREATE INDEX decisions_of_rule ON decisions (tenant_id, rule, at);
COMMENT ON COLUMN decisions.verdict IS 'fired, held or gathered';

CREATE TABLE deployment (
    name text NOT NULL, value text NOT NULL, CONSTRAINT deployment_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE deployment IS
    'What holds for the whole installation, such as the embedding model its vectors were made with.';

CREATE TABLE dispatches (
    tenant_id text NOT NULL, id uuid DEFAULT uuidv7() NOT NULL, event_seq bigint, root_seq bigint DEFAULT 0 NOT NULL,
    correlation_id text DEFAULT '' NOT NULL, hop smallint DEFAULT 0 NOT NULL, rule text, rule_version integer,
    action_type text NOT NULL, target text NOT NULL, params jsonb DEFAULT '{}'::jsonb NOT NULL, queue text NOT NULL,
    alone text, status text NOT NULL, attempt integer DEFAULT 0 NOT NULL, sends integer DEFAULT 0 NOT NULL,
    lease uuid, wake_at timestamptz, error text, result jsonb,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL, started_at timestamptz, ended_at timestamptz,
    lane text, lane_limit integer, lineage text[] DEFAULT '{}' NOT NULL, after uuid, hold text,
    expires_at timestamptz, approval jsonb, CONSTRAINT dispatches_pkey PRIMARY KEY (tenant_id, id)
) WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');
CREATE INDEX dispatches_after ON dispatches (tenant_id, after) WHERE (after IS NOT NULL);
CREATE UNIQUE INDEX dispatches_alone ON dispatches (tenant_id, alone)
    WHERE (status = 'running') AND (alone IS NOT NULL);
CREATE INDEX dispatches_dead ON dispatches (tenant_id, id) WHERE (status = 'dead');
CREATE INDEX dispatches_expiring ON dispatches (expires_at) WHERE (status = 'held') AND (expires_at IS NOT NULL);
CREATE INDEX dispatches_lane ON dispatches (tenant_id, lane) WHERE (lane IS NOT NULL) AND (ended_at IS NULL);
CREATE INDEX dispatches_of_event ON dispatches (tenant_id, event_seq);
CREATE INDEX dispatches_of_rule ON dispatches (tenant_id, rule, id) WHERE (rule IS NOT NULL);
CREATE INDEX dispatches_open ON dispatches (tenant_id, root_seq) WHERE (status IN ('pending', 'running', 'retrying'));
CREATE INDEX dispatches_owed ON dispatches (wake_at) WHERE (status IN ('pending', 'running', 'retrying'));
CREATE INDEX dispatches_waiting ON dispatches (tenant_id, alone) WHERE (status = 'pending') AND (alone IS NOT NULL);
COMMENT ON COLUMN dispatches.event_seq IS 'The event it reacts to; null for what could not become one.';
COMMENT ON COLUMN dispatches.alone IS 'Of the dispatches with one such key, one runs at a time.';
COMMENT ON COLUMN dispatches.lease IS 'Token of the attempt that owns it; only its holder may finish it.';
COMMENT ON COLUMN dispatches.wake_at IS 'When the sweep must act: send again, or take the lease back.';
COMMENT ON COLUMN dispatches.lane IS 'Rule and key whose `concurrency` it counts for.';
COMMENT ON COLUMN dispatches.lane_limit IS 'How many of its lane may run at a time.';
COMMENT ON COLUMN dispatches.lineage IS 'As of events, with its rule.';
COMMENT ON COLUMN dispatches.after IS 'The action of the same rule that must be done first.';
COMMENT ON COLUMN dispatches.hold IS 'What a held one waits for: approval, its time, or the turn that `after` names.';
COMMENT ON COLUMN dispatches.expires_at IS 'When an approval that nobody gave is refused, or its time is.';

CREATE TABLE documents (
    tenant_id text NOT NULL, id uuid NOT NULL, user_id text, group_id text, title text NOT NULL, uri text,
    media_type text NOT NULL, content text NOT NULL, sha256 text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL, version integer DEFAULT 1 NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL, CONSTRAINT documents_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX documents_of_user ON documents (tenant_id, user_id);
CREATE INDEX documents_uri ON documents (tenant_id, uri) WHERE (uri IS NOT NULL);
COMMENT ON COLUMN documents.user_id IS 'Whose it is; with neither user nor group it is the whole tenant''s.';
COMMENT ON COLUMN documents.uri IS 'Where it comes from; the same one again is a new version of the same document.';

CREATE TABLE endpoints (
    tenant_id text NOT NULL, address text NOT NULL, failing_since timestamptz, failures integer DEFAULT 0 NOT NULL,
    disabled_at timestamptz, error text, CONSTRAINT endpoints_pkey PRIMARY KEY (tenant_id, address)
);
COMMENT ON COLUMN endpoints.address IS 'A channel''s name, or a webhook''s scheme, host and path.';

CREATE TABLE events (
    tenant_id text NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, source text NOT NULL,
    event_type text NOT NULL, subject text, time timestamptz NOT NULL, payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    session_id text, user_id text, correlation_id text NOT NULL, causation_id text, hop smallint DEFAULT 0 NOT NULL,
    root_seq bigint, dispatch_id uuid, extensions jsonb, received_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    routed_at timestamptz, lineage text[], CONSTRAINT events_pkey PRIMARY KEY (tenant_id, seq),
    CONSTRAINT events_tenant_id_id_source_key UNIQUE (tenant_id, id, source)
) WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000');
CREATE INDEX events_by_time ON events USING brin (time);
CREATE INDEX events_of_chain ON events (tenant_id, causation_id) WHERE (causation_id IS NOT NULL);
CREATE INDEX events_of_session ON events (tenant_id, session_id, seq) WHERE (session_id IS NOT NULL);
CREATE INDEX events_unrouted ON events (seq) WHERE (routed_at IS NULL);
COMMENT ON COLUMN events.seq IS 'Place in the log.';
COMMENT ON COLUMN events.root_seq IS 'First event of the chain; null: this one.';
COMMENT ON COLUMN events.dispatch_id IS 'The dispatch whose effect this event reports.';
COMMENT ON COLUMN events.lineage IS 'Rules that acted on the way from the root of the chain to this event.';

CREATE TABLE evidence (
    tenant_id text NOT NULL, memory_id uuid NOT NULL, session_id text NOT NULL, message_id text NOT NULL,
    event_id text NOT NULL, quote text NOT NULL, at timestamptz DEFAULT clock_timestamp() NOT NULL, change_id uuid,
    CONSTRAINT evidence_pkey PRIMARY KEY (tenant_id, memory_id, session_id, message_id)
);
CREATE INDEX evidence_of_message ON evidence (tenant_id, session_id, message_id);

CREATE TABLE flows (
    tenant_id text NOT NULL, rule text NOT NULL, kind text NOT NULL, key text NOT NULL, version integer NOT NULL,
    gathered integer NOT NULL, event_seqs bigint[] NOT NULL, root_seq bigint NOT NULL, opened_at timestamptz NOT NULL,
    due_at timestamptz, times timestamptz[] DEFAULT '{}' NOT NULL, expires_at timestamptz,
    CONSTRAINT flows_pkey PRIMARY KEY (tenant_id, rule, kind, key)
);
CREATE INDEX flows_due ON flows (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX flows_expired ON flows (expires_at) WHERE (expires_at IS NOT NULL);
COMMENT ON COLUMN flows.kind IS 'The stage: debounce, count, concurrency, cooldown or throttle.';
COMMENT ON COLUMN flows.times IS 'When each of the events came, or when the rule acted.';
COMMENT ON COLUMN flows.expires_at IS 'From then on the row means nothing and may go.';

CREATE TABLE heartbeats (
    process text NOT NULL, at timestamptz NOT NULL, CONSTRAINT heartbeats_pkey PRIMARY KEY (process)
);
COMMENT ON TABLE heartbeats IS 'When each kind of process last said that it works.';

CREATE TABLE hidden_messages (
    tenant_id text NOT NULL, session_id text NOT NULL, message_id text NOT NULL, reason text,
    author jsonb DEFAULT '{}'::jsonb NOT NULL, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT hidden_messages_pkey PRIMARY KEY (tenant_id, session_id, message_id)
);
COMMENT ON TABLE hidden_messages IS
    'Messages that an agent does not want to see again until they are restored; they are kept as they are.';

CREATE TABLE memories (
    tenant_id text NOT NULL, id uuid NOT NULL, user_id text, group_id text, session_id text, subject text NOT NULL,
    kind text NOT NULL, category text NOT NULL, topic text NOT NULL, content text NOT NULL,
    statement_key text NOT NULL, structured jsonb DEFAULT '{}'::jsonb NOT NULL, attribute text, value text,
    importance float8 DEFAULT 0.5 NOT NULL, confidence float8 DEFAULT 0.7 NOT NULL, trust text NOT NULL,
    status text NOT NULL, occurred_at timestamptz NOT NULL, valid_from timestamptz, valid_to timestamptz,
    recorded_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL, expires_at timestamptz, half_life_days float8,
    last_used_at timestamptz, uses integer DEFAULT 0 NOT NULL, pinned boolean DEFAULT false NOT NULL,
    tags text[] DEFAULT '{}' NOT NULL, version integer DEFAULT 1 NOT NULL, fade_height float8 DEFAULT 0.5 NOT NULL,
    fade_floor float8 DEFAULT 0 NOT NULL, fade_half_life float8, fade_at timestamptz,
    level smallint DEFAULT 0 NOT NULL,
    CONSTRAINT memories_owner_check CHECK ((user_id IS NOT NULL) OR (group_id IS NOT NULL)),
    CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX memories_active ON memories (tenant_id, user_id, pinned) WHERE (status = 'active');
CREATE INDEX memories_category ON memories (tenant_id, user_id, category, id);
CREATE INDEX memories_expiring ON memories (tenant_id, expires_at)
    WHERE (status = 'active') AND (expires_at IS NOT NULL);
CREATE INDEX memories_fading ON memories (tenant_id, fade_at) WHERE (status = 'active') AND (fade_at IS NOT NULL);
CREATE INDEX memories_of_group ON memories (tenant_id, group_id, id) WHERE (group_id IS NOT NULL);
CREATE INDEX memories_of_user ON memories (tenant_id, user_id, id);
CREATE INDEX memories_recorded ON memories (tenant_id, user_id, recorded_at, id) WHERE (status = 'active');
CREATE INDEX memories_slot ON memories (tenant_id, user_id, subject, attribute) WHERE (attribute IS NOT NULL);
CREATE INDEX memories_statement ON memories (tenant_id, user_id, statement_key);
COMMENT ON COLUMN memories.statement_key IS 'Hash of the normalised statement, per owner and subject.';
COMMENT ON COLUMN memories.last_used_at IS 'When it was last of use: recalled, confirmed or restored.';
COMMENT ON COLUMN memories.fade_height IS 'The part of its strength that fades, as of its last use.';
COMMENT ON COLUMN memories.fade_floor IS 'The part that stays.';
COMMENT ON COLUMN memories.fade_half_life IS 'Days in which the first part halves; null: it never fades.';
COMMENT ON COLUMN memories.fade_at IS 'When an active one will have faded if nobody uses it; null: never.';
COMMENT ON COLUMN memories.level IS '0: someone said it. 1 and more: drawn together from memories of lower levels.';

CREATE TABLE memory_versions (
    tenant_id text NOT NULL, memory_id uuid NOT NULL, version integer NOT NULL, change text NOT NULL,
    reason text NOT NULL, author jsonb DEFAULT '{}'::jsonb NOT NULL, snapshot jsonb DEFAULT '{}'::jsonb NOT NULL,
    dispatch_id uuid, at timestamptz DEFAULT clock_timestamp() NOT NULL, change_id uuid,
    CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant_id, memory_id, version)
);
CREATE INDEX memory_versions_by_time ON memory_versions (tenant_id, memory_id, at);
CREATE INDEX memory_versions_of_change ON memory_versions (tenant_id, change_id) WHERE (change_id IS NOT NULL);
CREATE INDEX memory_versions_of_dispatch ON memory_versions (tenant_id, dispatch_id);
COMMENT ON COLUMN memory_versions.change_id IS 'What was done at once, and can be undone at once.';

CREATE TABLE messages (
    tenant_id text NOT NULL, session_id text NOT NULL, position integer NOT NULL, id text NOT NULL,
    event_seq bigint NOT NULL, event_id text NOT NULL, user_id text NOT NULL, group_id text, agent_id text,
    role text NOT NULL, speaker text, content text NOT NULL, occurred_at timestamptz NOT NULL, importance float8,
    extras jsonb, token_count integer, CONSTRAINT messages_pkey PRIMARY KEY (tenant_id, session_id, position),
    CONSTRAINT messages_tenant_id_session_id_id_key UNIQUE (tenant_id, session_id, id)
);
COMMENT ON COLUMN messages.position IS '1, 2, … in order of acceptance, without gaps.';
COMMENT ON COLUMN messages.token_count IS 'Tokens of the session up to and with this message.';

CREATE TABLE mirrors (
    tenant_id text NOT NULL, user_id text NOT NULL, file text NOT NULL, content text NOT NULL,
    versions jsonb DEFAULT '{}'::jsonb NOT NULL, synced_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT mirrors_pkey PRIMARY KEY (tenant_id, user_id, file)
);
COMMENT ON COLUMN mirrors.content IS 'The file as both sides last agreed on it.';
COMMENT ON COLUMN mirrors.versions IS 'The version of each memory in it, by id.';

CREATE TABLE model_calls (
    tenant_id text NOT NULL, id uuid DEFAULT uuidv7() NOT NULL, dispatch_id uuid NOT NULL, model text NOT NULL,
    prompt text NOT NULL, input_tokens integer DEFAULT 0 NOT NULL, output_tokens integer DEFAULT 0 NOT NULL,
    latency_ms float8 DEFAULT 0 NOT NULL, outcome text NOT NULL, answer text,
    at timestamptz DEFAULT clock_timestamp() NOT NULL, cost float8 DEFAULT 0 NOT NULL,
    CONSTRAINT model_calls_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX model_calls_by_time ON model_calls (tenant_id, at);
CREATE INDEX model_calls_of_dispatch ON model_calls (tenant_id, dispatch_id);
COMMENT ON COLUMN model_calls.prompt IS 'Name and version of the prompt.';
COMMENT ON COLUMN model_calls.answer IS 'Kept where it could not be used.';

CREATE TABLE notices (
    tenant_id text NOT NULL, id uuid NOT NULL, channel text NOT NULL, digest text NOT NULL, text text NOT NULL,
    user_id text, event_id text NOT NULL, due_at timestamptz NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL, CONSTRAINT notices_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX notices_due ON notices (tenant_id, channel, digest, due_at);
COMMENT ON COLUMN notices.digest IS 'What goes out together: rule and channel; or the dispatch that has taken it.';

CREATE TABLE passages (
    tenant_id text NOT NULL, document_id uuid NOT NULL, position integer NOT NULL,
    headings text[] DEFAULT '{}' NOT NULL, content text NOT NULL, from_char integer NOT NULL,
    to_char integer NOT NULL, CONSTRAINT passages_pkey PRIMARY KEY (tenant_id, document_id, position)
);
COMMENT ON COLUMN passages.position IS '1, 2, … in reading order.';
COMMENT ON COLUMN passages.from_char IS 'Where in the document it begins, in characters.';

CREATE TABLE plans (
    tenant_id text NOT NULL, session_id text NOT NULL, id text NOT NULL, user_id text NOT NULL, group_id text,
    goal text NOT NULL, status text NOT NULL, steps jsonb DEFAULT '[]'::jsonb NOT NULL, current text,
    event_id text NOT NULL, event_seq bigint NOT NULL, version integer DEFAULT 1 NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT plans_pkey PRIMARY KEY (tenant_id, session_id, id)
);
CREATE INDEX plans_of_user ON plans (tenant_id, user_id);
COMMENT ON COLUMN plans.current IS 'Id of the step that is being worked on.';
COMMENT ON COLUMN plans.event_id IS 'The event that said so last.';
COMMENT ON COLUMN plans.event_seq IS 'Its place in the log: an older one changes nothing.';

CREATE TABLE profiles (
    tenant_id text NOT NULL, owner text NOT NULL, version integer NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL, built_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT profiles_pkey PRIMARY KEY (tenant_id, owner)
);
COMMENT ON COLUMN profiles.owner IS 'user:<id> or group:<id>';

CREATE TABLE providers (
    name text NOT NULL, requests float8 NOT NULL, tokens float8 NOT NULL, filled_at timestamptz NOT NULL,
    failures integer DEFAULT 0 NOT NULL, open_until timestamptz, CONSTRAINT providers_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE providers IS
    'Providers of models: what may still be asked this minute, and whether the breaker is open.';
COMMENT ON COLUMN providers.name IS 'Host and model: who counts requests and tokens.';
COMMENT ON COLUMN providers.requests IS 'Left in the bucket at `filled_at`; below zero: owed.';
COMMENT ON COLUMN providers.tokens IS 'Likewise.';
COMMENT ON COLUMN providers.open_until IS 'Until then nobody asks; then one tries.';

CREATE TABLE rebuilds (
    tenant_id text NOT NULL, id uuid NOT NULL, user_id text NOT NULL, shadow_id text NOT NULL, status text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL, difference jsonb, author jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL, ended_at timestamptz,
    CONSTRAINT rebuilds_pkey PRIMARY KEY (tenant_id, id)
);
COMMENT ON COLUMN rebuilds.shadow_id IS 'The tenant in which the rebuilt memories stand until they are taken over.';

CREATE TABLE receipts (
    tenant_id text NOT NULL, id uuid NOT NULL, scope text NOT NULL, body jsonb DEFAULT '{}'::jsonb NOT NULL,
    signature text NOT NULL, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE relations (
    tenant_id text NOT NULL, from_id uuid NOT NULL, relation text NOT NULL, to_id uuid NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL, change_id uuid,
    CONSTRAINT relations_pkey PRIMARY KEY (tenant_id, from_id, relation, to_id)
);
CREATE INDEX relations_back ON relations (tenant_id, to_id);
CREATE INDEX relations_of_change ON relations (tenant_id, change_id) WHERE (change_id IS NOT NULL);

CREATE TABLE rule_versions (
    tenant_id text NOT NULL, name text NOT NULL, version integer NOT NULL, document jsonb, author text NOT NULL,
    comment text, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT rule_versions_pkey PRIMARY KEY (tenant_id, name, version)
);

CREATE TABLE rules (
    tenant_id text NOT NULL, name text NOT NULL, version integer NOT NULL,
    document jsonb DEFAULT '{}'::jsonb NOT NULL, deleted_at timestamptz,
    revision bigint DEFAULT nextval('rule_revision'::regclass) NOT NULL, cost integer DEFAULT 0 NOT NULL,
    CONSTRAINT rules_pkey PRIMARY KEY (tenant_id, name)
);
CREATE INDEX rules_revision ON rules (revision);
COMMENT ON COLUMN rules.cost IS 'Its bound, in comparisons an event.';

CREATE TABLE schedules (
    tenant_id text NOT NULL, rule text NOT NULL, schedule jsonb NOT NULL, fired_to timestamptz NOT NULL,
    due_at timestamptz, page_after text, CONSTRAINT schedules_pkey PRIMARY KEY (tenant_id, rule)
);
COMMENT ON COLUMN schedules.schedule IS 'The time table that `fired_to` was counted by.';
COMMENT ON COLUMN schedules.fired_to IS 'Due times up to this one are dealt with.';
COMMENT ON COLUMN schedules.due_at IS 'The due time that is being handed to one user after another.';
COMMENT ON COLUMN schedules.page_after IS 'The last user it was handed to.';

CREATE TABLE search_changes (
    tenant_id text NOT NULL, owner text NOT NULL, at bigint NOT NULL, type text NOT NULL, session_id text NOT NULL,
    ref text NOT NULL, recorded_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT search_changes_pkey PRIMARY KEY (tenant_id, owner, at, type, session_id, ref)
);
COMMENT ON TABLE search_changes IS
    'Which rows of the search index were written lately, and by which transaction; written by triggers.';
COMMENT ON COLUMN search_changes.owner IS 'user:<id> or group:<id>';
COMMENT ON COLUMN search_changes.at IS 'The id of the transaction that wrote it.';
COMMENT ON COLUMN search_changes.ref IS 'Empty: a message has gone, and nobody shall read here which.';

CREATE TABLE search_index (
    tenant_id text NOT NULL, type text NOT NULL, session_id text NOT NULL, ref text NOT NULL,
    position integer DEFAULT 0 NOT NULL, user_id text, group_id text, occurred_at timestamptz NOT NULL,
    told smallint DEFAULT 0 NOT NULL, timed boolean DEFAULT false NOT NULL, terms sparsevec(999999937) NOT NULL,
    own_terms integer[] NOT NULL, embedding halfvec, embedding_next halfvec, asks boolean DEFAULT false NOT NULL,
    names smallint DEFAULT 0 NOT NULL, CONSTRAINT search_index_pkey PRIMARY KEY (tenant_id, type, session_id, ref)
);
CREATE INDEX search_index_of_group ON search_index (tenant_id, group_id, type) WHERE (group_id IS NOT NULL);
CREATE INDEX search_index_of_user ON search_index (tenant_id, user_id, type);
CREATE INDEX search_index_shared ON search_index (tenant_id, session_id)
    WHERE (type = 'document') AND (user_id IS NULL) AND (group_id IS NULL);
CREATE INDEX search_index_unembedded ON search_index (tenant_id, session_id) WHERE (embedding IS NULL);
COMMENT ON COLUMN search_index.type IS 'message, memory or document';
COMMENT ON COLUMN search_index.session_id IS 'Empty for a memory; of a passage its document''s id.';
COMMENT ON COLUMN search_index.ref IS 'The message''s id in its session, the memory''s id, the passage.';
COMMENT ON COLUMN search_index.told IS 'Terms outside of questions.';
COMMENT ON COLUMN search_index.terms IS 'BM25 document weights by term id.';
COMMENT ON COLUMN search_index.own_terms IS 'Terms counted for this row in term_counts.';
COMMENT ON COLUMN search_index.embedding IS 'Null until made: found by its words alone.';
COMMENT ON COLUMN search_index.embedding_next IS 'By the other of two models, where there are two; see core.places.';
COMMENT ON COLUMN search_index.names IS 'Names that are spoken of.';

CREATE TABLE servings (
    tenant_id text NOT NULL, user_id text NOT NULL, hash text NOT NULL, memory_id uuid,
    at timestamptz DEFAULT clock_timestamp() NOT NULL, CONSTRAINT servings_pkey PRIMARY KEY (tenant_id, user_id, hash)
);
CREATE INDEX servings_by_time ON servings (tenant_id, at);
COMMENT ON COLUMN servings.hash IS 'Hash of a text that was handed out: what comes back soon is an echo.';

CREATE TABLE sessions (
    tenant_id text NOT NULL, id text NOT NULL, user_id text, group_id text, started_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL, ended_at timestamptz, message_count integer DEFAULT 0 NOT NULL,
    token_count integer DEFAULT 0 NOT NULL, extracted_to integer DEFAULT 0 NOT NULL,
    indexed_to integer DEFAULT 0 NOT NULL, state jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (tenant_id, id)
) WITH (fillfactor='70');
CREATE INDEX sessions_of_user ON sessions (tenant_id, user_id);
CREATE INDEX sessions_open ON sessions (tenant_id, last_at) WHERE (ended_at IS NULL);
CREATE INDEX sessions_unindexed ON sessions (tenant_id, user_id) WHERE (indexed_to < message_count);
COMMENT ON COLUMN sessions.extracted_to IS 'Last position extracted.';
COMMENT ON COLUMN sessions.indexed_to IS 'Last position indexed.';

CREATE TABLE summaries (
    tenant_id text NOT NULL, session_id text NOT NULL, to_position integer NOT NULL, content text NOT NULL,
    key_messages jsonb DEFAULT '[]'::jsonb NOT NULL, token_count integer DEFAULT 0 NOT NULL, prompt text,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT summaries_pkey PRIMARY KEY (tenant_id, session_id, to_position)
);
COMMENT ON TABLE summaries IS 'Rolling summaries of long sessions; the last one holds what those before it said.';
COMMENT ON COLUMN summaries.to_position IS 'It stands for all messages up to this one.';
COMMENT ON COLUMN summaries.prompt IS 'The prompt of the model that wrote it; null: by rules.';

CREATE TABLE sweeps (
    tenant_id text NOT NULL, user_id text NOT NULL, recorded_at timestamptz NOT NULL, memory_id uuid NOT NULL,
    CONSTRAINT sweeps_pkey PRIMARY KEY (tenant_id, user_id)
);
COMMENT ON COLUMN sweeps.recorded_at IS 'Memories up to here were compared.';
COMMENT ON COLUMN sweeps.memory_id IS 'Of those recorded at that very moment, up to this one.';

CREATE TABLE tenants (
    id text NOT NULL, created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    allows_high_risk boolean DEFAULT false NOT NULL, fade_formula text DEFAULT 'fading' NOT NULL,
    fade_under float8 DEFAULT 0.05 NOT NULL,
    salt text DEFAULT ((gen_random_uuid())::text || (gen_random_uuid())::text) NOT NULL,
    CONSTRAINT tenants_name_check CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    CONSTRAINT tenants_pkey PRIMARY KEY (id)
);
COMMENT ON COLUMN tenants.allows_high_risk IS 'Whether rules of high risk may run without anyone''s approval.';
COMMENT ON COLUMN tenants.fade_formula IS 'By which its memories'' curves were drawn.';
COMMENT ON COLUMN tenants.fade_under IS 'The strength below which they were to count as faded.';
COMMENT ON COLUMN tenants.salt IS 'Goes into every hash of what was erased, so that nobody can guess it from outside.';

CREATE TABLE term_counts (
    tenant_id text NOT NULL, owner text NOT NULL, term integer NOT NULL, documents integer DEFAULT 0 NOT NULL,
    CONSTRAINT term_counts_pkey PRIMARY KEY (tenant_id, owner, term)
);
COMMENT ON COLUMN term_counts.owner IS 'user:<id> or group:<id>';

CREATE TABLE tombstones (
    tenant_id text NOT NULL, hash text NOT NULL, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_id, hash)
);
COMMENT ON COLUMN tombstones.hash IS 'Salted hash of an erased statement of one user; see core.tombstones.';

CREATE TABLE units (
    tenant_id text NOT NULL, id uuid NOT NULL, session_id text NOT NULL, group_id text,
    from_position integer NOT NULL, to_position integer NOT NULL, boundary text NOT NULL, subject text NOT NULL,
    summary text NOT NULL, narrative text NOT NULL, participants text[] DEFAULT '{}' NOT NULL,
    keywords text[] DEFAULT '{}' NOT NULL, facts jsonb DEFAULT '[]'::jsonb NOT NULL, started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL, prompt text, updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT units_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT units_tenant_id_session_id_from_position_key UNIQUE (tenant_id, session_id, from_position)
);
COMMENT ON TABLE units IS 'Slices of conversations, each on one topic.';
COMMENT ON COLUMN units.boundary IS 'Why it begins here: start, gap, shift, marker or length.';
COMMENT ON COLUMN units.prompt IS 'The prompt a model retold it by; null: by rules.';

CREATE TABLE verdicts (
    tenant_id text NOT NULL, id uuid NOT NULL, user_id text NOT NULL, group_id text, kind text NOT NULL,
    reason text NOT NULL, candidate jsonb DEFAULT '{}'::jsonb NOT NULL, memory_id uuid, other_id uuid,
    author jsonb DEFAULT '{}'::jsonb NOT NULL, dispatch_id uuid, at timestamptz DEFAULT clock_timestamp() NOT NULL,
    undone_by uuid, CONSTRAINT verdicts_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX verdicts_of_memory ON verdicts (tenant_id, memory_id);
CREATE INDEX verdicts_of_user ON verdicts (tenant_id, user_id, id);
COMMENT ON COLUMN verdicts.id IS 'The change that carried it out.';
COMMENT ON COLUMN verdicts.memory_id IS 'The memory that stands for what was said; null: it was not kept.';
COMMENT ON COLUMN verdicts.other_id IS 'The memory that was absorbed, superseded or contradicted.';
COMMENT ON COLUMN verdicts.undone_by IS 'The change that undid it.';

CREATE TABLE working (
    tenant_id text NOT NULL, session_id text NOT NULL, key text NOT NULL, value jsonb NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL, expires_at timestamptz,
    CONSTRAINT working_pkey PRIMARY KEY (tenant_id, session_id, key)
);
CREATE INDEX working_expiring ON working (tenant_id, expires_at) WHERE (expires_at IS NOT NULL);
COMMENT ON TABLE working IS
    'What an agent keeps at hand while a session lasts: any JSON, gone with the end of the session.';

ALTER TABLE search_index ALTER COLUMN terms SET STORAGE MAIN;
ALTER TABLE search_index ALTER COLUMN embedding SET STORAGE MAIN;

DO $$
DECLARE name regclass;
BEGIN
    FOR name IN SELECT attrelid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                WHERE attname = 'tenant_id' AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO imprint_app', name);
        EXECUTE format('CREATE POLICY own_rows ON %1$s TO imprint_app USING (%2$s) WITH CHECK (%2$s)', name,
                       $own$tenant_id = current_setting('imprint.tenant', true)$own$);
    END LOOP;
END $$;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY all_queues ON decisions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON dispatches TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON events TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON flows TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON rule_versions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON rules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON schedules TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_queues ON sessions TO imprint_router USING (true) WITH CHECK (true);
CREATE POLICY all_tenants ON tenants FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON memories FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON messages FOR SELECT TO imprint_router USING (true);
CREATE POLICY lookups ON model_calls FOR SELECT TO imprint_router USING (true);
CREATE POLICY only_rebuilds ON tenants AS RESTRICTIVE FOR DELETE TO imprint_app USING (id ~~ 'rebuild-%');
CREATE POLICY own_row ON tenants TO imprint_app
    USING (id = current_setting('imprint.tenant', true)) WITH CHECK (id = current_setting('imprint.tenant', true));

CREATE SCHEMA second;

CREATE VIEW second.search_index WITH (security_invoker = true) AS SELECT tenant_id, type, session_id, ref, position,
user_id, group_id, occurred_at, told, timed, terms, own_terms, embedding_next AS embedding, xmin, asks, names FROM
public.search_index;

COMMENT ON VIEW second.search_index IS 'The same rows, with the vectors of the other model; see core.places.';
GRANT USAGE ON SCHEMA public TO imprint_app;
GRANT USAGE ON SCHEMA public TO imprint_router;
GRANT USAGE ON SCHEMA second TO imprint_app;
GRANT SELECT ON alembic_version, deployment TO imprint_app;
GRANT SELECT ON alembic_version, deployment, rule_versions, rules, sessions, tenants TO imprint_router;
GRANT SELECT, INSERT, UPDATE ON decisions, dispatches, events TO imprint_router;
GRANT SELECT, INSERT, DELETE, UPDATE ON flows, heartbeats, schedules TO imprint_router;
GRANT SELECT, INSERT, DELETE, UPDATE ON heartbeats, providers, second.search_index TO imprint_app;
GRANT USAGE ON SEQUENCE rule_revision TO imprint_app;
GRANT SELECT, INSERT, DELETE ON tenants TO imprint_app;
GRANT SELECT (tenant_id, id, user_id, importance, status, recorded_at) ON memories TO imprint_router;
GRANT SELECT (tenant_id, session_id, position, event_seq, occurred_at, token_count) ON messages TO imprint_router;
GRANT SELECT (tenant_id, input_tokens, output_tokens, at, cost) ON model_calls TO imprint_router;
GRANT UPDATE (allows_high_risk, fade_formula, fade_under) ON tenants TO imprint_app;

CREATE FUNCTION note_indexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, c.session_id, c.ref
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type <> 'document' AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_remembered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT n.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'memory', '', n.id::text
    FROM (SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned FROM new_rows
          EXCEPT
          SELECT tenant_id, id, user_id, group_id, status, trust, kind, category, topic, tags, importance, valid_from, valid_to,
                 occurred_at, expires_at, session_id, pinned FROM old_rows) AS n,
         LATERAL (VALUES ('user:' || n.user_id), ('group:' || n.group_id)) AS o (owner)
    WHERE o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_unindexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Where a message has gone all is read anew: no other note of a message is needed, and no row is looked for by name.
    DELETE FROM public.search_changes WHERE ctid = ANY(ARRAY(
        SELECT s.ctid FROM public.search_changes s
        JOIN (SELECT DISTINCT c.tenant_id, o.owner
              FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
              WHERE c.type = 'message' AND o.owner IS NOT NULL) AS w ON w.tenant_id = s.tenant_id AND w.owner = s.owner
        WHERE s.type = 'message' AND s.ref <> '' FOR UPDATE OF s SKIP LOCKED));
    INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT DISTINCT c.tenant_id, o.owner, pg_current_xact_id()::text::bigint, c.type, '',
           CASE WHEN c.type = 'memory' THEN c.ref ELSE '' END
    FROM changed c, LATERAL (VALUES ('user:' || c.user_id), ('group:' || c.group_id)) AS o (owner)
    WHERE c.type <> 'document' AND o.owner IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION note_witnessed() RETURNS trigger LANGUAGE plpgsql AS $_$
BEGIN
    -- Planned each time: by a plan made for one row, twenty thousand would be looked for one by one in all memories.
    EXECUTE $insert$
        INSERT INTO public.search_changes (tenant_id, owner, at, type, session_id, ref)
        SELECT DISTINCT m.tenant_id, o.owner, pg_current_xact_id()::text::bigint, 'memory', '', m.id::text
        FROM changed c JOIN public.memories m ON m.tenant_id = c.tenant_id AND m.id = c.memory_id,
             LATERAL (VALUES ('user:' || m.user_id), ('group:' || m.group_id)) AS o (owner)
        WHERE o.owner IS NOT NULL
        ON CONFLICT DO NOTHING
    $insert$;
    RETURN NULL;
END $_$;

CREATE TRIGGER indexed AFTER INSERT ON search_index
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_indexed();
CREATE TRIGGER indexed_anew AFTER UPDATE ON search_index
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_indexed();
CREATE TRIGGER remembered AFTER UPDATE ON memories
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_remembered();
CREATE TRIGGER unindexed AFTER DELETE ON search_index
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_unindexed();
CREATE TRIGGER unwitnessed AFTER DELETE ON evidence
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_witnessed();
CREATE TRIGGER witnessed AFTER INSERT ON evidence
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_witnessed();

INSERT INTO alembic_version VALUES ('0006');
