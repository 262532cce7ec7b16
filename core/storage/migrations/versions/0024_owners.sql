CREATE TABLE owners (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    known_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT owners_pkey PRIMARY KEY (tenant_id, kind, id)
);

INSERT INTO owners (tenant_id, kind, id, known_at, last_at)
SELECT tenant_id, kind, id, min(first_at), least(max(last_at), clock_timestamp()) FROM (
    SELECT tenant_id, 'user' AS kind, user_id AS id, min(started_at) AS first_at, max(last_at) AS last_at
    FROM sessions GROUP BY tenant_id, user_id
    UNION ALL
    SELECT tenant_id, 'group', group_id, min(started_at), max(last_at) FROM sessions GROUP BY tenant_id, group_id
    UNION ALL
    SELECT tenant_id, 'user', user_id, min(occurred_at), max(occurred_at) FROM messages
    WHERE group_id IS NOT NULL GROUP BY tenant_id, user_id
    UNION ALL
    SELECT tenant_id, 'user', user_id, min(recorded_at), max(coalesce(said_at, recorded_at)) FROM memories GROUP BY tenant_id, user_id
    UNION ALL
    SELECT tenant_id, 'group', group_id, min(recorded_at), max(coalesce(said_at, recorded_at)) FROM memories GROUP BY tenant_id, group_id
    UNION ALL
    SELECT tenant_id, 'user', user_id, min(created_at), max(updated_at) FROM documents GROUP BY tenant_id, user_id
    UNION ALL
    SELECT tenant_id, 'group', group_id, min(created_at), max(updated_at) FROM documents GROUP BY tenant_id, group_id
) AS held
WHERE id <> ''
GROUP BY tenant_id, kind, id;

CREATE INDEX owners_by_last ON owners (tenant_id, kind, last_at, id);

CREATE INDEX sessions_of_group ON sessions (tenant_id, group_id, last_at, id) WHERE group_id IS NOT NULL;

ALTER TABLE heartbeats
    ADD COLUMN since TIMESTAMP WITH TIME ZONE,
    ADD COLUMN version TEXT,
    ADD COLUMN gauges JSONB;

COMMENT ON TABLE owners IS 'Users and groups of whom something is or was held, until they are erased.';

COMMENT ON COLUMN owners.kind IS 'user or group';

COMMENT ON COLUMN owners.known_at IS 'Since when something is held of it.';

COMMENT ON COLUMN owners.last_at IS 'When something of it was said or sent last, to within a minute.';

COMMENT ON COLUMN heartbeats.since IS 'When it started; of several of a kind, the one that said so last.';

COMMENT ON COLUMN heartbeats.version IS 'Its version of Imprint.';

COMMENT ON COLUMN heartbeats.gauges IS 'Of the clock: what waits in the whole installation, as it counted last.'
