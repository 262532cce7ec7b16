"""People whom a user named in earlier conversations. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """A person by name. `relation`: their relation to the user ("daughter", "cat"), empty if unknown."""

    name: str
    relation: str = ""


AcquaintancesByUser = Mapping[str, Sequence[Acquaintance]]
"""The acquaintances of each user, by the user's id."""

NOBODY: Final[AcquaintancesByUser] = MappingProxyType({})
_RELATION = "relation."


_SPOUSE: Final = re.compile(r"\b(?:husband|wife|boyfriend|girlfriend)\b")


def people_in(
    attribute: str | None, value: str | None, subject: str, structured: Mapping[str, Any], content: str = ""
) -> Iterable[Acquaintance]:
    """Yield the people named by a memory: in its slot, or as its subject.

    `content` tells whether a spouse is a wife or a husband, which the slot does not.
    """
    slots = [(attribute, [value])] if attribute and value else []
    listed = structured.get("attribute")
    if isinstance(listed, str) and not structured.get("negated"):
        slots.append((listed, structured.get("values") or []))
    for slot, values in slots:
        if slot.startswith(_RELATION):
            match = _SPOUSE.search(content) if slot == "relation.spouse" else None
            yield from (
                Acquaintance(name, match.group() if match else slot.removeprefix(_RELATION)) for name in values if name
            )
    if subject:
        yield Acquaintance(subject)
