"""Alarms: an index of events by type and time, what the alarms of each rule look like, and reading rights to count."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(_STATEMENTS)


_STATEMENTS: Final = """
    CREATE INDEX IF NOT EXISTS events_of_type ON events (tenant_id, event_type, received_at);

    CREATE TABLE alarms (
        tenant_id text NOT NULL,
        rule text NOT NULL,
        key text NOT NULL,
        for_each text NOT NULL,
        version integer NOT NULL,
        raised_at timestamptz,
        looked_at timestamptz NOT NULL,
        counts jsonb DEFAULT '{}'::jsonb NOT NULL,
        partial boolean DEFAULT false NOT NULL,
        CONSTRAINT alarms_pkey PRIMARY KEY (tenant_id, rule, key)
    ) WITH (fillfactor = 50);
    COMMENT ON TABLE alarms IS 'Alarms: those that are raised, and of each rule its last look.';
    COMMENT ON COLUMN alarms.key IS 'The user, session or source; empty: the tenant, or the last look.';
    COMMENT ON COLUMN alarms.for_each IS 'What the key is: tenant, user, session or source.';
    COMMENT ON COLUMN alarms.version IS 'Version of the rule that looked.';
    COMMENT ON COLUMN alarms.raised_at IS 'Since when the conditions have held; null: they do not.';
    COMMENT ON COLUMN alarms.looked_at IS 'Due time that was counted for.';
    COMMENT ON COLUMN alarms.counts IS 'What was counted then.';
    COMMENT ON COLUMN alarms.partial IS
        'Whether there were too many rows to count: nothing was raised or cleared.';
    ALTER TABLE alarms ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON alarms TO imprint_app
        USING (tenant_id = current_setting('imprint.tenant', true))
        WITH CHECK (tenant_id = current_setting('imprint.tenant', true));
    CREATE POLICY all_queues ON alarms TO imprint_router USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE, DELETE ON alarms TO imprint_app, imprint_router;

    CREATE POLICY lookups ON evidence FOR SELECT TO imprint_router USING (true);
    GRANT SELECT (tenant_id, memory_id, event_id) ON evidence TO imprint_router;
"""
