"""Define all tables; a new database is created from them, and a change here needs a migration for existing databases.

Each table that holds a tenant's data has the tenant first in its primary key.
"""

from __future__ import annotations

from typing import Any, Final

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Sequence,
    SmallInteger,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.schema import SchemaItem

from core.language.terms import TERM_IDS

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

rule_revision = Sequence("rule_revision", metadata=metadata)


def _tenant() -> Column[str]:
    # No foreign key: every accepted batch would lock its tenant's row, and the key that came with it proves the tenant.
    return Column("tenant_id", Text, primary_key=True)


def _tenant_table(name: str, *items: SchemaItem, **options: Any) -> Table:
    """Define a table whose rows belong to tenants: the tenant is first in its primary key."""
    return Table(name, metadata, _tenant(), *items, **options)


def _time(name: str, *, null: bool = True, now: bool = False, comment: str | None = None) -> Column[object]:
    default = text("clock_timestamp()") if now else None
    return Column(name, DateTime(timezone=True), nullable=null and not now, server_default=default, comment=comment)


def _json(name: str, *, empty: str | None = None, comment: str | None = None) -> Column[object]:
    default = text(f"'{empty}'::jsonb") if empty else None
    return Column(name, JSONB, nullable=empty is None, server_default=default, comment=comment)


def _number(name: str, default: float | None = None, *, comment: str | None = None) -> Column[float]:
    server = None if default is None else text(str(default))
    return Column(name, Double, nullable=default is None, server_default=server, comment=comment)


def _count(name: str, *, comment: str | None = None) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=text("0"), comment=comment)


def _flag(name: str, *, comment: str | None = None) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=text("false"), comment=comment)


def _texts(name: str, *, comment: str | None = None) -> Column[object]:
    return Column(name, ARRAY(Text), nullable=False, server_default=text("'{}'"), comment=comment)


def _index(name: str, *columns: str | TextClause, where: str, unique: bool = False) -> Index:
    """Define an index of the rows for which `where` holds."""
    return Index(name, *columns, unique=unique, postgresql_where=text(where))


TAIL: Final = 8
"""Characters at the end of an id by which it is found without the rest."""


def _tail() -> Column[str]:
    """Define the end of the id, reversed: any number of last characters is a range of its index.

    A column, because row-level security keeps an index over an expression of `id` from being used.
    """
    reversed_end = Computed(f"reverse(right((id)::text, {TAIL}))", persisted=True)
    return Column("id_tail", Text(collation="C"), reversed_end, nullable=False)


_IDS = "[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}"

_ERROR: Final = rf"""
    regexp_replace(coalesce(error, ''), '{_IDS}|[0-9]+([.][0-9]+)?|"[^"]*"|\Y''[^'']*''', '…', 'gi')
"""
"""SQL: an error without ids, numbers and quotes."""


def _fingerprint() -> Column[str]:
    """Define the hash by which dead letters are grouped: of a traceback the end counts, of other errors the beginning.

    A column, so that whatever gives a dispatch up has computed it.
    """
    error_part = f"CASE WHEN strpos(error, '  File ') > 0 THEN right({_ERROR}, 400) ELSE left({_ERROR}, 200) END"
    hashed = Computed(f"CASE WHEN status = 'dead' THEN left(md5(target || {error_part}), 16) END", persisted=True)
    says = "Of a dead one: hash of its agent and its error without ids, numbers and quotes."
    return Column("fingerprint", Text, hashed, comment=says)


def _tail_index(table: str) -> Index:
    return Index(f"{table}_by_tail", "tenant_id", "id_tail")


GROUP_CHARACTERS: Final = 200
"""Characters of a group's id by which events are found; longer ones are compared as a whole then."""

ANNOUNCES_ERASURE: Final = "event_type = ANY (ARRAY['user.erased', 'group.erased'])"
"""SQL: of an event, whether it announces the erasure of a user or a group. Its index serves who asks by this alone."""

ABOUT_MEMORY: Final = "subject LIKE 'memory:%'"
"""SQL: of an event, whether its subject is a memory. Likewise."""

BESIDE_MEMORY: Final = (
    "jsonb_exists_any(payload, '{reason,new}') AND jsonb_exists_any(payload, '{by,with,absorbed,parts}')"
)
"""SQL: of an event, whether it may quote another memory than its own. Likewise."""


deployment = Table(
    "deployment",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    comment="What holds for the whole installation, such as the embedding model its vectors were made with.",
)

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("process", Text, primary_key=True),
    _time("at", null=False),
    Column("queue", Text, comment="Of one worker: the queue that its processes serve."),
    Column("processes", Integer, comment="Of one worker: how many of them."),
    Column("cores", Integer, comment="Of one worker: how many of them can compute at once."),
    Column("tenants", Integer, comment="Of the router: how many tenants had events within a minute."),
    _time("since", comment="When it started; of several of a kind, the one that said so last."),
    Column("version", Text, comment="Its version of Imprint."),
    _json("gauges", comment="Of the clock: what waits in the whole installation, as it counted last."),
    comment="When each kind of process last said that it works.",
)

providers = Table(
    "providers",
    metadata,
    Column("name", Text, primary_key=True, comment="Host and model: who counts requests and tokens."),
    Column("requests", Double, nullable=False, comment="Left in the bucket at `filled_at`; below zero: owed."),
    Column("tokens", Double, nullable=False, comment="Likewise."),
    _time("filled_at", null=False),
    _count("failures"),
    _time("open_until", comment="Until then nobody asks; then one tries."),
    comment="Providers of models: what may still be asked this minute, and whether the breaker is open.",
)

tenants = Table(
    "tenants",
    metadata,
    Column("id", Text, primary_key=True),
    _time("created_at", now=True),
    _flag("allows_high_risk", comment="Whether rules of high risk may run without anyone's approval."),
    Column(
        "fade_formula",
        Text,
        nullable=False,
        server_default=text("'fading'"),
        comment="By which its memories' curves were drawn.",
    ),
    _number("fade_under", 0.05, comment="The strength below which they were to count as faded."),
    Column(
        "salt",
        Text,
        nullable=False,
        server_default=text("((gen_random_uuid())::text || (gen_random_uuid())::text)"),
        comment="Goes into every hash of what was erased, so that nobody can guess it from outside.",
    ),
    CheckConstraint("id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'", name="name"),
)

