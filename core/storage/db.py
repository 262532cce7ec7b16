"""Engines, roles, tenant-bound transactions, bulk parameters."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import psycopg
from psycopg.abc import Loader
from psycopg.adapt import AdaptersMap
from psycopg.pq import Format
from pydantic_core import from_json, to_json
from sqlalchemy import Connection, Engine, Executable, Table, TextClause, create_engine, make_url, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from core import metrics
from core.config import Settings
from core.errors import Misconfigured, NotFound
from core.storage import connection, idle_connections, multiquery, positions
from core.storage.kept_plans import OutdatedPlanError
from core.storage.multiquery import BoundStatement

APP_ROLE = "imprint_app"
"""Role that sees one tenant at a time: the one set in the transaction."""

ROUTER_ROLE = "imprint_router"
"""Role that sees the queue of every tenant (events, decisions, dispatches, flows, rules), and no memory's text."""

PUBLIC: Final = "public"
"""Schema of all tables."""

Tx = Connection

EVERYTHING: Final = "*"
"""Reader who may read whatever its labels are: the service itself."""

UNLABELLED: Final = ""
"""Reader who holds no label."""


class Sight(NamedTuple):
    """Scope of a tenant's transactions.

    `reader`: labels that the reader holds, joined by commas; rows with others are invisible (policy `readers`).
    `schema`: first on the search path, that of a vector space (`core.storage.vector_spaces`).
    """

    reader: str = EVERYTHING
    schema: str = PUBLIC


INTERNAL: Final = Sight()
"""Sight of the service itself, with the vectors in the tables' own column."""

Gate = Callable[[Any], None]
"""Is told the state of a server that replays another's log, as a transaction begins; raises if it must not answer."""


