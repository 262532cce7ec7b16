"""Salted hashes of erased statements."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from core.language.lexicon import DIRECTED
from core.memoize import memoized_in_scope
from core.memory import identity
from core.statements import comparison, succession
from core.statements.succession import Statement
from core.storage import tables
from core.storage.db import Tx, inserting, recordset, run_together
from core.storage.multiquery import BoundStatement
from core.types import Candidate

ENOUGH_WORDS = 3
"""Least number of meaningful words by which a statement is recognised in another order; fewer occur in too many
statements.
"""


def lay(tx: Tx, tenant_id: str, user_id: str, statements: Iterable[Statement]) -> int:
    """Store tombstones for statements of a user; return how many hashes are new."""
    salt = _salt(tx, tenant_id)
    return _keep(tx, tenant_id, {h for statement in statements for h in _hashes(salt, user_id, statement)})


def lay_user(tx: Tx, tenant_id: str, user_id: str) -> int:
    """Store a tombstone for everything a user has said until now, however delivered; later statements are new."""
    return _lay_anew(tx, tenant_id, _user_hash(_salt(tx, tenant_id), user_id))


def lay_group(tx: Tx, tenant_id: str, group_id: str) -> int:
    """Store a tombstone for everything said to a group until now, likewise."""
    return _lay_anew(tx, tenant_id, _group_hash(_salt(tx, tenant_id), group_id))


def _lay_anew(tx: Tx, tenant_id: str, hashed: str) -> int:
    tx.execute(_LIFT, {"hashes": [hashed]})
    return _keep(tx, tenant_id, [hashed])


def lay_values(tx: Tx, tenant_id: str, owner: str, values: Iterable[str]) -> int:
    """Store tombstones for values that were erased from what a user or group said; return how many hashes are new."""
    salt = _salt(tx, tenant_id)
    return _keep(tx, tenant_id, {_hash(salt, owner, "value", succession.plain(value)) for value in values})


def erased_values(tx: Tx, tenant_id: str, owner: str, values: Sequence[str]) -> list[str]:
    """Return those of the values that were erased from what this user or group said."""
    salt = _salt(tx, tenant_id)
    hashes = {value: _hash(salt, owner, "value", succession.plain(value)) for value in values}
    existing = _existing_hashes(tx, set(hashes.values()))
    return [value for value, hashed in hashes.items() if hashed in existing]


def all_erased_until(tx: Tx, tenant_id: str, user_id: str) -> datetime | None:
    """Return when everything that a user had said until then was erased; None: it never was."""
    everything = _user_hash(_salt(tx, tenant_id), user_id)
    return _existing_hashes(tx, {everything}).get(everything)


def groups_erased_until(tx: Tx, tenant_id: str, group_ids: Iterable[str]) -> dict[str, datetime]:
    """Return of these groups those that were erased, and when."""
    salt = _salt(tx, tenant_id)
    hashes = {_group_hash(salt, group_id): group_id for group_id in group_ids}
    return {hashes[hashed]: at for hashed, at in _existing_hashes(tx, hashes).items()} if hashes else {}


def are_erased(tx: Tx, tenant_id: str, user_id: str, candidates: Sequence[Candidate]) -> list[bool]:
    """Return for each candidate whether it was erased: itself, or with all that the user had said until then."""
    if not candidates:
        return []
    return were_erased(tx, user_id, candidates, None, run_together(tx, *asking(tenant_id, candidates)))


def asking(
    tenant_id: str, candidates: Sequence[Candidate], group_id: str | None = None
) -> tuple[BoundStatement | None, BoundStatement | None]:
    """Return the statements that `were_erased` reads the answers of, to be run together with others."""
    if not candidates:
        return None, None
    salt: BoundStatement = _SALT, {"tenant": tenant_id}
    session_ids = sorted({e.session_id for candidate in candidates for e in candidate.evidence if e.session_id})
    return salt, (_GROUPS, {"ids": session_ids}) if session_ids and group_id is None else None


def were_erased(
    tx: Tx, user_id: str, candidates: Sequence[Candidate], group_id: str | None, answers: Sequence[Sequence[Any]]
) -> list[bool]:
    """Return the same as `are_erased` by the answers to `asking`."""
    if not candidates:
        return []
    salts, in_groups = answers
    salt = str(salts[0].salt)
    candidate_hashes = [_hashes(salt, user_id, candidate) for candidate in candidates]
    groups = [group_id] if group_id is not None else [row.group_id for row in in_groups]
    everything = {_user_hash(salt, user_id), *(_group_hash(salt, group) for group in groups)}
    existing = _existing_hashes(tx, {*everything, *(h for hashes in candidate_hashes for h in hashes)})
    until = max((existing.pop(hashed) for hashed in everything & existing.keys()), default=None)
    said_times = {} if until is None else _said_times(tx, candidates)
    return [
        (until is not None and said_times.get(position, candidate.occurred_at) <= until)
        or not existing.keys().isdisjoint(hashes)
        for position, (candidate, hashes) in enumerate(zip(candidates, candidate_hashes, strict=True))
    ]


def _said_times(tx: Tx, candidates: Sequence[Candidate]) -> dict[int, datetime]:
    """Return when each was said last, which may be later than when it happened: "I moved in May" is said after May."""
    cited = [
        {"place": position, "session": e.session_id, "message": e.message_id}
        for position, candidate in enumerate(candidates)
        for e in candidate.evidence
    ]
    return {row.place: row.at for row in tx.execute(_SAID, {"cited": recordset(cited)})}


def match(
    tx: Tx, tenant_id: str, user_id: str, candidates: Sequence[Statement], statements: Iterable[Statement]
) -> list[bool]:
    """Return for each candidate whether a tombstone of one of the statements would refuse it."""
    salt = _salt(tx, tenant_id)
    hashes = {h for statement in statements for h in _hashes(salt, user_id, statement)}
    return [not hashes.isdisjoint(_hashes(salt, user_id, candidate)) for candidate in candidates]


def lift(tx: Tx, tenant_id: str, user_id: str, statements: Iterable[Statement]) -> int:
    """Remove the tombstones of statements that someone asks for again; return how many hashes are gone."""
    salt = _salt(tx, tenant_id)
    hashes = {h for statement in statements for h in _hashes(salt, user_id, statement)}
    return tx.execute(_LIFT, {"hashes": sorted(hashes)}).rowcount


def digest(tx: Tx, tenant_id: str, *parts: str) -> str:
    """Return the salted hash of a receipt's subject: only with its name can it be found in the receipts."""
    return _hash(_salt(tx, tenant_id), "receipt", *parts)


