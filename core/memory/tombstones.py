"""Salted hashes of erased statements."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import text

from core.language.lexicon import DIRECTED
from core.memory import identity
from core.statements import comparison, succession
from core.storage.db import Tx, recordset
from core.types import Candidate

ENOUGH_WORDS = 3
"""Words that mean something from which a statement is known again in another order; fewer stand in too many."""


class Statement(Protocol):
    """What a memory says: a candidate, or a row of `memories`."""

    @property
    def content(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def attribute(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...


def lay(tx: Tx, tenant_id: str, user_id: str, statements: Iterable[Statement]) -> int:
    """Let these statements of a user stay away; how many hashes are new."""
    salt = _salt(tx, tenant_id)
    return _keep(tx, tenant_id, {h for one in statements for h in _hashes(salt, user_id, one)})


def lay_user(tx: Tx, tenant_id: str, user_id: str) -> int:
    """Let all that a user has said until now stay away, whoever delivers it again; what they say later is new."""
    tx.execute(_LIFT, {"hashes": [_user_hash(_salt(tx, tenant_id), user_id)]})
    return _keep(tx, tenant_id, {_user_hash(_salt(tx, tenant_id), user_id)})


def buried(tx: Tx, tenant_id: str, user_id: str, candidates: Sequence[Candidate]) -> list[bool]:
    """For each candidate of a user whether it was erased: it itself, or all that was said until then."""
    if not candidates:
        return []
    salt = _salt(tx, tenant_id)
    asked = [_hashes(salt, user_id, one) for one in candidates]
    everything = _user_hash(salt, user_id)
    found = _laid(tx, {everything, *(h for hashes in asked for h in hashes)})
    until = found.pop(everything, None)
    said = {} if until is None else _said(tx, candidates)
    return [
        (until is not None and said.get(place, one.occurred_at) <= until) or not found.keys().isdisjoint(hashes)
        for place, (one, hashes) in enumerate(zip(candidates, asked, strict=True))
    ]


def _said(tx: Tx, candidates: Sequence[Candidate]) -> dict[int, datetime]:
    """When each was said last, which need not be when it happened: "I moved in May" is said after May."""
    cited = [
        {"place": place, "session": e.session_id, "message": e.message_id}
        for place, one in enumerate(candidates)
        for e in one.evidence
    ]
    return {row.place: row.at for row in tx.execute(_SAID, {"cited": recordset(cited)})}


def matching(
    tx: Tx, tenant_id: str, user_id: str, candidates: Sequence[Statement], statements: Iterable[Statement]
) -> list[bool]:
    """For each candidate whether a tombstone of one of the statements would keep it away."""
    salt = _salt(tx, tenant_id)
    hashes = {h for one in statements for h in _hashes(salt, user_id, one)}
    return [not hashes.isdisjoint(_hashes(salt, user_id, one)) for one in candidates]


def lift(tx: Tx, tenant_id: str, user_id: str, statements: Iterable[Statement]) -> int:
    """Someone asks for these statements again: they may be learnt from now on; how many hashes are gone."""
    salt = _salt(tx, tenant_id)
    hashes = {h for one in statements for h in _hashes(salt, user_id, one)}
    return tx.execute(_LIFT, {"hashes": sorted(hashes)}).rowcount


def digest(tx: Tx, tenant_id: str, *words: str) -> str:
    """Salted hash of what a receipt is about: who knows it can find it in there, nobody else."""
    return _hash(_salt(tx, tenant_id), "receipt", *words)


def _keep(tx: Tx, tenant_id: str, hashes: Iterable[str]) -> int:
    return tx.execute(_LAY, {"tenant": tenant_id, "hashes": sorted(hashes)}).rowcount


def _laid(tx: Tx, hashes: Iterable[str]) -> dict[str, datetime]:
    return {row.hash: row.at for row in tx.execute(_FIND, {"hashes": sorted(hashes)})}


def _hashes(salt: str, user_id: str, statement: Statement) -> set[str]:
    """All by which a statement is known again: as it stands, by its slot, by its words in any order."""
    subject = succession.plain(statement.subject)
    keys: list[tuple[str, ...]] = [("statement", identity.statement_key(statement.subject, statement.content))]
    if statement.attribute is not None and statement.value is not None:
        keys.append(("slot", subject, statement.attribute, succession.plain(statement.value)))
    words = _words(statement.content)
    if words is not None:
        keys.append(("words", subject, *words))
    return {_hash(salt, user_id, *key) for key in keys}


def _words(content: str) -> tuple[str, ...] | None:
    """The words of a statement without their order, and what turns its meaning over; None: too few to know it by.

    Where the order matters (from Rome to Bern), only a phrase may have moved from the end to the front.
    """
    read = comparison.read(content)
    if len(set(read.words)) < ENOUGH_WORDS:
        return None
    turns = (str(read.denials % 2), str(read.ended), ",".join(sorted(read.bound)))
    if DIRECTED.isdisjoint(read.order):
        return (*turns, *sorted(set(read.words)))
    return (*turns, *min(read.order[at:] + read.order[:at] for at in range(len(read.order))))


def _user_hash(salt: str, user_id: str) -> str:
    return _hash(salt, user_id, "everything")


def _hash(salt: str, *words: str) -> str:
    # As JSON: no two lists of words run together into one text.
    return hmac.new(salt.encode(), json.dumps(words).encode(), hashlib.sha256).hexdigest()


def _salt(tx: Tx, tenant_id: str) -> str:
    return str(tx.execute(_SALT, {"tenant": tenant_id}).scalar_one())


_SALT = text("SELECT salt FROM tenants WHERE id = :tenant")

_LAY = text("""
    INSERT INTO tombstones (tenant_id, hash) SELECT :tenant, unnest(cast(:hashes AS text[])) ON CONFLICT DO NOTHING
""")

_FIND = text("SELECT hash, at FROM tombstones WHERE hash = ANY(:hashes)")

_LIFT = text("DELETE FROM tombstones WHERE hash = ANY(:hashes)")

_SAID = text("""
    SELECT c.place, max(m.occurred_at) AS at
    FROM json_to_recordset(cast(:cited AS json)) AS c (place int, session text, message text)
    JOIN messages m ON m.session_id = c.session AND m.id = c.message GROUP BY c.place
""")
