"""The trace context of a dispatch."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(_TRACE)


_TRACE: Final = """
    ALTER TABLE dispatches ADD COLUMN trace jsonb;
    COMMENT ON COLUMN dispatches.trace IS
        'Trace context in which it was decided, as headers; null: there was none.';
    ALTER TYPE claim ADD ATTRIBUTE trace jsonb;

CREATE OR REPLACE FUNCTION claim_dispatch(wanted uuid, holder uuid, lease_seconds float8, limits json)
RETURNS SETOF claim LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    claimed uuid := coalesce(wanted, nullif(current_setting('imprint.claimed', true), '')::uuid);
    turn_was text := 'ready';
    place bigint;
BEGIN
    IF claimed IS NULL THEN
        RETURN;
    END IF;
    IF wanted IS NOT NULL THEN
        UPDATE dispatches d SET
            status = 'running', attempt = d.attempt + 1, lease = holder, turn = 'sent', started_at = clock_timestamp(),
            wake_at = clock_timestamp() + make_interval(secs => lease_seconds),
            deadline_at = clock_timestamp() + make_interval(secs => (limits ->> d.target)::float8)
        WHERE d.id = wanted AND (d.status = 'pending' OR (d.status = 'retrying' AND d.wake_at <= clock_timestamp()))
        RETURNING old.turn, d.event_seq INTO turn_was, place;
    ELSE
        SELECT d.event_seq INTO place FROM dispatches d WHERE d.id = claimed;
    END IF;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.tenant_id, d.id, d.action_type, d.target, d.params, d.queue, d.priority, d.rule, d.rule_version, d.attempt,
           d.lease, d.alone, d.lane, d.lane_limit, d.overruns, d.replay_id, d.root_seq, d.correlation_id, d.hop,
           d.lineage, turn_was,
           CASE WHEN d.approval IS NULL AND d.after IS NULL AND d.expires_at IS NULL AND d.error IS NULL
                THEN extract(epoch FROM clock_timestamp() - d.created_at)::float8 END,
           (SELECT s.value FROM tenant_settings s WHERE s.tenant_id = d.tenant_id AND s.name = 'embedding'),
           e.seq, e.id, e.source, e.event_type, e.subject, e.time, e.payload, e.session_id, e.user_id, e.causation_id,
           e.extensions, d.trace
    -- By a value that is known: a plan that joins by a column could read the whole log.
    FROM dispatches d LEFT JOIN events e ON e.seq = place
    WHERE d.id = claimed;
END
$$;
"""
