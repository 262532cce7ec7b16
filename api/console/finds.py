"""Entries of the command palette for a few characters, built from answers of the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from core.types import Json

EACH: Final = 6
"""Finds of one kind that are shown."""


@dataclass(frozen=True, slots=True)
class Find:
    """One thing to go to."""

    kind: Literal["memory", "dispatch", "event", "rule", "user"]
    label: str
    detail: str
    href: str


def of_memory(memory: Json) -> Find:
    return Find("memory", memory["content"][:120], memory["id"], f"/console/memories/{memory['id']}")


def of_dispatch(dispatch: Json) -> Find:
    return Find("dispatch", dispatch["target"], dispatch["id"], f"/console/work/{dispatch['id']}")


def of_event(event: Json) -> Find:
    about = event["subject"] or event["payload"].get("user_id") or event["id"]
    return Find("event", event["event_type"], str(about), f"/console/events/{quote(event['id'], safe='')}")


def of_rules(rules: Iterable[Json], term: str) -> list[Find]:
    """Return rules whose name contains the term; those that begin with it first."""
    named = [rule for rule in rules if term in rule["name"].lower()]
    named.sort(key=lambda rule: (not rule["name"].lower().startswith(term), rule["name"]))
    return [
        Find("rule", rule["name"], f"v{rule['version']}", f"/console/rules/{quote(rule['name'])}") for rule in named
    ][:EACH]


def of_users(sessions: Iterable[Json], term: str) -> list[Find]:
    """Return users whose id contains the term, those first who spoke last."""
    ids = dict.fromkeys(session["user_id"] for session in sessions if session["user_id"])
    users = [user for user in ids if term in user.lower()]
    return [Find("user", user, "", f"/console/people/{quote(user, safe='')}") for user in users][:EACH]


def of_events(events: Iterable[Json], term: str) -> list[Find]:
    """Return recent events that have the term in their type, subject, id or text; of those alike, the first."""
    distinct: dict[tuple[str, str], Find] = {}
    for find in (of_event(event) for event in events if any(term in text.lower() for text in _texts(event))):
        distinct.setdefault((find.label, find.detail), find)
    return list(distinct.values())[:EACH]


def _texts(event: Json) -> Iterator[str]:
    yield from (event["event_type"], event["subject"] or "", event["id"])
    yield from (text for text in (event["payload"].get("content"), event["payload"].get("user_id")) if text)
