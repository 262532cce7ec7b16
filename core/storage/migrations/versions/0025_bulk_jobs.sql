CREATE TABLE bulk_jobs (
    tenant_id TEXT NOT NULL,
    id UUID NOT NULL,
    request TEXT,
    asked TEXT NOT NULL,
    action TEXT NOT NULL,
    preview BOOLEAN DEFAULT false NOT NULL,
    of_preview UUID,
    status TEXT NOT NULL,
    params JSONB DEFAULT '{}'::jsonb NOT NULL,
    chosen JSONB DEFAULT '{}'::jsonb NOT NULL,
    rows INTEGER DEFAULT 0 NOT NULL,
    erased BOOLEAN DEFAULT false NOT NULL,
    author JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT bulk_jobs_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT bulk_jobs_tenant_id_request_key UNIQUE (tenant_id, request)
);

CREATE TABLE bulk_rows (
    tenant_id TEXT NOT NULL,
    job_id UUID NOT NULL,
    place INTEGER NOT NULL,
    memory_id UUID NOT NULL,
    version INTEGER,
    outcome TEXT,
    status INTEGER,
    detail TEXT,
    change_id UUID,
    receipt_id UUID,
    with_id UUID,
    erased UUID[] DEFAULT '{}' NOT NULL,
    counts JSONB DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT bulk_rows_pkey PRIMARY KEY (tenant_id, job_id, place)
);

CREATE INDEX bulk_rows_open ON bulk_rows (tenant_id, job_id, place) WHERE outcome IS NULL;

CREATE INDEX bulk_rows_of_memory ON bulk_rows (tenant_id, memory_id);

COMMENT ON TABLE bulk_jobs IS 'Jobs that change many memories.';

COMMENT ON COLUMN bulk_jobs.request IS 'Digest of the idempotency key and of who sent it.';

COMMENT ON COLUMN bulk_jobs.asked IS 'Digest of what was asked for.';

COMMENT ON COLUMN bulk_jobs.preview IS 'Whether each row is taken back.';

COMMENT ON COLUMN bulk_jobs.of_preview IS 'The preview whose rows it carries out.';

COMMENT ON COLUMN bulk_jobs.status IS 'running, done or cancelled';

COMMENT ON COLUMN bulk_jobs.params IS 'The reason; of an erasure whether evidence goes, too; of a merge its wording.';

COMMENT ON COLUMN bulk_jobs.chosen IS 'What the rows were chosen by, without words.';

COMMENT ON COLUMN bulk_jobs.rows IS 'How many memories it is about.';

COMMENT ON COLUMN bulk_jobs.erased IS 'Whether one of them was erased since.';

COMMENT ON TABLE bulk_rows IS 'Memories of bulk jobs, with what became of each; no text of theirs.';

COMMENT ON COLUMN bulk_rows.version IS 'The one that is to be changed; null: whichever it has by then.';

COMMENT ON COLUMN bulk_rows.outcome IS 'done, unchanged or refused; null: still to come';

COMMENT ON COLUMN bulk_rows.status IS 'What the single route would have answered.';

COMMENT ON COLUMN bulk_rows.with_id IS 'The row with which it was erased.';

COMMENT ON COLUMN bulk_rows.erased IS 'Memories that go together.';

COMMENT ON COLUMN bulk_rows.counts IS 'Rows of each table that are erased.';

CREATE INDEX memories_begun ON memories (tenant_id, user_id, coalesce(valid_from, occurred_at), id);

CREATE INDEX memories_begun_in_group ON memories (tenant_id, group_id, coalesce(valid_from, occurred_at), id) WHERE group_id IS NOT NULL
