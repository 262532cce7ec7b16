ALTER TABLE api_keys ADD COLUMN last_used_at TIMESTAMP WITH TIME ZONE;

COMMENT ON COLUMN api_keys.last_used_at IS 'To within a minute.';

CREATE INDEX dispatches_held ON dispatches (tenant_id, hold, id) WHERE hold IS NOT NULL;

CREATE INDEX dispatches_outbound ON dispatches (tenant_id, id) WHERE action_type IN ('webhook', 'notify', 'celery');

CREATE INDEX memories_questioned ON memories (tenant_id, trust, id) WHERE status = 'active' AND trust IN ('disputed', 'quarantined')