@dataclass(frozen=True, slots=True)
class Database:
    """Connection pool of one role. `app` needs a tenant for every transaction; `router` works on the queues of all.

    `statement_seconds` ends any statement of a tenant's transaction that takes longer; 0: no limit. `sight`: which rows
    and vectors its transactions see. `gate`: of a replica, for each transaction of a tenant. `another`: opens a further
    pool to a replica, whose connections end with the others when it is given up.
    """

    engine: Engine
    statement_seconds: float = 0
    sight: Sight = INTERNAL
    gate: Gate | None = None
    another: Callable[[], Database] | None = None

    @property
    def reader(self) -> str:
        return self.sight.reader

    @property
    def schema(self) -> str:
        return self.sight.schema

    def as_reader(self, labels: Collection[str] | None) -> Database:
        """Return the same pool for a reader who holds these labels; None: for one who may read everything."""
        reader = EVERYTHING if labels is None else ",".join(sorted(labels))
        return self if reader == self.reader else replace(self, sight=self.sight._replace(reader=reader))

    def at(self, schema: str) -> Database:
        """Return the same pool with another schema first."""
        return self if schema == self.schema else replace(self, sight=self.sight._replace(schema=schema))

    def apart(self) -> Database:
        """Open a pool of one connection to the same server and for the same reader, without a limit; close it."""
        own = connect(self.engine.url, 1) if self.another is None else self.another()
        return replace(own, sight=self.sight, gate=self.gate)

    @contextmanager
    def tenant(self, tenant_id: str) -> Iterator[Tx]:
        """Open a transaction that sees the rows of `tenant_id` and no others."""
        with self.asking(tenant_id) as (tx, _):
            yield tx

    @contextmanager
    def asking(
        self, tenant_id: str, *statements: BoundStatement | None, meanwhile: Callable[[], object] | None = None
    ) -> Iterator[tuple[Tx, list[list[Any]]]]:
        """Open the same transaction, with the rows of statements sent in the round trip that opens it.

        None stands for a statement without rows. `meanwhile` runs while the database works; twice, if the connection
        turns out to be lost.
        """
        opening = (_BEGIN, {}), self._bind(tenant_id), *statements
        with self._begun(*opening, meanwhile=meanwhile) as (tx, (_, bound, *answers)):
            self._pass(bound)
            yield tx, answers

    def ask(self, tenant_id: str, *statements: BoundStatement) -> list[list[Any]]:
        """Run statements on a tenant in a transaction of one round trip, as `ask_queues` does."""
        bound, *answers = self._ask(self._bind(tenant_id), *statements)
        self._pass(bound)
        return answers

    def ask_again(self, tx: Tx, tenant_id: str, *statements: BoundStatement | None) -> list[list[Any]]:
        """Return the rows of statements in a further transaction of the same connection, in one round trip.

        For a transaction that was committed with its `last` statements, and turns out to need more.
        """
        _, bound, *answers = run_together(tx, (_BEGIN, {}), self._bind(tenant_id), *statements, last=True)
        self._pass(bound)
        return answers

    @contextmanager
    def snapshot(self, tenant_id: str, seconds: float) -> Iterator[Tx]:
        """Open a transaction that only reads, of which all statements see the same moment, each at most that long."""
        bound = self._bind(tenant_id, seconds)
        with self._begun((_BEGIN_SNAPSHOT, {}), bound) as (tx, (_, state)):
            self._pass(state)
            yield tx

    @contextmanager
    def queue(self) -> Iterator[Tx]:
        """Open a transaction over the queues of all tenants; only the router's role sees anything in it."""
        with self.asking_queues() as (tx, _):
            yield tx

    @contextmanager
    def asking_queues(self, *statements: BoundStatement) -> Iterator[tuple[Tx, list[list[Any]]]]:
        """Open the same transaction, with the rows of statements sent in the round trip that opens it."""
        with self._begun((_BEGIN, {}), *statements) as (tx, (_, *answers)):
            yield tx, answers

    def ask_queues(self, *statements: BoundStatement) -> list[list[Any]]:
        """Run statements in a transaction of one round trip; return the rows of each.

        They run twice where a pooled connection is lost while they run: for what may be repeated.
        """
        return self._ask(*statements)

    def _ask(self, *statements: BoundStatement) -> list[list[Any]]:
        ending = positions.ending()
        tx, (_, *answers) = _check_out(self.engine, ((_BEGIN, {}), *statements, *ending), None)
        tx.close()
        positions.note(answers)
        return answers[: -len(ending)]

    def _pass(self, bound: Sequence[Any]) -> None:
        if self.gate is not None:
            self.gate(bound[0])

    def _bind(self, tenant_id: str, seconds: float = 0) -> BoundStatement:
        path = self.schema if self.schema == PUBLIC else f"{self.schema}, {PUBLIC}"
        values = {"tenant": tenant_id, "reader": self.reader, "path": path}
        seconds = seconds or self.statement_seconds
        unbound, briefly = (_BIND, _BIND_BRIEFLY) if self.gate is None else (_BIND_REPLICA, _BIND_REPLICA_BRIEFLY)
        return (briefly, {**values, "limit": f"{max(1, round(seconds * 1000))}ms"}) if seconds else (unbound, values)

    @contextmanager
    def _begun(
        self, *opening: BoundStatement | None, meanwhile: Callable[[], object] | None = None
    ) -> Iterator[tuple[Tx, list[list[Any]]]]:
        tx, answers = _check_out(self.engine, opening, meanwhile)
        with tx, tx.begin():  # BEGIN has been sent already.
            yield tx, answers

    def close(self) -> None:
        self.engine.dispose()


def _check_out(
    engine: Engine, opening: Sequence[BoundStatement | None], meanwhile: Callable[[], object] | None
) -> tuple[Tx, list[list[Any]]]:
    """Check out a connection and begin a transaction in one round trip.

    A pooled connection that is found dead is replaced, and one whose prepared statements are outdated begins again.
    """
    while True:
        with metrics.DATABASE_WAIT.time():
            tx = engine.connect()
        driver, used = tx.connection.driver_connection, tx.connection.info
        try:
            answers = run_together(tx, *opening, meanwhile=meanwhile)
        except BaseException as error:
            lost = driver is None or driver.closed
            outdated = isinstance(error, DBAPIError) and isinstance(error.orig, OutdatedPlanError)
            again = (lost or outdated) and _USED in used
            if lost:
                tx.invalidate()
            tx.close()
            if not again:
                raise
        else:
            used[_USED] = True
            return tx, answers


