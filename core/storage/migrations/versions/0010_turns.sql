ALTER TABLE dispatches
    ADD COLUMN turn TEXT,
    ADD COLUMN overruns INTEGER DEFAULT 0 NOT NULL,
    ADD COLUMN deadline_at TIMESTAMP WITH TIME ZONE;

COMMENT ON COLUMN dispatches.turn IS 'ready: waits until its tenant may run another on this queue; sent: given to the broker; null: waits for wake_at.';

COMMENT ON COLUMN dispatches.overruns IS 'Attempts that were ended because they took too long.';

COMMENT ON COLUMN dispatches.deadline_at IS 'When the process of the current attempt is ended, whatever it does.';

CREATE INDEX dispatches_turns ON dispatches (tenant_id, queue, turn, id) WHERE turn IS NOT NULL AND status IN ('pending', 'running');

DROP INDEX dispatches_owed;

CREATE INDEX dispatches_owed ON dispatches (tenant_id, wake_at) WHERE status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL;

DROP INDEX events_unrouted;

CREATE INDEX events_unrouted ON events (tenant_id, seq) WHERE routed_at IS NULL;

ALTER TABLE heartbeats
    ADD COLUMN queue TEXT,
    ADD COLUMN processes INTEGER,
    ADD COLUMN cores INTEGER,
    ADD COLUMN tenants INTEGER;

COMMENT ON COLUMN heartbeats.queue IS 'Of one worker: the queue that its processes serve.';

COMMENT ON COLUMN heartbeats.processes IS 'Of one worker: how many of them.';

COMMENT ON COLUMN heartbeats.cores IS 'Of one worker: how many of them can compute at once.';

COMMENT ON COLUMN heartbeats.tenants IS 'Of the router: how many tenants had events within a minute.';
