"""Names and roles of one person: what each indexed text says of them, and what somebody has decided by hand."""

from __future__ import annotations

import json
from typing import Any, Final

from alembic import op
from sqlalchemy import Connection, text

from core.language import introductions
from core.language.introductions import Link
from core.statements import quotation

revision = "0038"
down_revision = "0037"

BATCH: Final = 2_000

_BOUND: Final = ("search_index", "search_changes", "messages", "memories")


def upgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql(_TABLES)
    for table in _BOUND:
        connection.exec_driver_sql(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for query in (_MESSAGES, _MEMORIES):
        _fill(connection, query)
    for table in _BOUND:
        connection.exec_driver_sql(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _fill(connection: Connection, query: str) -> None:
    """Read the texts that are indexed already; well below a millisecond each."""
    rows = connection.execute(text(query), execution_options={"yield_per": BATCH})
    naming = [
        {**{name: getattr(row, name) for name in ("tenant_id", "type", "session_id", "ref")}, "naming": links}
        for row in rows
        if (links := _links(row))
    ]
    for start in range(0, len(naming), BATCH):
        values: dict[str, Any] = {"rows": json.dumps(naming[start : start + BATCH], ensure_ascii=False)}
        connection.execute(text(_SET), values)


def _links(row: Any) -> list[Link]:
    """Return what is indexed of a row from now on."""
    if row.type == "message":
        return introductions.links(row.content, row.speaker)
    quoted = quotation.read(row.content)
    spoken = introductions.links(row.content, quoted.speaker if quoted else None)
    return [*spoken, *introductions.told_of(row.subject, row.structured)]


_MESSAGES: Final = """
    SELECT i.tenant_id, i.type, i.session_id, i.ref, m.content, m.speaker, NULL AS subject,
           NULL AS structured FROM search_index i
    JOIN messages m ON m.tenant_id = i.tenant_id AND m.session_id = i.session_id AND m.id = i.ref
    WHERE i.type = 'message' AND m.role = 'user'
"""

_MEMORIES: Final = """
    SELECT i.tenant_id, i.type, i.session_id, i.ref, m.content, NULL AS speaker, m.subject, m.structured
    FROM search_index i
    JOIN memories m ON m.tenant_id = i.tenant_id AND m.id = cast(i.ref AS uuid)
    WHERE i.type = 'memory'
"""

_SET: Final = """
    UPDATE search_index i SET naming = r.naming
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        tenant_id text, type text, session_id text, ref text, naming jsonb)
    WHERE i.tenant_id = r.tenant_id AND i.type = r.type AND i.session_id = r.session_id AND i.ref = r.ref
"""

_TABLES: Final = """
    ALTER TABLE search_index ADD COLUMN naming jsonb;
    COMMENT ON COLUMN search_index.naming IS
        'Lists of names and roles of one person each, as the text says; null: it says none.';
    CREATE INDEX search_index_naming ON search_index (tenant_id, user_id, occurred_at) WHERE naming IS NOT NULL;

    CREATE OR REPLACE VIEW second.search_index WITH (security_invoker = true) AS
    SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
           embedding_next AS embedding, xmin, asks, names, naming
    FROM public.search_index;

    CREATE TABLE naming_decisions (
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        form text NOT NULL,
        other text NOT NULL,
        same boolean NOT NULL,
        author jsonb DEFAULT '{}'::jsonb NOT NULL,
        at timestamptz DEFAULT clock_timestamp() NOT NULL,
        CONSTRAINT naming_decisions_pkey PRIMARY KEY (tenant_id, user_id, form, other)
    );
    COMMENT ON TABLE naming_decisions IS
        'What somebody has decided by hand of names and roles, over what messages and memories say.';
    COMMENT ON COLUMN naming_decisions.user_id IS 'Whose people they are.';
    COMMENT ON COLUMN naming_decisions.form IS 'A name, or a role as `of/role`.';
    COMMENT ON COLUMN naming_decisions.other IS 'Another one; empty: `form` is the name to be shown.';
    COMMENT ON COLUMN naming_decisions.same IS 'Whether both mean one person.';
    ALTER TABLE naming_decisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON naming_decisions TO imprint_app
        USING (tenant_id = current_setting('imprint.tenant', true))
        WITH CHECK (tenant_id = current_setting('imprint.tenant', true));
    GRANT SELECT, INSERT, UPDATE, DELETE ON naming_decisions TO imprint_app;

    CREATE TRIGGER kept AFTER DELETE ON naming_decisions
    FOR EACH ROW WHEN (coalesce(current_setting('imprint.keep', true), '') <> '')
    EXECUTE FUNCTION keep_row('user_id', 'form', 'other');
"""
