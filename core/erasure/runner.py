"""Runs the steps of a part, and takes the locks that erasing needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sqlalchemy import TextClause, text

from core.erasure.steps import STEPS, ErasurePart, Values
from core.errors import Conflict
from core.events.log import OPEN_DISPATCH
from core.memory import writer
from core.storage.db import Tx

ROUNDS: Final = 5
"""Attempts to lock all sessions of a user or a group while new ones are opened."""


def run(tx: Tx, tenant_id: str, part: ErasurePart, values: Values) -> Counter[str]:
    """Carry out all steps of a part in their order; return the number of rows by table."""
    counts: Counter[str] = Counter()
    for step in STEPS[part]:
        if isinstance(step.action, TextClause):
            rows = tx.execute(step.action, values).rowcount
        else:
            rows = step.action(tx, tenant_id, values)
        counts[step.counted or step.table] += rows
    return counts


def lock_sessions(tx: Tx, find: Callable[[], Iterable[str]], whose: str) -> list[str]:
    """Lock the sessions that are found until no other one is found, and return them in order.

    Nobody can add messages to these or move their cursors afterwards. They are locked before the owners, in the order
    in which an extraction takes the locks. Conflict: new ones keep appearing; the message names `whose`.
    """
    locked: set[str] = set()
    for _ in range(ROUNDS):
        session_ids = set(find())
        if locked >= session_ids:
            return sorted(locked)
        locked |= session_ids
        tx.execute(_LOCK_SESSIONS, {"ids": sorted(locked)})
    raise Conflict(f"The {whose} keeps opening sessions. Stop the services that write for it, then erase again.")


def lock_owners(tx: Tx, tenant_id: str, owners: Iterable[str]) -> frozenset[str]:
    """Lock the memories of these users until the transaction ends; return the users.

    In sorted order, as every writer that needs several locks takes them.
    """
    locked = frozenset(owners)
    for user_id in sorted(locked):
        writer.lock(tx, tenant_id, user_id)
    return locked


def restart_running(tx: Tx, *, but: Sequence[int] = ()) -> None:
    """Restart all running agents except those that react to the events at `but`.

    They may have read content that is now erased, and could write it after this transaction is committed.
    """
    tx.execute(_RESTART, {"seqs": list(but)})


def hold(tx: Tx, seqs: Iterable[int]) -> None:
    """Lock events and their dispatches; wait for routers that decide on them and workers that finish them."""
    ordered = sorted(seqs)
    for statement in (_HOLD_EVENTS, _HOLD_DISPATCHES):
        tx.execute(statement, {"seqs": ordered})


def reload_caches(tx: Tx) -> None:
    """Have every process reload all cached rows of the search index, when this transaction is committed."""
    tx.execute(_NOTE_ALL)


_LOCK_SESSIONS = text('SELECT FROM sessions WHERE id = ANY(:ids) ORDER BY id COLLATE "C" FOR UPDATE')

_RESTART = text(f"""
    UPDATE dispatches SET status = 'retrying', lease = NULL, wake_at = clock_timestamp(),
                          attempt = greatest(attempt - 1, 0)
    WHERE {OPEN_DISPATCH} AND status = 'running' AND action_type = 'run_agent'
      AND event_seq <> ALL(cast(:seqs AS bigint[]))
""")
"""Agents alone: a dispatch that notifies or posts may have done so already, and would do it twice."""

_HOLD_EVENTS = text("""
    SELECT count(*) FROM (SELECT FROM events WHERE seq = ANY(cast(:seqs AS bigint[])) ORDER BY seq FOR UPDATE) AS held
""")

_HOLD_DISPATCHES = text("""
    SELECT count(*) FROM (
        SELECT FROM dispatches WHERE event_seq = ANY(cast(:seqs AS bigint[])) ORDER BY id FOR UPDATE) AS held
""")

_NOTE_ALL = text("""
    INSERT INTO search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT current_setting('imprint.tenant'), '', pg_current_xact_id()::text::bigint, 'message', '', ''
    ON CONFLICT DO NOTHING
""")
"""Names no owner: an erased user or group may come back."""
