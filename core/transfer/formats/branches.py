"""The branch that was kept of a conversation that is a tree: answers were regenerated, messages edited. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

LEFT: Final = "a message on a branch that was not kept"

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def current_branch(parents: Mapping[str, object], current: object, times: Mapping[str, datetime | None]) -> list[str]:
    """Return the ids from the root to the current message; a broken or circular tree ends where it breaks.

    `times`: of all messages, in the order of the export. Where none is current, the branch of the newest one was kept.
    """
    if not isinstance(current, str) or current not in parents:
        current = _newest(parents, times)
    path = dict[str, None]()
    while isinstance(current, str) and current in parents and current not in path:
        path[current] = None
        current = parents[current]
    return list(path)[::-1]


def _newest(parents: Mapping[str, object], times: Mapping[str, datetime | None]) -> str | None:
    """Return the newest message without an answer; of several, the last one of the export."""
    answered = {parent for name, parent in parents.items() if name in times and isinstance(parent, str)}
    ends = [name for name in times if name not in answered] or list(times)
    order = {name: (times[name] or _EARLIEST, position) for position, name in enumerate(times)}
    return max(ends, key=order.__getitem__, default=None)
