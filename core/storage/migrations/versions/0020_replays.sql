CREATE TABLE replays (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    request TEXT,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    params JSONB DEFAULT '{}'::jsonb NOT NULL,
    events INTEGER DEFAULT 0 NOT NULL,
    decided INTEGER DEFAULT 0 NOT NULL,
    cursor BIGINT NOT NULL,
    upto BIGINT NOT NULL,
    flow JSONB,
    counts JSONB DEFAULT '{}'::jsonb NOT NULL,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT replays_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT replays_tenant_id_request_key UNIQUE (tenant_id, request)
);

CREATE TABLE replay_decisions (
    tenant_id TEXT NOT NULL,
    replay_id UUID NOT NULL,
    event_seq BIGINT NOT NULL,
    rule TEXT NOT NULL,
    version INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT,
    CONSTRAINT replay_decisions_pkey PRIMARY KEY (tenant_id, replay_id, event_seq, rule)
);

CREATE INDEX replay_decisions_of_event ON replay_decisions (tenant_id, event_seq);

COMMENT ON TABLE replays IS 'Replays of events: rules that decide stored events again.';

COMMENT ON COLUMN replays.request IS 'Digest of the idempotency key and of who sent it.';

COMMENT ON COLUMN replays.mode IS 'shadow or live';

COMMENT ON COLUMN replays.status IS 'running, done or cancelled';

COMMENT ON COLUMN replays.params IS 'The filter, the rules with their versions, and what was asked.';

COMMENT ON COLUMN replays.events IS 'How many it decides on.';

COMMENT ON COLUMN replays.decided IS 'How many of them it has decided on.';

COMMENT ON COLUMN replays.cursor IS 'The last of them in the log.';

COMMENT ON COLUMN replays.upto IS 'Where in the log it ends.';

COMMENT ON COLUMN replays.flow IS 'Flow control on the time of the events, until the end.';

COMMENT ON COLUMN replays.counts IS 'By rule.';

COMMENT ON TABLE replay_decisions IS 'Decisions of replays; those that were made as the events came are in decisions.';

COMMENT ON COLUMN replay_decisions.verdict IS 'fired, held or gathered';

ALTER TABLE dispatches ADD COLUMN replay_id UUID;

COMMENT ON COLUMN dispatches.replay_id IS 'The replay that decided it; null: the event was decided as it came.';

CREATE INDEX dispatches_of_replay ON dispatches (tenant_id, replay_id, status) WHERE replay_id IS NOT NULL
