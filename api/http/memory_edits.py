"""What an edit makes of a memory: the fields that change, and what follows from them."""

from __future__ import annotations

import json
from typing import Any, Final

from api.http.memory_requests import Patch
from core.errors import Invalid, Problem
from core.extraction import requests
from core.extraction.requests import Wish
from core.screening import screen
from core.types import Candidate, Json, Trust

UNSERVED: Final = frozenset({Trust.QUARANTINED, Trust.REJECTED})
"""Memories of this trust are not served."""

SCREENED: Final = ("subject", "content", "value", "tags", "structured")
"""Fields by which an edit may bring something in that must not be kept."""

READ: Final = frozenset({"attribute", "values", "negated", "date_precision"})
"""Names in `structured` that were read from the words, and hold for no others."""


def fields(row: Any, patch: Patch, secrets: str) -> Json:
    """The columns of a memory's row that a patch changes, with their new values; none: it is so already.

    `secrets`: what becomes of words with a secret, as the setting has it. Invalid: something is wrong with the patch.
    """
    changed = patch.fields(row)
    problems = list(patch.problems(row, changed))
    if problems:
        raise Invalid(problems)
    if not changed:
        return {}
    changed |= _trust(row, patch, changed)
    changed |= _screened(changed, secrets)
    changed |= _read_anew(row, patch, changed)
    return {name: value for name, value in changed.items() if value != getattr(row, name)}


def _trust(row: Any, patch: Patch, changed: Json) -> Json:
    """A person's word is believed; but only new words let out what is quarantined or was rejected."""
    if "trust" in patch.model_fields_set or (row.trust in UNSERVED and "content" not in changed):
        return {}
    return {"trust": Trust.CONFIRMED}


def _screened(changed: Json, secrets: str) -> Json:
    """What becomes of an edit that holds a secret, or would command its reader. Invalid: it is refused for it."""
    found = {name: screen.screen(_words(changed[name])) for name in SCREENED if changed.get(name)}
    problems = [
        Problem(f"/{name}", f"holds a secret ({'; '.join(f.detail for f in one.findings)}); leave it out")
        for name, one in found.items()
        if one.secret and (secrets == "refuse" or name != "content")
    ]
    if problems:
        raise Invalid(problems)
    clean = {"content": found["content"].text} if "content" in found else {}
    return clean | ({"trust": Trust.QUARANTINED} if any(one.hostile for one in found.values()) else {})


def _read_anew(row: Any, patch: Patch, changed: Json) -> Json:
    """New words say what the old ones said no more: the value of the slot, and what else was read from them."""
    if "content" not in changed:
        return {}
    read, anew = _reading(row, changed), Json()
    if "structured" not in patch.model_fields_set:
        kept = {name: value for name, value in row.structured.items() if name not in READ}
        anew["structured"] = kept | {name: value for name, value in read.structured.items() if name in READ}
    if not patch.model_fields_set & {"attribute", "value"} and row.attribute and row.attribute == read.attribute:
        anew["value"] = read.value
    return anew


def _reading(row: Any, changed: Json) -> Candidate:
    wish = Wish(content=changed["content"], subject=changed.get("subject", row.subject), tags=[])
    return requests.statement(wish, row.user_id, "", changed.get("occurred_at", row.occurred_at))


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
