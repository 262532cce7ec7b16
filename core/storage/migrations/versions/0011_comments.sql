COMMENT ON COLUMN search_index.embedding_next IS 'By the other of two models, where there are two.';

COMMENT ON COLUMN tombstones.hash IS 'Salted hash of an erased statement of one user.';

COMMENT ON VIEW second.search_index IS 'The same rows, with the vectors of the other model.';

COMMENT ON COLUMN secrets.sealed IS 'AES-256-GCM, bound to tenant, kind and name.'
