ALTER TABLE tenants ADD COLUMN allows_high_risk BOOLEAN DEFAULT false NOT NULL;

COMMENT ON COLUMN tenants.allows_high_risk IS 'Whether rules of high risk may run without anyone''s approval.';

ALTER TABLE events ADD COLUMN lineage TEXT[];

COMMENT ON COLUMN events.lineage IS 'Rules that acted on the way from the root of the chain to this event.';

ALTER TABLE messages ADD COLUMN token_count INTEGER;

COMMENT ON COLUMN messages.token_count IS 'Tokens of the session up to and with this message.';

CREATE INDEX decisions_of_rule ON decisions (tenant_id, rule, at);

CREATE TABLE schedules (
    tenant_id TEXT NOT NULL,
    rule TEXT NOT NULL,
    schedule JSONB NOT NULL,
    fired_to TIMESTAMP WITH TIME ZONE NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    page_after TEXT,
    CONSTRAINT schedules_pkey PRIMARY KEY (tenant_id, rule)
);

COMMENT ON COLUMN schedules.schedule IS 'The time table that `fired_to` was counted by.';

COMMENT ON COLUMN schedules.fired_to IS 'Due times up to this one are dealt with.';

COMMENT ON COLUMN schedules.due_at IS 'The due time that is being handed to one user after another.';

COMMENT ON COLUMN schedules.page_after IS 'The last user it was handed to.';

ALTER TABLE flows
    ADD COLUMN times TIMESTAMP WITH TIME ZONE[] DEFAULT '{}' NOT NULL,
    ADD COLUMN expires_at TIMESTAMP WITH TIME ZONE;

-- Forced row-level security binds the owner too, who would find nothing to fill in.
ALTER TABLE flows NO FORCE ROW LEVEL SECURITY;

UPDATE flows SET times = array_fill(opened_at, ARRAY[cardinality(event_seqs)]);

ALTER TABLE flows FORCE ROW LEVEL SECURITY;

COMMENT ON COLUMN flows.kind IS 'The stage: debounce, count, concurrency, cooldown or throttle.';

COMMENT ON COLUMN flows.times IS 'When each of the events came, or when the rule acted.';

COMMENT ON COLUMN flows.expires_at IS 'From then on the row means nothing and may go.';

CREATE INDEX flows_expired ON flows (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE dispatches
    ADD COLUMN lane TEXT,
    ADD COLUMN lane_limit INTEGER,
    ADD COLUMN lineage TEXT[] DEFAULT '{}' NOT NULL,
    ADD COLUMN after UUID,
    ADD COLUMN hold TEXT,
    ADD COLUMN expires_at TIMESTAMP WITH TIME ZONE,
    ADD COLUMN approval JSONB;

COMMENT ON COLUMN dispatches.lane IS 'Rule and key whose `concurrency` it counts for.';

COMMENT ON COLUMN dispatches.lane_limit IS 'How many of its lane may run at a time.';

COMMENT ON COLUMN dispatches.lineage IS 'As of events, with its rule.';

COMMENT ON COLUMN dispatches.after IS 'The action of the same rule that must be done first.';

COMMENT ON COLUMN dispatches.hold IS 'What a held one waits for: approval, or the turn that `after` names.';

COMMENT ON COLUMN dispatches.expires_at IS 'When an approval that nobody gave is refused.';

CREATE INDEX dispatches_after ON dispatches (tenant_id, after) WHERE after IS NOT NULL;

CREATE INDEX dispatches_lane ON dispatches (tenant_id, lane) WHERE lane IS NOT NULL AND ended_at IS NULL;

CREATE INDEX dispatches_expiring ON dispatches (expires_at) WHERE status = 'held' AND expires_at IS NOT NULL;

CREATE INDEX dispatches_of_rule ON dispatches (tenant_id, rule, id) WHERE rule IS NOT NULL;

ALTER TABLE model_calls ADD COLUMN cost DOUBLE PRECISION DEFAULT 0 NOT NULL;

CREATE INDEX model_calls_by_time ON model_calls (tenant_id, at);

-- A few bytes for each megabyte of the log, which is nearly in order of time: a look at a stretch of it reads only that.
CREATE INDEX events_by_time ON events USING brin (time);

ALTER TABLE rules ADD COLUMN cost INTEGER DEFAULT 0 NOT NULL;

COMMENT ON COLUMN rules.cost IS 'Its bound, in comparisons an event.';
