ALTER TABLE tenants
    ADD COLUMN fade_formula TEXT DEFAULT 'fading' NOT NULL,
    ADD COLUMN fade_under DOUBLE PRECISION DEFAULT 0.05 NOT NULL;

COMMENT ON COLUMN tenants.fade_formula IS 'By which its memories'' curves were drawn.';

COMMENT ON COLUMN tenants.fade_under IS 'The strength below which they were to count as faded.';

ALTER TABLE memories
    ADD COLUMN fade_height DOUBLE PRECISION DEFAULT 0.5 NOT NULL,
    ADD COLUMN fade_floor DOUBLE PRECISION DEFAULT 0 NOT NULL,
    ADD COLUMN fade_half_life DOUBLE PRECISION,
    ADD COLUMN fade_at TIMESTAMP WITH TIME ZONE;

COMMENT ON COLUMN memories.fade_height IS 'The part of its strength that fades, as of its last use.';

COMMENT ON COLUMN memories.fade_floor IS 'The part that stays.';

COMMENT ON COLUMN memories.fade_half_life IS 'Days in which the first part halves; null: it never fades.';

COMMENT ON COLUMN memories.fade_at IS 'When an active one will have faded if nobody uses it; null: never.';

COMMENT ON COLUMN memories.last_used_at IS 'When it was last of use: recalled, confirmed or restored.';

-- As core.forget has it when this runs: later formulas reach old rows by the nightly sweep.
UPDATE memories m SET
    fade_height = least(1, greatest(0, m.importance)),
    fade_half_life = CASE WHEN NOT m.pinned AND m.category <> 'instruction' THEN
        coalesce(CASE WHEN m.half_life_days > 0 AND m.half_life_days < 'Infinity' THEN m.half_life_days END,
                 CASE m.category WHEN 'knowledge' THEN 365 WHEN 'pattern' THEN 365 WHEN 'skill' THEN 365
                     WHEN 'project' THEN 90 WHEN 'episode' THEN 60 WHEN 'event' THEN 60 WHEN 'plan' THEN 30
                     ELSE 180 END)
        * (1 + 0.5 * ln(1 + m.uses) / ln(2)
             + 0.25 * ln(greatest(1, (SELECT count(*) FROM evidence e
                                      WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id))) / ln(2)
             + 0.1 * ln(1 + (SELECT count(*) FROM relations r
                             WHERE r.tenant_id = m.tenant_id AND m.id IN (r.from_id, r.to_id)
                               AND r.relation NOT IN ('contradicts', 'supersedes'))) / ln(2)) END
WHERE status <> 'erased';

UPDATE memories SET fade_at = coalesce(last_used_at, recorded_at) + make_interval(
    secs => 86400 * CASE WHEN fade_height <= 0.05 THEN 0 ELSE fade_half_life * ln(fade_height / 0.05) / ln(2) END)
WHERE status = 'active' AND fade_half_life < 300000;

CREATE INDEX memories_fading ON memories (tenant_id, fade_at) WHERE status = 'active' AND fade_at IS NOT NULL;

CREATE INDEX memories_expiring ON memories (tenant_id, expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;

CREATE INDEX memories_active ON memories (tenant_id, user_id, pinned) WHERE status = 'active';

CREATE TABLE sweeps (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
    memory_id UUID NOT NULL,
    CONSTRAINT sweeps_pkey PRIMARY KEY (tenant_id, user_id)
);

COMMENT ON COLUMN sweeps.recorded_at IS 'Memories up to here were compared.';

COMMENT ON COLUMN sweeps.memory_id IS 'Of those recorded at that very moment, up to this one.';

CREATE INDEX memories_recorded ON memories (tenant_id, user_id, recorded_at, id) WHERE status = 'active';