_USED: Final = "used"
_BEGIN: Final = text("BEGIN")
_BEGIN_SNAPSHOT: Final = text("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_BINDING: Final = """
    SELECT set_config('imprint.tenant', :tenant, true), set_config('imprint.reader', :reader, true),
           set_config('search_path', :path, true)
"""
_BOUND_TIME: Final = ", set_config('statement_timeout', :limit, true)"

REPLAY_STATE: Final = """
    pg_is_in_recovery() AS replays,
    cast(coalesce(pg_last_wal_replay_lsn() - '0/0', 0) AS bigint) AS position,
    cast(pg_postmaster_start_time() AS text) AS started
"""
"""What a `Gate` is told: whether the server is a standby, what it has replayed, and since when it runs."""

_BIND: Final = text(_BINDING)
"""Local to the transaction, so that a transaction pooler cannot pass it on to another client."""

_BIND_BRIEFLY: Final = text(_BINDING + _BOUND_TIME)
_BIND_REPLICA: Final = text(f"{_BINDING}, {REPLAY_STATE}")
_BIND_REPLICA_BRIEFLY: Final = text(f"{_BINDING}{_BOUND_TIME}, {REPLAY_STATE}")


def owner_url(settings: Settings) -> URL:
    """Return the URL of the role that owns the tables: from the settings, else of the stack running on this home."""
    if settings.database_url is not None:
        return driver_url(settings.database_url.get_secret_value())
    if "database_url" in settings.stack:
        return driver_url(settings.stack["database_url"])
    raise Misconfigured(
        f"No database: set IMPRINT_DATABASE_URL, or start the embedded one with `imprint up` "
        f"(home: {settings.home.absolute()})."
    )


def app_url(settings: Settings) -> URL:
    """Return the URL of the tenant-bound role, given or derived."""
    given = settings.database_app_url
    return driver_url(given.get_secret_value()) if given else derived_url(owner_url(settings), APP_ROLE)


def router_url(settings: Settings) -> URL:
    """Return the URL of the queue role, given or derived."""
    given = settings.database_router_url
    return driver_url(given.get_secret_value()) if given else derived_url(owner_url(settings), ROUTER_ROLE)


def derived_url(owner: URL, role: str) -> URL:
    """Return the same server's URL for `role`, with a password computed from the owner's."""
    digest = hmac.new((owner.password or "").encode(), f"imprint role {role}".encode(), hashlib.sha256)
    return owner.set(username=role, password=digest.hexdigest())


def connect(url: URL, pool: int, schema: str = PUBLIC, *, dispensable: bool = False) -> Database:
    """Open a pool; nothing is sent before the first transaction. `schema`: first on a tenant's search path.

    `dispensable`: of a server without which the work goes on, and which is soon given up.
    """
    engine = create_engine(
        url,
        poolclass=connection.Pool,
        pool_size=pool,
        max_overflow=0,
        pool_use_lifo=True,  # so that what a busier time has opened is left alone, and can be closed
        hide_parameters=True,  # Errors are logged and stored; they must not contain what people said.
        json_deserializer=_json,
        use_native_hstore=False,  # Nothing here is an hstore: its type need not be looked up at the first connection.
        # The driver's own prepared statements would bind a session even behind a pooler, and keep a plan for ever
        # that ignores how many rows a tenant has; `kept_plans` does neither.
        # Parameters of the server are set for the role (`schema`): a pooler refuses those of a connection.
        connect_args={"prepare_threshold": None, **(_BRIEF_PROBES if dispensable else _PROBES)},
    )
    connection.use(engine)
    idle_connections.watch(engine)
    return Database(engine, sight=Sight(schema=schema))


def _json(raw: bytes) -> Any:
    """Decode a JSON value of the database, four times as fast as `json` with equal numbers and texts.

    No string is cached between values, because it may be erased later.
    """
    try:
        return from_json(raw, cache_strings="none")
    except ValueError:  # `from_json` stops at 200 levels.
        return json.loads(raw)


PROBE_SECONDS, PROBE_INTERVAL_SECONDS, PROBES = 10, 5, 3
"""Both ends of an idle connection probe the other after so long, and so often, until they give it up."""

GONE_SECONDS: Final = PROBE_SECONDS + PROBE_INTERVAL_SECONDS * PROBES
"""After so long without an answer the other end of a connection has gone, also one to which something was sent."""

_PROBES: Final = {
    "connect_timeout": 10,
    "keepalives_idle": PROBE_SECONDS,
    "keepalives_interval": PROBE_INTERVAL_SECONDS,
    "keepalives_count": PROBES,
    "tcp_user_timeout": GONE_SECONDS * 1000,
}

_BRIEF_PROBES: Final = {
    "connect_timeout": 2,
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 3000,
}

CHUNK_ROWS: Final = 4_096
"""Rows fetched in one chunk: some five megabytes of the search index."""


def stream_chunks(
    tx: Tx, statement: str, values: Mapping[str, object], count: int = 0, *, raw: bool = False
) -> Generator[list[tuple[Any, ...]]]:
    """Yield the rows of a statement in chunks, in binary form: what becomes an array is never text.

    `count`: rows of a chunk, if not `CHUNK_ROWS`. `raw`: numbers and times are bytes as sent. Parameters have psycopg's
    form, `%(name)s`. Close the generator if it is not read to its end.
    """
    count = count or CHUNK_ROWS
    rows = stream_rows(tx, statement, values, count, raw=raw)
    with closing(rows):
        while piece := list(islice(rows, count)):
            yield piece


def stream_rows(
    tx: Tx, statement: str, values: Mapping[str, object], fetched: int, *, raw: bool = False
) -> Generator[tuple[Any, ...]]:
    """Yield the rows of a statement one by one, as `stream_chunks` does; `fetched` of them are held at a time."""
    driver = driver_of(tx)
    with translate_errors(tx), driver.cursor() as cursor:
        if raw:
            load_raw(cursor.adapters)
        yield from cursor.stream(statement, values, binary=True, size=fetched)


def driver_of(tx: Tx) -> psycopg.Connection[Any]:
    """Return the driver's connection of a transaction."""
    driver: psycopg.Connection[Any] | None = tx.connection.driver_connection
    if driver is None:
        raise RuntimeError("The connection is closed.")
    return driver


def load_raw(adapters: AdaptersMap) -> None:
    """Let a cursor return numbers and times as the bytes in which they are sent."""
    as_sent = adapters.get_loader(adapters.types["bytea"].oid, Format.BINARY)
    for name in ("bool", "int2", "int4", "float4", "timestamptz"):
        adapters.register_loader(adapters.types[name].oid, cast("type[Loader]", as_sent))


def first_id(moment: datetime) -> UUID:
    """Return the least id from a moment on: ids are UUIDs of version 7, which begin with the time."""
    return UUID(int=max(int(moment.timestamp() * 1000), 0) << 80)


def message_places(places: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the values by which statements name messages: their sessions, and their ids in these."""
    pairs = list(places)
    return {"sessions": [session for session, _ in pairs], "messages": [message for _, message in pairs]}


def like_pattern(piece: str) -> str:
    """Return the pattern of LIKE for texts that hold a piece."""
    escaped = piece.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def required_row(tx: Tx, statement: Executable, values: Mapping[str, Any], missing: str) -> Any:
    """Return the row that a statement finds. NotFound: it finds none; `missing` says so."""
    row = tx.execute(statement, values).first()
    if row is None:
        raise NotFound(missing)
    return row


def run_together(
    tx: Tx, *statements: BoundStatement | None, meanwhile: Callable[[], object] | None = None, last: bool = False
) -> list[list[Any]]:
    """Run independent statements in one round trip; return the rows of each.

    None stands for a statement without rows. `meanwhile` runs while the database works. `last`: the transaction is
    committed in the same round trip; a later statement in it sees no tenant's rows.
    """
    given = [statement for statement in statements if statement is not None]
    if not given and not last:
        return [[] for _ in statements]
    driver = driver_of(tx)
    with translate_errors(tx):
        all_rows = multiquery.run_statements(driver, [*given, *(positions.ending() if last else ())], meanwhile)
    if last:
        positions.note(all_rows)
    answers = iter(all_rows)
    return [[] if statement is None else next(answers) for statement in statements]


@contextmanager
def translate_errors(tx: Tx) -> Iterator[None]:
    """Raise errors of the driver as those of SQLAlchemy, which all callers handle."""
    try:
        yield
    except psycopg.Error as error:
        raise DBAPIError.instance(None, None, error, psycopg.Error, hide_parameters=True, dialect=tx.dialect) from error


def recordset(rows: Sequence[Mapping[str, object]]) -> str:
    """Encode rows as one JSON parameter for `json_to_recordset`: several times cheaper to send than arrays."""
    return json.dumps(rows, ensure_ascii=False, default=plain)


def inserting(table: Table, names: Iterable[str], more: str = "") -> TextClause:
    """Return the statement that inserts the rows of the recordset `:rows`, with these columns, for `:tenant`."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    columns = {name: table.c[name].type.compile(dialect) for name in names}
    declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return text(f"""
        INSERT INTO {table.name} (tenant_id, {", ".join(columns)})
        SELECT :tenant, {", ".join(columns)} FROM json_to_recordset(cast(:rows AS json)) AS r ({declared}) {more}
    """)


def text_array(values: Sequence[object]) -> str | None:
    """Encode texts, numbers and None as an array for `unnest`; None: there is no value at all.

    Columns as arrays take the database a third of the time that the same rows take as JSON.
    """
    if None in values:
        if all(value is None for value in values):
            return None
        return "{" + ",".join("NULL" if value is None else _element(str(value)) for value in values) + "}"
    joined = _BETWEEN.join(map(str, values))
    if not values or joined.count(_BETWEEN) >= len(values):  # The driver refuses such a text.
        return "{" + ",".join(_element(str(value)) for value in values) + "}"
    return _element(joined).replace(_BETWEEN, '","').join("{}")


def _element(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_BETWEEN: Final = "\0"
"""No text that PostgreSQL can store has it."""


def json_texts(values: Sequence[object]) -> list[str | None]:
    """Return each value as JSON; None stays."""
    return [None if value is None else _json_text(value) for value in values]


def _json_text(value: object) -> str:
    try:
        return to_json(value).decode()
    except ValueError:  # `to_json` stops at 250 levels, and at half a surrogate pair, which the driver refuses.
        return json.dumps(value, ensure_ascii=False)


def plain(value: object) -> str:
    """Return a value that JSON does not know as text; a time in ISO 8601."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def require_bound(db: Database) -> None:
    """Raise Misconfigured for a role that row-level security does not bind."""
    with db.queue() as tx:
        role = tx.execute(_ROLE).one()
    if role.rolsuper or role.rolbypassrls or role.owns:
        raise Misconfigured(
            f"The role {role.name!r} is a superuser, may bypass row-level security or owns tables, so tenants would "
            f"not be isolated. Give IMPRINT_DATABASE_APP_URL and IMPRINT_DATABASE_ROUTER_URL the roles that "
            f"`imprint db upgrade` creates."
        )


_ROLE = text("""
    SELECT current_user AS name, rolsuper, rolbypassrls,
           EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relkind = 'r') AS owns
    FROM pg_roles WHERE rolname = current_user
""")


def driver_url(url: str) -> URL:
    """Return a URL of PostgreSQL as one of its driver."""
    parsed = make_url(url)
    return parsed.set(drivername="postgresql+psycopg")