def digests(tx: Tx, tenant_id: str, scope: str, subjects: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of many subjects with its salted hash, as `digest` computes it."""
    salt = _salt(tx, tenant_id)
    for subject in subjects:
        yield subject, _hash(salt, "receipt", scope, subject)


def put_back(tx: Tx, tenant_id: str, hashes: Iterable[tuple[str, str]]) -> None:
    """Store tombstones with the times that they had, in ISO 8601; a restored database may lack them."""
    rows = recordset([{"hash": hashed, "at": at} for hashed, at in hashes])
    tx.execute(_PUT_BACK, {"tenant": tenant_id, "rows": rows})


def _keep(tx: Tx, tenant_id: str, hashes: Iterable[str]) -> int:
    return tx.execute(_LAY, {"tenant": tenant_id, "hashes": sorted(hashes)}).rowcount


def _existing_hashes(tx: Tx, hashes: Iterable[str]) -> dict[str, datetime]:
    (rows,) = run_together(tx, (_FIND, {"hashes": sorted(hashes)}))
    return {row.hash: row.at for row in rows}


def _hashes(salt: str, user_id: str, statement: Statement) -> set[str]:
    """Return all hashes of a statement: of its text, of its slot, of its words in any order."""
    subject = succession.plain(statement.subject)
    keys: list[tuple[str, ...]] = [("statement", identity.statement_key(statement.subject, statement.content))]
    if statement.attribute is not None and statement.value is not None:
        keys.append(("slot", subject, statement.attribute, succession.plain(statement.value)))
    words = words_of(statement.content)
    if words is not None:
        keys.append(("words", subject, *words))
    return {_hash(salt, user_id, *key) for key in keys}


@memoized_in_scope
def words_of(content: str) -> tuple[str, ...] | None:
    """Return a statement's meaningful words and negations without their order; None if too few to recognise it.

    Where the order matters (from Rome to Bern), only a phrase may have moved from the end to the front.
    """
    read = comparison.read(content)
    if len(set(read.words)) < ENOUGH_WORDS:
        return None
    turns = (str(read.denials % 2), str(read.ended), ",".join(sorted(read.bound)))
    if DIRECTED.isdisjoint(read.order):
        return (*turns, *sorted(set(read.words)))
    return (*turns, *_least_rotation(read.order))


def _least_rotation(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first of all rotations in lexical order, in linear time: two candidates are compared at a time."""
    first, second, equal, size = 0, 1, 0, len(words)
    while first < size and second < size and equal < size:
        left, right = words[(first + equal) % size], words[(second + equal) % size]
        if left == right:
            equal += 1
            continue
        if left > right:
            first += equal + 1
        else:
            second += equal + 1
        second += first == second
        equal = 0
    begin = min(first, second)
    return (*words[begin:], *words[:begin])


def _user_hash(salt: str, user_id: str) -> str:
    return _hash(salt, user_id, "everything")


def _group_hash(salt: str, group_id: str) -> str:
    # Of one word more than that of a user, whatever they are called.
    return _hash(salt, "group", group_id, "everything")


def _hash(salt: str, *parts: str) -> str:
    # As JSON, so that no two lists of words give the same text.
    return hmac.new(salt.encode(), json.dumps(parts).encode(), hashlib.sha256).hexdigest()


def _salt(tx: Tx, tenant_id: str) -> str:
    return str(tx.execute(_SALT, {"tenant": tenant_id}).scalar_one())


_SALT = text("SELECT salt FROM tenants WHERE id = :tenant")

_LAY = text("""
    INSERT INTO tombstones (tenant_id, hash) SELECT :tenant, unnest(cast(:hashes AS text[])) ON CONFLICT DO NOTHING
""")

_PUT_BACK = inserting(tables.tombstones, ("hash", "at"), "ON CONFLICT (tenant_id, hash) DO UPDATE SET at = excluded.at")

_FIND = text("SELECT hash, at FROM tombstones WHERE hash = ANY(:hashes)")

_LIFT = text("DELETE FROM tombstones WHERE hash = ANY(:hashes)")

_GROUPS = text("SELECT DISTINCT group_id FROM sessions WHERE id = ANY(:ids) AND group_id IS NOT NULL")
"""The groups in whose sessions something was said to a part of them."""

_SAID = text("""
    SELECT c.place, max(m.occurred_at) AS at
    FROM json_to_recordset(cast(:cited AS json)) AS c (place int, session text, message text)
    JOIN messages m ON m.session_id = c.session AND m.id = c.message GROUP BY c.place
""")
