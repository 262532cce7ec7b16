"""The effect of an edit on a memory: the columns that change with it, and their new values."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from typing import Any, Final

from core.errors import Invalid, Problem
from core.remembering import requests
from core.remembering.requests import Wish
from core.screening import screen
from core.types import Candidate, Json, Trust

UNSERVED: Final = frozenset({Trust.QUARANTINED, Trust.REJECTED})
"""Memories of this trust are not served."""

SCREENED: Final = ("subject", "content", "value", "tags", "structured")
"""Fields through which an edit may bring in a secret or an instruction."""

READ: Final = frozenset({"attribute", "values", "negated", "date_precision"})
"""Names in `structured` that were extracted from the content, and hold for no other content."""


def complete(row: Any, changed: Json, edited: AbstractSet[str], secrets: str) -> Json:
    """Return the columns that an edit changes in a memory's row, including derived ones; empty: no change.

    `changed`: the requested new values; `edited`: names of all fields in the request; `secrets`: the setting for
    content with a secret. Invalid: the edit contains a secret and is refused.
    """
    if not changed:
        return {}
    fields = dict(changed)
    fields |= _trust(row, fields, edited)
    fields |= _screen(fields, secrets)
    fields |= _extracted_again(row, fields, edited)
    return {name: value for name, value in fields.items() if value != getattr(row, name)}


def _trust(row: Any, changed: Json, edited: AbstractSet[str]) -> Json:
    """Confirm what a person edits; a memory quarantined or rejected only if its content is new."""
    if "trust" in edited or (row.trust in UNSERVED and "content" not in changed):
        return {}
    return {"trust": Trust.CONFIRMED}


def _screen(changed: Json, secrets: str) -> Json:
    """Mask secrets in new content, quarantine a hostile edit. Invalid: a secret is in a field that cannot be masked."""
    screened = {name: screen.screen(_as_text(changed[name])) for name in SCREENED if changed.get(name)}
    problems = [
        Problem(f"/{name}", f"holds a secret ({'; '.join(f.detail for f in screening.findings)}); leave it out")
        for name, screening in screened.items()
        if screening.secret and (secrets == "refuse" or name != "content")
    ]
    if problems:
        raise Invalid(problems)
    clean = {"content": screened["content"].text} if "content" in screened else {}
    return clean | ({"trust": Trust.QUARANTINED} if any(screening.hostile for screening in screened.values()) else {})


def _extracted_again(row: Any, changed: Json, edited: AbstractSet[str]) -> Json:
    """Replace what was extracted from the old content: the value of the slot, and names in `structured`."""
    if "content" not in changed:
        return {}
    extracted, fields = _extract(row, changed), Json()
    if "structured" not in edited:
        untouched = {name: value for name, value in row.structured.items() if name not in READ}
        fields["structured"] = untouched | {name: value for name, value in extracted.structured.items() if name in READ}
    if not edited & {"attribute", "value"} and row.attribute and row.attribute == extracted.attribute:
        fields["value"] = extracted.value
    return fields


def _extract(row: Any, changed: Json) -> Candidate:
    wish = Wish(content=changed["content"], subject=changed.get("subject", row.subject), tags=[])
    return requests.statement(wish, row.user_id, "", changed.get("occurred_at", row.occurred_at))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
