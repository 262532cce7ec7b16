ALTER TABLE memories ADD COLUMN features BYTEA;

COMMENT ON COLUMN memories.features IS 'Digests and numbers of the content that the judge compares; null: unknown.';

CREATE FUNCTION drop_features() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.features := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER reworded BEFORE UPDATE OF content ON memories
FOR EACH ROW WHEN (OLD.content IS DISTINCT FROM NEW.content) EXECUTE FUNCTION drop_features();
