"""People whom a user named in earlier conversations. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Somebody by name. `relation`: what they are to the user ("daughter", "cat"), empty where nobody has said it."""

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
    """Yield who gets a name by a memory: in its slot, or as the one whom it is about.

    `content` says whether a spouse is a wife or a husband, which the slot does not.
    """
    slots = [(attribute, [value])] if attribute and value else []
    listed = structured.get("attribute")
    if isinstance(listed, str) and not structured.get("negated"):
        slots.append((listed, structured.get("values") or []))
    for slot, values in slots:
        if slot.startswith(_RELATION):
            match = _SPOUSE.search(content) if slot == "relation.spouse" else None
            yield from (
                Acquaintance(one, match.group() if match else slot.removeprefix(_RELATION)) for one in values if one
            )
    if subject:
        yield Acquaintance(subject)
