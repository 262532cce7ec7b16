ALTER TABLE memories ADD COLUMN said_at TIMESTAMP WITH TIME ZONE;

COMMENT ON COLUMN memories.said_at IS 'When it was said last; of two values of a slot the later holds.';

UPDATE memories m SET said_at = told.at FROM (
    SELECT e.tenant_id, e.memory_id, max(s.occurred_at) AS at FROM evidence e
    JOIN messages s ON s.tenant_id = e.tenant_id AND s.session_id = e.session_id AND s.id = e.message_id
    GROUP BY e.tenant_id, e.memory_id
) AS told WHERE told.tenant_id = m.tenant_id AND told.memory_id = m.id;

UPDATE memories SET attribute = replace(attribute, 'colour', 'color') WHERE attribute LIKE '%colour%'