tenant_settings = _tenant_table(
    "tenant_settings",
    Column("name", Text, primary_key=True, comment="Which setting; the router reads `limits` alone."),
    Column("value", JSONB, nullable=False),
    _time("updated_at", now=True),
    comment="Settings of a tenant, one row for each kind: limits, and others by name.",
)

api_keys = _tenant_table(
    "api_keys",
    Column("id", Text, primary_key=True),
    Column("secret_sha256", Text, nullable=False, comment="The secret is 256 random bits, so a plain hash is enough."),
    _texts("scopes"),
    Column("name", Text),
    _time("created_at", now=True),
    _time("revoked_at"),
    Column("labels", ARRAY(Text), comment="All that its holder may read of what has labels; null: anything."),
    _time("last_used_at", comment="To within a minute."),
)

events = _tenant_table(
    "events",
    Column("seq", BigInteger, Identity(always=True), primary_key=True, comment="Place in the log."),
    Column("id", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("subject", Text),
    _time("time", null=False),
    _json("payload", empty="{}"),
    Column("session_id", Text),
    Column("user_id", Text),
    Column("correlation_id", Text, nullable=False),
    Column("causation_id", Text),
    Column("hop", SmallInteger, nullable=False, server_default=text("0")),
    Column("root_seq", BigInteger, comment="First event of the chain; null: this one."),
    Column("dispatch_id", Uuid, comment="The dispatch whose effect this event reports."),
    _json("extensions"),
    Column("lineage", ARRAY(Text), comment="Rules that acted on the way from the root of the chain to this event."),
    _time("received_at", now=True),
    _time("routed_at"),
    _time("rules_as_of", comment="When the router had read the rules by which it decided; null: when it was routed."),
    Column(
        "written_in",
        BigInteger,
        nullable=False,
        server_default=text("((pg_current_xact_id())::text)::bigint"),
        comment="The transaction that wrote it: the order in which the log is followed; 0: before all others.",
    ),
    Column(
        "group_id",
        Text,
        Computed(f"left(payload ->> 'group_id', {GROUP_CHARACTERS})", persisted=True),
        comment="Beginning of the group that its payload names. A column, as row-level security demands of an index.",
    ),
    Column(
        "memory_id",
        Text,
        Computed(
            "CASE WHEN subject IS DISTINCT FROM 'memory:' || (payload ->> 'memory_id')"
            " THEN left(payload ->> 'memory_id', 36) END",
            persisted=True,
        ),
        comment="Likewise of the memory that its payload names, unless its subject does.",
    ),
    UniqueConstraint("tenant_id", "id", "source"),
    Index("events_feed", "tenant_id", "written_in", "seq"),
    _index("events_unrouted", "tenant_id", "seq", where="routed_at IS NULL"),
    _index("events_of_session", "tenant_id", "session_id", "seq", where="session_id IS NOT NULL"),
    Index("events_by_time", "time", postgresql_using="brin"),
    _index("events_of_chain", "tenant_id", "causation_id", where="causation_id IS NOT NULL"),
    _index("events_of_user", "tenant_id", "user_id", "seq", where="user_id IS NOT NULL"),
    _index("events_of_group", "tenant_id", "group_id", "seq", where="group_id IS NOT NULL"),
    Index("events_of_type", "tenant_id", "event_type", "received_at"),
    _index("events_correlated", "tenant_id", "correlation_id", where="causation_id IS NULL AND correlation_id <> id"),
    _index("events_about_memory", "tenant_id", "subject", where=ABOUT_MEMORY),
    _index("events_naming_memory", "tenant_id", "memory_id", where="memory_id IS NOT NULL"),
    _index("events_beside_memory", "tenant_id", "time", where=BESIDE_MEMORY),
    _index("events_naming_erased", "tenant_id", "seq", where=f"{ANNOUNCES_ERASURE} AND subject IS NOT NULL"),
    # A queue: its rows change soon after they are written, and how many do so does not depend on the size of the log.
    postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 20000},
)

sessions = _tenant_table(
    "sessions",
    Column("id", Text, primary_key=True),
    Column("user_id", Text),
    Column("group_id", Text),
    _time("started_at", null=False),
    _time("last_at", null=False),
    _time("ended_at"),
    _count("message_count"),
    _count("token_count"),
    _count("extracted_to", comment="Last position extracted."),
    _count("indexed_to", comment="Last position indexed."),
    _json("state", empty="{}"),
    Column("keep_days", Integer, comment="Days after its end for which it is kept; null: no time of its own."),
    Column(
        "leaves_at",
        DateTime(timezone=True),
        Computed("timezone('UTC', timezone('UTC', ended_at) + keep_days * interval '1 day')", persisted=True),
        comment="When it leaves by `keep_days`. A column, for row-level security searches no index of an expression.",
    ),
    _time("oldest_at", comment="Nothing that is kept of the conversation is older; null: nothing is kept."),
    _time("oldest_tool_at", comment="Likewise of the results of tools alone."),
    _flag("is_remnant", comment="Left are the places of messages that memories of others cite, and nothing else."),
    Index("sessions_of_user", "tenant_id", "user_id"),
    _index("sessions_of_group", "tenant_id", "group_id", "last_at", "id", where="group_id IS NOT NULL"),
    _index("sessions_open", "tenant_id", "last_at", where="ended_at IS NULL"),
    # Apart from those that are open, whose time changes with each accepted batch.
    _index("sessions_closed", "tenant_id", "last_at", where="ended_at IS NOT NULL"),
    _index("sessions_unindexed", "tenant_id", "user_id", where="indexed_to < message_count"),
    _index("sessions_oldest", "tenant_id", "oldest_at", "id", where="oldest_at IS NOT NULL"),
    _index("sessions_oldest_tool", "tenant_id", "oldest_tool_at", "id", where="oldest_tool_at IS NOT NULL"),
    _index("sessions_ended", "tenant_id", "ended_at", "id", where="ended_at IS NOT NULL AND NOT is_remnant"),
    _index(
        "sessions_own_days",
        "tenant_id",
        "leaves_at",
        "id",
        where="leaves_at IS NOT NULL AND oldest_at IS NOT NULL",
    ),
    # Every accepted batch updates its session's row.
    postgresql_with={"fillfactor": 70},
)

