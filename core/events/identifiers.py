"""Valid ids of users, groups, sessions and messages: visible, distinguishable and reachable.

Every id is also part of an address such as `/v1/sessions/{id}/messages`, by which its data is read and erased.
"""

from __future__ import annotations

import unicodedata
from typing import Final
from uuid import UUID

UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that are invisible, or only move adjacent characters: controls, format, separators."""

BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs without a visible glyph: Hangul fillers, the empty Braille pattern."""

ROUTES: Final = frozenset("messages working state summary plans units hide restore".split())
"""Path segments that follow an id in the addresses of a session and its messages."""


def is_uuid(text: str) -> bool:
    """Return whether a text is an id as the service makes them."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def fault_of_name(name: str) -> str | None:
    """Return why a user or group may not have this id; None if it may."""
    if "/" in name or "\\" in name:
        return "holds a `/` or `\\`, which divides addresses; use another sign, such as `:` or `-`"
    return _fault(name) or _fault_of_part(name)


def fault_of_place(name: str) -> str | None:
    """Return why a session or message may not have this id; None if it may.

    It may contain `/`, as in `project/session-3`.
    """
    if "\\" in name:
        return "holds a `\\`, which divides addresses; use another sign, such as `:` or `-`"
    fault = _fault(name)
    for part in name.split("/"):
        fault = fault or _fault_of_part(part)
        if part in ROUTES and "/" in name:
            fault = fault or f"has `{part}` between its `/`, as addresses below a session have; use another word"
    return fault


def _fault(name: str) -> str | None:
    sign = _unseen_sign(name)
    if sign is not None:
        return f"holds U+{ord(sign):04X}, which cannot be seen; remove it"
    return None if name.strip() else "has nothing to see in it; use letters or digits"


def _unseen_sign(name: str) -> str | None:
    """Return the first sign of the name that cannot be seen; None: there is none."""
    if name.isprintable() and BLANK.isdisjoint(name):  # No printable character is in UNSEEN.
        return None
    return next((sign for sign in name if unicodedata.category(sign) in UNSEEN or sign in BLANK), None)


def _fault_of_part(part: str) -> str | None:
    if part in {".", ".."}:
        return f"has `.` or `..` as a part of its own (`{part}`), which addresses leave out; use another name"
    return None if part else "has an empty part before, behind or between its `/`; take the `/` away"
