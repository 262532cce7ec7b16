"""Statements that a connection keeps prepared: parsed and, where the server sees no use in a new plan, planned.

Parsing, applying the policies of row-level security and planning took two thirds of the server's time for a search
(docs/decisions/performance.md, 0062).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors
from psycopg.pq.abc import PGresult
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

BoundStatement = tuple[TextClause, Mapping[str, object]]
"""A statement and its values."""

KEPT_SECONDS: Final = 10.0
"""Age at which all of a connection's prepared statements are dropped: a plan forgets how large the tables were."""

MOST: Final = 100
"""Statements that a connection keeps prepared, some 40 kB each in the server."""

Literals = Callable[[object], bytes]
"""Writes a value as an SQL literal."""


class OutdatedPlanError(psycopg.OperationalError):
    """A migration has changed the columns of a prepared statement's rows; what is sent again is prepared anew."""


_Key = tuple[TextClause, tuple[bytes, ...]]
"""A statement with the types of its values: an integer and NULL are prepared apart, as they are parsed apart."""


@dataclass(slots=True)
class KeptPlans:
    """Prepared statements of one connection. A statement is prepared with its second use in `KEPT_SECONDS`.

    `direct`: whether the server's process is the connection's own; behind a transaction pooler nothing is prepared.
    None: not known yet.
    """

    process: int
    direct: bool | None = None
    _since: float = field(default_factory=time.monotonic)
    _names: dict[_Key, bytes] = field(default_factory=dict)
    _seen: set[_Key] = field(default_factory=set)
    _count: int = 0
    _outdated: bool = False

    def write(self, statements: Sequence[BoundStatement], literal: Literals) -> Batch:
        """Write statements as SQL, those that are prepared as calls."""
        if time.monotonic() > self._since + KEPT_SECONDS:
            self.discard()
        batch = Batch()
        if self.direct is None:
            batch.ahead.append(WHOSE)
        elif self._outdated:
            batch.ahead.append(b"DEALLOCATE ALL")
        for statement, values in statements:
            parts = split(statement)
            literals = {name: literal(values[name]) for name in parts.names}
            batch.sql.append(self._call(batch, statement, parts, literals) or parts.with_values(literals))
        return batch

    def note(self, results: Sequence[PGresult]) -> None:
        """Learn from the results of what was sent ahead of a batch."""
        self._outdated = False
        if self.direct is None:
            self.direct = results[0].get_value(0, 0) == str(self.process).encode()

    def fail(self, error: psycopg.Error) -> psycopg.Error:
        """Discard what is prepared, and return the error of a batch as its callers know it."""
        outdated = bool(self._names) and isinstance(error, errors.FeatureNotSupported)
        self.discard()
        return OutdatedPlanError(*error.args) if outdated else error

    def discard(self) -> None:
        """Use no statement that was prepared before: it is outdated, or was perhaps not prepared."""
        self._outdated = self._outdated or bool(self._names)
        self._names.clear()
        self._seen.clear()
        self._since = time.monotonic()

    def _call(self, batch: Batch, statement: TextClause, parts: Parts, literals: Mapping[str, bytes]) -> bytes | None:
        """Return the call of a prepared statement; None: it is not prepared."""
        if not self.direct or not parts.preparable:
            return None
        key = (statement, tuple([_type_of(literal) for literal in literals.values()]))
        name = self._names.get(key)
        if name is None and key in self._seen and len(self._names) < MOST:
            self._count += 1
            name = self._names[key] = b"kept%d" % self._count
            batch.ahead.append(_preparing(name, key[1], parts))
        self._seen.add(key)
        if name is None or not literals:
            return name and b"EXECUTE " + name
        return b"EXECUTE %b(%b)" % (name, b",".join(literals.values()))


@dataclass(slots=True)
class Batch:
    """Statements for one round trip. `ahead`: those of the round trip before it, if there are any.

    The server keeps the text that prepared a statement with all that was sent beside it, so no values may be there.
    """

    sql: list[bytes] = field(default_factory=list)
    ahead: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Parts:
    """A statement divided at its values: the text before them, and the name of each with the text behind it."""

    first: bytes
    rest: Sequence[tuple[str, bytes]]
    names: Sequence[str]
    preparable: bool

    def with_values(self, written: Mapping[str, bytes]) -> bytes:
        """Return the statement with literals, or with the places of parameters, by name."""
        if not self.rest:
            return self.first
        # The spaces keep a negative number after a minus from beginning a comment, and words apart.
        return b"".join([self.first, *[b" %b %b" % (written[name], part) for name, part in self.rest]])


@lru_cache(maxsize=512)
def split(statement: TextClause) -> Parts:
    """Divide a statement at its values."""
    sql = str(statement.compile(dialect=PGDialect_psycopg()))  # type: ignore[no-untyped-call]
    parts, names, begin = [""], [], 0
    for match in _VALUE.finditer(sql):
        parts[-1] += sql[begin : match.start()]
        begin = match.end()
        if match[1] is None:
            parts[-1] += "%"
        else:
            names.append(match[1])
            parts.append("")
    parts[-1] += sql[begin:]
    first, *others = [part.encode() for part in parts]
    rest = list(zip(names, others, strict=True))
    return Parts(first, rest, list(dict.fromkeys(names)), _PREPARABLE.match(first) is not None)


_VALUE: Final = re.compile(r"%%|%\((\w+)\)s")
"""Placeholder of a value in psycopg's form, or an escaped percent sign."""

_PREPARABLE: Final = re.compile(rb"\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|VALUES)\b", re.IGNORECASE)


def _type_of(literal: bytes) -> bytes:
    """Return the type that the server takes a literal for; `unknown`: it infers it from the context."""
    if literal.endswith(b"'") or literal == b"NULL":
        return b"unknown"
    _, cast, type_ = literal.rpartition(b"'::")
    if cast:
        return type_
    if literal in _BOOLEANS:
        return b"boolean"
    if not _WHOLE.fullmatch(literal):
        return b"numeric"
    number = int(literal)
    return b"int4" if -_INT4 <= number < _INT4 else b"int8" if -_INT8 <= number < _INT8 else b"numeric"


def _preparing(name: bytes, types: Sequence[bytes], parts: Parts) -> bytes:
    declared = b"(%b)" % b",".join(types) if types else b""
    places = {name: b"$%d" % number for number, name in enumerate(parts.names, 1)}
    return b"PREPARE %b%b AS %b" % (name, declared, parts.with_values(places))


WHOSE: Final = b"SELECT pg_backend_pid()"
"""Asks for the server's process: a transaction pooler has given its clients another number."""

_BOOLEANS: Final = frozenset({b"true", b"false"})
_WHOLE: Final = re.compile(rb" ?-?\d+")
_INT4: Final = 2**31
_INT8: Final = 2**63

_PLANS: WeakKeyDictionary[psycopg.Connection[Any], KeptPlans] = WeakKeyDictionary()


def of(driver: psycopg.Connection[Any]) -> KeptPlans:
    """Return the prepared statements of a connection."""
    plans = _PLANS.get(driver)
    if plans is None:
        plans = _PLANS[driver] = KeptPlans(driver.info.backend_pid)
    return plans