messages = _tenant_table(
    "messages",
    Column("session_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True, comment="1, 2, … in order of acceptance, without gaps."),
    Column("id", Text, nullable=False),
    Column("event_seq", BigInteger, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("group_id", Text),
    Column("agent_id", Text),
    Column("role", Text, nullable=False),
    Column("speaker", Text),
    Column("content", Text, nullable=False),
    Column("token_count", Integer, comment="Tokens of the session up to and with this message."),
    _time("occurred_at", null=False),
    Column("utc_offset", SmallInteger, comment="Minutes of the speaker's clock ahead of UTC; null: not known."),
    _number("importance"),
    _json("extras"),
    _texts("audience_labels", comment="A reader must hold all of them."),
    UniqueConstraint("tenant_id", "session_id", "id"),
)

participants = _tenant_table(
    "participants",
    Column("session_id", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Index("participants_of_user", "tenant_id", "user_id", "session_id"),
    comment="Who has spoken in which session; written with the messages.",
)

owners = _tenant_table(
    "owners",
    Column("kind", Text, primary_key=True, comment="user or group"),
    Column("id", Text(collation="C"), primary_key=True),
    _time("known_at", now=True, comment="Since when something is held of it."),
    _time("last_at", null=False, comment="When something of it was said or sent last, to within a minute."),
    Column("time_zone", Text, comment="IANA name of the zone of a user's clock; null: not set."),
    Index("owners_by_last", "tenant_id", "kind", "last_at", "id"),
    comment="Users and groups of whom something is or was held, until they are erased.",
)

naming_decisions = _tenant_table(
    "naming_decisions",
    Column("user_id", Text, primary_key=True, comment="Whose people they are."),
    Column("form", Text, primary_key=True, comment="A name, or a role as `of/role`."),
    Column("other", Text, primary_key=True, comment="Another one; empty: `form` is the name to be shown."),
    Column("same", Boolean, nullable=False, comment="Whether both mean one person."),
    _json("author", empty="{}"),
    _time("at", now=True),
    comment="What somebody has decided by hand of names and roles, over what messages and memories say.",
)

expiries = _tenant_table(
    "expiries",
    Column("kind", Text, primary_key=True, comment="messages, tool_results, sessions, events, dispatches or decisions"),
    _time("at", now=True, comment="When rows of the kind left last."),
    Column("last_rows", BigInteger, nullable=False, comment="How many left then, in one transaction."),
    Column("total", BigInteger, nullable=False),
    _time("to_time", null=False, comment="The newest of those that ever left: before it the record has gaps."),
    Column("written_in", BigInteger, comment="Of events: the last place in the feed from which one has left."),
    Column("seq", BigInteger, comment="Likewise."),
    comment="What the tenant's retention has removed: how much, and up to when the record has gaps.",
)

hidden_messages = _tenant_table(
    "hidden_messages",
    Column("session_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("reason", Text),
    _json("author", empty="{}"),
    _time("at", now=True),
    comment="Messages that an agent does not want to see again until they are restored; they are kept as they are.",
)

working = _tenant_table(
    "working",
    Column("session_id", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", JSONB, nullable=False),
    _time("updated_at", now=True),
    _time("expires_at"),
    _index("working_expiring", "tenant_id", "expires_at", where="expires_at IS NOT NULL"),
    comment="What an agent keeps at hand while a session lasts: any JSON, gone with the end of the session.",
)

units = _tenant_table(
    "units",
    Column("id", Uuid, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("group_id", Text),
    Column("from_position", Integer, nullable=False),
    Column("to_position", Integer, nullable=False),
    Column("boundary", Text, nullable=False, comment="Why it begins here: start, gap, shift, marker or length."),
    Column("subject", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("narrative", Text, nullable=False),
    _texts("participants"),
    _texts("keywords"),
    _json("facts", empty="[]"),
    _time("started_at", null=False),
    _time("ended_at", null=False),
    Column("prompt", Text, comment="The prompt a model retold it by; null: by rules."),
    _time("updated_at", now=True),
    UniqueConstraint("tenant_id", "session_id", "from_position"),
    comment="Slices of conversations, each on one topic.",
)

summaries = _tenant_table(
    "summaries",
    Column("session_id", Text, primary_key=True),
    Column("to_position", Integer, primary_key=True, comment="It stands for all messages up to this one."),
    Column("content", Text, nullable=False),
    _json("key_messages", empty="[]"),
    _count("token_count"),
    Column("prompt", Text, comment="The prompt of the model that wrote it; null: by rules."),
    _time("at", now=True),
    comment="Rolling summaries of long sessions; the last one holds what those before it said.",
)

plans = _tenant_table(
    "plans",
    Column("session_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("group_id", Text),
    Column("goal", Text, nullable=False),
    Column("status", Text, nullable=False),
    _json("steps", empty="[]"),
    Column("current", Text, comment="Id of the step that is being worked on."),
    Column("event_id", Text, nullable=False, comment="The event that said so last."),
    Column("event_seq", BigInteger, nullable=False, comment="Its place in the log: an older one changes nothing."),
    Column("version", Integer, nullable=False, server_default=text("1")),
    _time("updated_at", now=True),
    Index("plans_of_user", "tenant_id", "user_id"),
)

contexts = _tenant_table(
    "contexts",
    Column("session_id", Text, primary_key=True),
    Column("reader", Text, primary_key=True, comment="Whose memories, and under which limit, the context shows."),
    Column("from_position", Integer, nullable=False, comment="The first message that it shows as it was said."),
    Column("memory_ids", ARRAY(Uuid), nullable=False, comment="In the order in which they are shown."),
    _texts("passages"),
    _time("at", now=True),
    Column("instruction_ids", ARRAY(Uuid), nullable=False, server_default=text("'{}'")),
    _texts("profile", comment="By which its lines and their values are known again."),
    comment="What a session's contexts keep showing until their window moves, so that a model's cache stays warm.",
)

documents = _tenant_table(
    "documents",
    Column("id", Uuid, primary_key=True),
    _tail(),
    _tail_index("documents"),
    Column("user_id", Text, comment="Whose it is; with neither user nor group it is the whole tenant's."),
    Column("group_id", Text),
    Column("title", Text, nullable=False),
    Column("uri", Text, comment="Where it comes from; the same one again is a new version of the same document."),
    Column("media_type", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    _json("metadata", empty="{}"),
    Column("version", Integer, nullable=False, server_default=text("1")),
    _time("created_at", now=True),
    _time("updated_at", now=True),
    Index("documents_of_user", "tenant_id", "user_id"),
    _index("documents_of_group", "tenant_id", "group_id", where="group_id IS NOT NULL"),
    _index("documents_uri", "tenant_id", "uri", where="uri IS NOT NULL"),
)

passages = _tenant_table(
    "passages",
    Column("document_id", Uuid, primary_key=True),
    Column("position", Integer, primary_key=True, comment="1, 2, … in reading order."),
    _texts("headings"),
    Column("content", Text, nullable=False),
    Column("from_char", Integer, nullable=False, comment="Where in the document it begins, in characters."),
    Column("to_char", Integer, nullable=False),
)

rules = _tenant_table(
    "rules",
    Column("name", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    _json("document", empty="{}"),
    _count("cost", comment="Its bound, in comparisons an event."),
    _time("deleted_at"),
    Column("revision", BigInteger, nullable=False, server_default=text("nextval('rule_revision')")),
    Index("rules_revision", "revision"),
)

rule_versions = _tenant_table(
    "rule_versions",
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    _json("document"),
    Column("author", Text, nullable=False),
    Column("comment", Text),
    _time("at", now=True),
)

decisions = _tenant_table(
    "decisions",
    Column("event_seq", BigInteger, primary_key=True),
    Column("rule", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("verdict", Text, nullable=False, comment="fired, held or gathered"),
    Column("reason", Text),
    _time("at", now=True),
    Index("decisions_of_rule", "tenant_id", "rule", "at", postgresql_include=["verdict"]),
)

replays = _tenant_table(
    "replays",
    Column("id", Uuid, primary_key=True),
    Column("request", Text, comment="Digest of the idempotency key and of who sent it."),
    Column("mode", Text, nullable=False, comment="shadow or live"),
    Column("status", Text, nullable=False, comment="running, done or cancelled"),
    _json("params", empty="{}", comment="The filter, the rules with their versions, and what was asked."),
    _count("events", comment="How many it decides on."),
    _count("decided", comment="How many of them it has decided on."),
    Column("cursor", BigInteger, nullable=False, comment="The last of them in the log."),
    Column("upto", BigInteger, nullable=False, comment="Where in the log it ends."),
    _json("flow", comment="Flow control on the time of the events, until the end."),
    _json("counts", empty="{}", comment="By rule."),
    _json("author", empty="{}"),
    _time("created_at", now=True),
    _time("ended_at"),
    UniqueConstraint("tenant_id", "request"),
    comment="Replays of events: rules that decide stored events again.",
)

replay_decisions = _tenant_table(
    "replay_decisions",
    Column("replay_id", Uuid, primary_key=True),
    Column("event_seq", BigInteger, primary_key=True),
    Column("rule", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("verdict", Text, nullable=False, comment="fired, held or gathered"),
    Column("reason", Text),
    Index("replay_decisions_of_event", "tenant_id", "event_seq"),
    comment="Decisions of replays; those that were made as the events came are in decisions.",
)

bulk_jobs = _tenant_table(
    "bulk_jobs",
    Column("id", Uuid, primary_key=True),
    Column("request", Text, comment="Digest of the idempotency key and of who sent it."),
    Column("asked", Text, nullable=False, comment="Digest of what was asked for."),
    Column("action", Text, nullable=False),
    _flag("preview", comment="Whether each row is taken back."),
    Column("of_preview", Uuid, comment="The preview whose rows it carries out."),
    Column("status", Text, nullable=False, comment="running, done or cancelled"),
    _json(
        "params", empty="{}", comment="The reason; of an erasure whether evidence goes, too; of a merge its wording."
    ),
    _json("chosen", empty="{}", comment="What the rows were chosen by, without words."),
    _count("rows", comment="How many memories it is about."),
    _flag("erased", comment="Whether one of them was erased since."),
    _json("author", empty="{}"),
    _time("created_at", now=True),
    _time("ended_at"),
    UniqueConstraint("tenant_id", "request"),
    comment="Jobs that change many memories.",
)

bulk_rows = _tenant_table(
    "bulk_rows",
    Column("job_id", Uuid, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("memory_id", Uuid, nullable=False),
    Column("version", Integer, comment="The one that is to be changed; null: whichever it has by then."),
    Column("outcome", Text, comment="done, unchanged or refused; null: still to come"),
    Column("status", Integer, comment="What the single route would have answered."),
    Column("detail", Text),
    Column("change_id", Uuid),
    Column("receipt_id", Uuid),
    Column("with_id", Uuid, comment="The row with which it was erased."),
    Column("erased", ARRAY(Uuid), nullable=False, server_default=text("'{}'"), comment="Memories that go together."),
    _json("counts", empty="{}", comment="Rows of each table that are erased."),
    _index("bulk_rows_open", "tenant_id", "job_id", "place", where="outcome IS NULL"),
    Index("bulk_rows_of_memory", "tenant_id", "memory_id"),
    comment="Memories of bulk jobs, with what became of each; no text of theirs.",
)

schedules = _tenant_table(
    "schedules",
    Column("rule", Text, primary_key=True),
    Column("schedule", JSONB, nullable=False, comment="The time table that `fired_to` was counted by."),
    _time("fired_to", null=False, comment="Due times up to this one are dealt with."),
    _time("due_at", comment="The due time that is being handed to one user after another."),
    Column("page_after", Text, comment="The last user it was handed to."),
)

alarms = _tenant_table(
    "alarms",
    Column("rule", Text, primary_key=True),
    Column("key", Text, primary_key=True, comment="The user, session or source; empty: the tenant, or the last look."),
    Column("for_each", Text, nullable=False, comment="What the key is: tenant, user, session or source."),
    Column("version", Integer, nullable=False, comment="Version of the rule that looked."),
    _time("raised_at", comment="Since when the conditions have held; null: they do not."),
    _time("looked_at", null=False, comment="Due time that was counted for."),
    _json("counts", empty="{}", comment="What was counted then."),
    _flag("partial", comment="Whether there were too many rows to count: nothing was raised or cleared."),
    comment="Alarms: those that are raised, and of each rule its last look.",
    postgresql_with={"fillfactor": 50},
)

flows = _tenant_table(
    "flows",
    Column("rule", Text, primary_key=True),
    Column("kind", Text, primary_key=True, comment="The stage: debounce, count, concurrency, cooldown or throttle."),
    Column("key", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("gathered", Integer, nullable=False),
    Column("event_seqs", ARRAY(BigInteger), nullable=False),
    Column(
        "times",
        ARRAY(DateTime(timezone=True)),
        nullable=False,
        server_default=text("'{}'"),
        comment="When each of the events came, or when the rule acted.",
    ),
    Column("root_seq", BigInteger, nullable=False),
    _time("opened_at", null=False),
    _time("due_at"),
    _time("expires_at", comment="From then on the row means nothing and may go."),
    _index("flows_due", "due_at", where="due_at IS NOT NULL"),
    _index("flows_expired", "expires_at", where="expires_at IS NOT NULL"),
)

dispatches = _tenant_table(
    "dispatches",
    Column("id", Uuid, primary_key=True, server_default=text("uuidv7()")),
    _tail(),
    # Those that people decide about: an entry for each dispatch would cost a quarter of its writing.
    _index("dispatches_by_tail", "tenant_id", "id_tail", where="status IN ('held', 'dead')"),
    Column("event_seq", BigInteger, comment="The event it reacts to; null for what could not become one."),
    Column("root_seq", BigInteger, nullable=False, server_default=text("0")),
    Column("correlation_id", Text, nullable=False, server_default=text("''")),
    Column("hop", SmallInteger, nullable=False, server_default=text("0")),
    Column("rule", Text),
    Column("rule_version", Integer),
    Column("action_type", Text, nullable=False),
    Column("target", Text, nullable=False),
    _json("params", empty="{}"),
    Column("queue", Text, nullable=False),
    Column("priority", SmallInteger, nullable=False, server_default=text("1"), comment="The lowest goes first."),
    Column("alone", Text, comment="Of the dispatches with one such key, one runs at a time."),
    Column("lane", Text, comment="Rule and key whose `concurrency` it counts for."),
    Column("lane_limit", Integer, comment="How many of its lane may run at a time."),
    _texts("lineage", comment="As of events, with its rule."),
    Column("after", Uuid, comment="The action of the same rule that must be done first."),
    Column("hold", Text, comment="What a held one waits for: approval, its time, or the turn that `after` names."),
    _time("expires_at", comment="When an approval that nobody gave is refused, or its time is."),
    _json("approval"),
    Column("status", Text, nullable=False),
    _count("attempt"),
    _count("sends"),
    Column("lease", Uuid, comment="Token of the attempt that owns it; only its holder may finish it."),
    _time("wake_at", comment="When the sweep must act: send again, or take the lease back."),
    Column("error", Text),
    _json("result"),
    _time("created_at", now=True),
    _time("started_at"),
    _time("ended_at"),
    Column(
        "turn",
        Text,
        comment=(
            "ready: waits until its tenant may run another on this queue; sent: given to the broker; "
            "null: waits for wake_at."
        ),
    ),
    _count("overruns", comment="Attempts that were ended because they took too long."),
    _time("deadline_at", comment="When the process of the current attempt is ended, whatever it does."),
    Column("replay_id", Uuid, comment="The replay that decided it; null: the event was decided as it came."),
    _json(
        "failures",
        empty="[]",
        comment="The last failed attempts: number, stage, class of the error, beginning and end.",
    ),
    Column("edit_of", Uuid, comment="The dead dispatch that it retries with other parameters."),
    Column("edited_by", Text, comment="The key that has changed the parameters."),
    _fingerprint(),
    _flag("lists_others", comment="Whether `params` lists sessions or events of others than its event's."),
    _json("trace", comment="Trace context in which it was decided, as headers; null: there was none."),
    _index("dispatches_listing", "tenant_id", "id", where="lists_others"),
    _index(
        "dispatches_turns",
        "tenant_id",
        "queue",
        "turn",
        "priority",
        "id",
        where="turn IS NOT NULL AND status IN ('pending', 'running')",
    ),
    _index(
        "dispatches_owed",
        "tenant_id",
        "wake_at",
        where="status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL",
    ),
    # An index that holds a few rows by its status alone would be taken for any statement on one dispatch.
    _index(
        "dispatches_open",
        "tenant_id",
        "root_seq",
        where="status IN ('pending', 'running', 'retrying') AND root_seq IS NOT NULL",
    ),
    _index("dispatches_alone", "tenant_id", "alone", where="status = 'running' AND alone IS NOT NULL", unique=True),
    _index("dispatches_waiting", "tenant_id", "alone", where="status = 'pending' AND alone IS NOT NULL"),
    _index("dispatches_after", "tenant_id", "after", where="after IS NOT NULL"),
    _index("dispatches_lane", "tenant_id", "lane", where="lane IS NOT NULL AND ended_at IS NULL"),
    _index("dispatches_expiring", "expires_at", where="status = 'held' AND expires_at IS NOT NULL"),
    _index("dispatches_of_rule", "tenant_id", "rule", "id", where="rule IS NOT NULL"),
    Index("dispatches_of_event", "tenant_id", "event_seq"),
    _index("dispatches_held", "tenant_id", "hold", "id", where="hold IS NOT NULL"),
    _index("dispatches_outbound", "tenant_id", "id", where="action_type IN ('webhook', 'notify', 'celery')"),
    _index("dispatches_dead", "tenant_id", "id", where="status = 'dead'"),
    _index("dispatches_dead_groups", "tenant_id", "fingerprint", "ended_at", "id", where="status = 'dead'"),
    _index("dispatches_edits", "tenant_id", "edit_of", where="edit_of IS NOT NULL", unique=True),
    _index("dispatches_kept", "tenant_id", "root_seq", where="status IN ('held', 'dead')"),
    _index("dispatches_of_replay", "tenant_id", "replay_id", "status", where="replay_id IS NOT NULL"),
    # A queue, likewise.
    postgresql_with={"fillfactor": 80, "autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 5000},
)

turn_bounds = _tenant_table(
    "turn_bounds",
    Column("queue", Text, primary_key=True),
    Column("priority", SmallInteger, primary_key=True),
    Column("from_id", Uuid, nullable=False, comment="No dispatch with a smaller id is ready or sent, except `older`."),
    Column("older", ARRAY(Uuid), nullable=False, server_default=text("'{}'"), comment="Sent ones with smaller ids."),
    comment="Where the ready and the sent dispatches of a tenant's queue begin: behind those that have ended.",
    postgresql_with={"fillfactor": 50},
)

memories = _tenant_table(
    "memories",
    Column("id", Uuid, primary_key=True),
    _tail(),
    _tail_index("memories"),
    Column("user_id", Text),
    Column("group_id", Text),
    Column("session_id", Text),
    Column("subject", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("statement_key", Text, nullable=False, comment="Hash of the normalised statement, per owner and subject."),
    Column(
        "features", LargeBinary, comment="Digests and numbers of the content that the judge compares; null: unknown."
    ),
    _json("structured", empty="{}"),
    Column("attribute", Text),
    Column("value", Text),
    _number("importance", 0.5),
    _number("confidence", 0.7),
    Column("trust", Text, nullable=False),
    Column("status", Text, nullable=False),
    _time("occurred_at", null=False),
    _time("said_at", comment="When it was said last; of two values of a slot the later holds."),
    _time("valid_from"),
    _time("valid_to"),
    _time("recorded_at", now=True),
    _time("updated_at", now=True),
    _time("expires_at"),
    _number("half_life_days"),
    _time("last_used_at", comment="When it was last of use: recalled, confirmed or restored."),
    _count("uses"),
    _number("fade_height", 0.5, comment="The part of its strength that fades, as of its last use."),
    _number("fade_floor", 0, comment="The part that stays."),
    Column("fade_half_life", Double, comment="Days in which the first part halves; null: it never fades."),
    _time("fade_at", comment="When an active one will have faded if nobody uses it; null: never."),
    _flag("pinned"),
    _texts("tags"),
    Column("version", Integer, nullable=False, server_default=text("1")),
    Column(
        "level",
        SmallInteger,
        nullable=False,
        server_default=text("0"),
        comment="0: someone said it. 1 and more: drawn together from memories of lower levels.",
    ),
    _texts("audience_labels", comment="A reader must hold all of them."),
    CheckConstraint("user_id IS NOT NULL OR group_id IS NOT NULL", name="owner"),
    Index("memories_of_user", "tenant_id", "user_id", "id"),
    _index("memories_of_group", "tenant_id", "group_id", "id", where="group_id IS NOT NULL"),
    _index("memories_slot", "tenant_id", "user_id", "subject", "attribute", where="attribute IS NOT NULL"),
    Index("memories_statement", "tenant_id", "user_id", "statement_key"),
    _index("memories_shared_statement", "tenant_id", "group_id", "statement_key", where="group_id IS NOT NULL"),
    _index("memories_fading", "tenant_id", "fade_at", where="status = 'active' AND fade_at IS NOT NULL"),
    _index("memories_expiring", "tenant_id", "expires_at", where="status = 'active' AND expires_at IS NOT NULL"),
    _index("memories_recorded", "tenant_id", "user_id", "recorded_at", "id", where="status = 'active'"),
    _index(
        "memories_questioned",
        "tenant_id",
        "trust",
        "id",
        where="status = 'active' AND trust IN ('disputed', 'quarantined')",
    ),
    _index("memories_active", "tenant_id", "user_id", "pinned", where="status = 'active'"),
    Index("memories_category", "tenant_id", "user_id", "category", "id"),
    Index("memories_begun", "tenant_id", "user_id", text("coalesce(valid_from, occurred_at)"), "id"),
    _index(
        "memories_begun_in_group",
        "tenant_id",
        "group_id",
        text("coalesce(valid_from, occurred_at)"),
        "id",
        where="group_id IS NOT NULL",
    ),
)

memory_versions = _tenant_table(
    "memory_versions",
    Column("memory_id", Uuid, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("change", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _json("author", empty="{}"),
    _json("snapshot", empty="{}"),
    Column("dispatch_id", Uuid),
    _time("at", now=True),
    Column("change_id", Uuid, comment="What was done at once, and can be undone at once."),
    Index("memory_versions_of_dispatch", "tenant_id", "dispatch_id"),
    _index("memory_versions_of_change", "tenant_id", "change_id", where="change_id IS NOT NULL"),
    Index("memory_versions_by_time", "tenant_id", "memory_id", "at"),
)

verdicts = _tenant_table(
    "verdicts",
    Column("id", Uuid, primary_key=True, comment="The change that carried it out."),
    _tail(),
    _tail_index("verdicts"),
    Column("user_id", Text, nullable=False),
    Column("group_id", Text),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _json("candidate", empty="{}"),
    Column("memory_id", Uuid, comment="The memory that stands for what was said; null: it was not kept."),
    Column("other_id", Uuid, comment="The memory that was absorbed, superseded or contradicted."),
    _json("author", empty="{}"),
    Column("dispatch_id", Uuid),
    _time("at", now=True),
    Column("undone_by", Uuid, comment="The change that undid it."),
    Index("verdicts_of_user", "tenant_id", "user_id", "id"),
    Index("verdicts_of_memory", "tenant_id", "memory_id"),
    _index("verdicts_of_group", "tenant_id", "group_id", where="group_id IS NOT NULL"),
)

forgettings = _tenant_table(
    "forgettings",
    Column("id", Uuid, primary_key=True),
    _tail(),
    _tail_index("forgettings"),
    Column("event_id", Text, nullable=False, comment="The event with the request."),
    Column("user_id", Text, nullable=False, comment="Who asked."),
    Column("group_id", Text),
    Column("session_id", Text, nullable=False, comment="With message_id: the message that asked."),
    Column("message_id", Text, nullable=False),
    _texts("sessions", comment="Sessions of which messages were erased."),
    _texts("owners", comment="Users whose messages or memories were erased."),
    _count("messages"),
    _count("memories"),
    _json("models", empty="{}", comment="The models of the kept vectors."),
    _time("at", now=True),
    _time("final_at", null=False),
    Index("forgettings_due", "tenant_id", "final_at"),
    comment="Requests to forget that were carried out and can still be undone.",
)

kept_rows = _tenant_table(
    "kept_rows",
    Column("forgetting_id", Uuid, primary_key=True),
    Column("name", Text, primary_key=True, comment="The table."),
    Column("key", Text, primary_key=True, comment="The rest of the row's primary key, as JSON."),
    _json("before", comment="Null: the erasure inserted the row."),
    _json("after", comment="Null: the erasure deleted the row."),
    comment="Rows as they were before an erasure that can still be undone; written by triggers, read by the undo.",
)

tombstones = _tenant_table(
    "tombstones",
    Column("hash", Text, primary_key=True, comment="Salted hash of an erased statement of one user."),
    _time("at", now=True),
)

receipts = _tenant_table(
    "receipts",
    Column("id", Uuid, primary_key=True),
    _tail(),
    _tail_index("receipts"),
    Column("scope", Text, nullable=False),
    _json("body", empty="{}"),
    Column("signature", Text, nullable=False),
    _time("at", now=True),
)

servings = _tenant_table(
    "servings",
    Column("user_id", Text, primary_key=True),
    Column(
        "hash", Text, primary_key=True, comment="Hash of a text that was handed out: what comes back soon is an echo."
    ),
    Column("memory_id", Uuid),
    _time("at", now=True),
    Index("servings_by_time", "tenant_id", "at"),
)

profiles = _tenant_table(
    "profiles",
    Column("owner", Text, primary_key=True, comment="user:<id> or group:<id>"),
    Column("version", Integer, nullable=False),
    _json("attributes", empty="{}"),
    _time("built_at", now=True),
)

mirrors = _tenant_table(
    "mirrors",
    Column("user_id", Text, primary_key=True),
    Column("file", Text, primary_key=True),
    Column("content", Text, nullable=False, comment="The file as both sides last agreed on it."),
    _json("versions", empty="{}", comment="The version of each memory in it, by id."),
    _time("synced_at", now=True),
)

endpoints = _tenant_table(
    "endpoints",
    Column("address", Text, primary_key=True, comment="A channel's name, or a webhook's scheme, host and path."),
    _time("failing_since"),
    _count("failures"),
    _time("disabled_at"),
    Column("error", Text),
)

webhooks = _tenant_table(
    "webhooks",
    Column(
        "hosts",
        ARRAY(Text),
        nullable=False,
        comment="Where rules may send something; what the settings do not allow is left out.",
    ),
    _time("updated_at", now=True),
    Column("updated_by", Text, nullable=False),
)

secrets = _tenant_table(
    "secrets",
    Column("kind", Text, primary_key=True, comment="header, channel or signing"),
    Column("name", Text, primary_key=True),
    Column("sealed", LargeBinary, nullable=False, comment="AES-256-GCM, bound to tenant, kind and name."),
    Column("hint", Text, comment="What may be shown of it: of a channel its scheme and host."),
    _time("created_at", now=True),
    _time("updated_at", now=True),
    Column("updated_by", Text, nullable=False),
)

notices = _tenant_table(
    "notices",
    Column("id", Uuid, primary_key=True),
    Column("channel", Text, nullable=False),
    Column(
        "digest",
        Text,
        nullable=False,
        comment="What goes out together: rule and channel; or the dispatch that has taken it.",
    ),
    Column("text", Text, nullable=False),
    Column("user_id", Text),
    Column("event_id", Text, nullable=False),
    _time("due_at", null=False),
    _time("at", now=True),
    Index("notices_due", "tenant_id", "channel", "digest", "due_at"),
    Index("notices_of_event", "tenant_id", "event_id"),
    _index("notices_of_user", "tenant_id", "user_id", where="user_id IS NOT NULL"),
)

rebuilds = _tenant_table(
    "rebuilds",
    Column("id", Uuid, primary_key=True),
    _tail(),
    _tail_index("rebuilds"),
    Column("user_id", Text, nullable=False),
    Column(
        "shadow_id",
        Text,
        nullable=False,
        comment="The tenant in which the rebuilt memories stand until they are taken over.",
    ),
    Column("status", Text, nullable=False),
    _json("params", empty="{}"),
    _json("difference"),
    _json("author", empty="{}"),
    _time("created_at", now=True),
    _time("ended_at"),
    Index("rebuilds_of_user", "tenant_id", "user_id"),
)

imports = _tenant_table(
    "imports",
    Column("id", Uuid, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("group_id", Text),
    _texts("formats"),
    Column("status", Text, nullable=False, comment="uploading, pending, running, done, failed or cancelled"),
    Column("size", BigInteger, nullable=False, comment="Bytes of the upload."),
    Column("sha256", Text, comment="Of an upload in parts, by which one that was interrupted is found again."),
    Column("file", Text, nullable=False, server_default=text("''"), comment="With `line`: what is restored already."),
    _count("line", comment="Lines of `file` that are restored."),
    _json("report", empty="{}"),
    _json("error"),
    _json("author", empty="{}"),
    Column("event_seq", BigInteger, comment="The event that asked for it."),
    _time("created_at", now=True),
    _time("updated_at", now=True),
    _time("ended_at"),
    Index("imports_of_user", "tenant_id", "user_id", "id"),
    _index("imports_of_group", "tenant_id", "group_id", where="group_id IS NOT NULL"),
    _index("imports_open", "tenant_id", "updated_at", where="ended_at IS NULL"),
    comment="Imports, and how far an archive has been restored.",
)

import_parts = _tenant_table(
    "import_parts",
    Column("import_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False, comment="0, 1, …; all but the last are as long."),
    Column("data", LargeBinary, nullable=False),
    comment="Uploaded archives in pieces, until they are restored.",
)

import_places = _tenant_table(
    "import_places",
    Column("import_id", Uuid, primary_key=True),
    Column("file", Text, primary_key=True, comment="messages or memories"),
    Column("session_id", Text, primary_key=True, comment="Empty for a memory."),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("ref", Text, nullable=False, comment="The message's or the memory's id."),
    comment="What the ordinals of an archive stand for, while it is restored.",
)

evidence = _tenant_table(
    "evidence",
    Column("memory_id", Uuid, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("event_id", Text, nullable=False),
    Column("quote", Text, nullable=False),
    _time("at", now=True),
    Column("change_id", Uuid),
    _flag("expired", comment="The message has left, because its time of retention was over."),
    Index("evidence_of_message", "tenant_id", "session_id", "message_id"),
    _index("evidence_of_request", "tenant_id", "event_id", where="session_id = ''"),
)

sweeps = _tenant_table(
    "sweeps",
    Column("user_id", Text, primary_key=True),
    _time("recorded_at", null=False, comment="Memories up to here were compared."),
    Column("memory_id", Uuid, nullable=False, comment="Of those recorded at that very moment, up to this one."),
)

relations = _tenant_table(
    "relations",
    Column("from_id", Uuid, primary_key=True),
    Column("relation", Text, primary_key=True),
    Column("to_id", Uuid, primary_key=True),
    _number("strength", 1, comment="From 0 to 1: how much of the weight of its kind it carries."),
    _time("at", now=True),
    Column("change_id", Uuid),
    CheckConstraint("strength > 0 AND strength <= 1", name="strength"),
    Index("relations_back", "tenant_id", "to_id"),
    _index("relations_of_change", "tenant_id", "change_id", where="change_id IS NOT NULL"),
)

search_index = _tenant_table(
    "search_index",
    Column("type", Text, primary_key=True, comment="message, memory, document or unit"),
    Column("session_id", Text, primary_key=True, comment="Empty for a memory; of a passage its document's id."),
    Column(
        "ref",
        Text,
        primary_key=True,
        comment="The message's id in its session, the memory's or unit's id, the passage.",
    ),
    _count("position"),
    Column("user_id", Text),
    Column("group_id", Text),
    _time("occurred_at", null=False),
    Column("told", SmallInteger, nullable=False, server_default=text("0"), comment="Terms outside of questions."),
    _flag("timed"),
    Column("terms", SPARSEVEC(TERM_IDS), nullable=False, comment="BM25 document weights by term id."),
    Column("own_terms", ARRAY(Integer), nullable=False, comment="Terms counted for this row in term_counts."),
    Column("embedding", HALFVEC, comment="Null until made: found by its words alone."),
    Column("embedding_next", HALFVEC, comment="By the other of two models, where there are two."),
    _flag("asks"),
    Column("names", SmallInteger, nullable=False, server_default=text("0"), comment="Names that are spoken of."),
    Column(
        "naming", JSONB, comment="Lists of names and roles of one person each, as the text says; null: it says none."
    ),
    Index("search_index_of_user", "tenant_id", "user_id", "type"),
    _index("search_index_of_group", "tenant_id", "group_id", "type", where="group_id IS NOT NULL"),
    _index(
        "search_index_shared",
        "tenant_id",
        "session_id",
        where="type = 'document' AND user_id IS NULL AND group_id IS NULL",
    ),
    _index("search_index_unembedded", "tenant_id", "session_id", where="embedding IS NULL"),
    _index("search_index_naming", "tenant_id", "user_id", "occurred_at", where="naming IS NOT NULL"),
)

search_changes = _tenant_table(
    "search_changes",
    Column("owner", Text, primary_key=True, comment="user:<id> or group:<id>"),
    Column("at", BigInteger, primary_key=True, comment="The id of the transaction that wrote it."),
    Column("type", Text, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("ref", Text, primary_key=True, comment="Empty: a message has gone, and nobody shall read here which."),
    _time("recorded_at", now=True),
    comment="Which rows of the search index were written lately, and by which transaction; written by triggers.",
)

term_counts = _tenant_table(
    "term_counts",
    Column("owner", Text, primary_key=True, comment="user:<id> or group:<id>"),
    Column("term", Integer, primary_key=True),
    _count("documents"),
)

model_calls = _tenant_table(
    "model_calls",
    Column("id", Uuid, primary_key=True, server_default=text("uuidv7()")),
    Column("dispatch_id", Uuid, nullable=False),
    Column("model", Text, nullable=False),
    Column("prompt", Text, nullable=False, comment="Name and version of the prompt."),
    _count("input_tokens"),
    _count("output_tokens"),
    _number("cost", 0),
    _number("latency_ms", 0),
    Column("outcome", Text, nullable=False),
    Column("answer", Text, comment="Kept where it could not be used."),
    _time("at", now=True),
    Column("rule", Text, comment="That of its dispatch."),
    Column("target", Text, comment="The agent of its dispatch."),
    Index("model_calls_of_dispatch", "tenant_id", "dispatch_id"),
    Index("model_calls_by_time", "tenant_id", "at"),
)

prompt_versions = _tenant_table(
    "prompt_versions",
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, comment="Null: the packaged prompt is used again."),
    _number("share", 1, comment="Of the sessions, those that it is used for."),
    Column("comment", Text, nullable=False, server_default=text("''")),
    Column("author", Text, nullable=False),
    _time("created_at", now=True),
    comment="Prompts of a tenant's own; the newest version of each name is in force.",
)

TENANT_TABLES = sorted(
    (table for table in metadata.sorted_tables if "tenant_id" in table.primary_key.columns),
    key=lambda table: table in {search_changes, kept_rows},
)
"""Tables of tenants. Those written by triggers of others come last, so that emptying all in order leaves nothing."""
