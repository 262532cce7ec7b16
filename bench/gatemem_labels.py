"""Audience labels of GateMem's turns and askers, made from the `relationships` of an episode and from nothing else.

Somebody with a relationship that has no `access_scope` belongs to the circle of its object: a case, a project, a
household, a person. Circles that share a member are one. What its members say has the label of the circle. Everybody
else, such as staff with a scope, speaks at a desk of their own, which the circle may read, too. Public programmes are
open: what their members say has no label. The agent's answer has the labels of the turn before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

OPEN: Final = "program_id"
"""Objects that are public."""

NO_ACCESS: Final = frozenset({"parent_of"})
"""Relationships that give no access by themselves."""

NOT_OBJECTS: Final = frozenset({"type", "principal_id", "access_scope", "service_scope", "expires"})


@dataclass(frozen=True, slots=True)
class Labels:
    """Circles of an episode's principals, and those who belong to public programmes alone."""

    circles: Mapping[str, str]
    open: frozenset[str]
    principals: Sequence[str]

    def of_turns(self, turns: Sequence[Json]) -> Iterator[list[str]]:
        """Yield the labels of each turn."""
        last: list[str] = []
        for turn in turns:
            speaker = turn["speaker"]
            if speaker["role"] != "agent":
                last = self.said_by(speaker["principal_id"])
            yield last

    def said_by(self, principal: str) -> list[str]:
        if principal in self.circles:
            return [f"circle.{self.circles[principal]}"]
        return [] if principal in self.open else [f"desk.{principal}"]

    def held_by(self, principal: str) -> list[str]:
        """Return what an asker may read beside what is open."""
        if principal not in self.circles:
            return [f"desk.{principal}"]
        desks = [f"desk.{member}" for member in self.principals if member not in self.circles]
        return [f"circle.{self.circles[principal]}", *desks]


def of(episode: Json) -> Labels:
    """Return the labels of an episode."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    programmes: set[str] = set()
    for relationship in episode["entities"]["relationships"]:
        principal = relationship["principal_id"]
        if "access_scope" in relationship or "service_scope" in relationship or relationship["type"] in NO_ACCESS:
            continue
        for name in relationship.keys() - NOT_OBJECTS:
            if name == OPEN:
                programmes.add(principal)
            else:
                members[relationship[name]].add(principal)
                if name.endswith("principal_id"):
                    members[relationship[name]].add(relationship[name])
    circles = _joined(members)
    principals = [entity["principal_id"] for entity in episode["entities"]["principals"] if entity["role"] != "agent"]
    return Labels(circles, frozenset(programmes - circles.keys()), principals)


def _joined(members: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the circle of each principal; circles that share a member are one, named after its first object."""
    circles: dict[str, str] = {}
    for name in sorted(members):
        joined = {circles[member] for member in members[name] if member in circles}
        for member, circle in circles.items():
            circles[member] = name if circle in joined else circle
        circles |= dict.fromkeys(members[name], name)
    return circles
