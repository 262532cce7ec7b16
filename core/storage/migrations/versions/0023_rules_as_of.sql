ALTER TABLE events ADD COLUMN rules_as_of TIMESTAMP WITH TIME ZONE;

COMMENT ON COLUMN events.rules_as_of IS 'When the router had read the rules by which it decided; null: when it was routed.'
