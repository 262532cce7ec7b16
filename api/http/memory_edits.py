"""Edits of a memory: from the request to the changed columns."""

from __future__ import annotations

from typing import Any

from api.http.memory_requests import Patch
from core.errors import Invalid
from core.remembering import edits
from core.types import Json


def fields(row: Any, patch: Patch, secrets: str) -> Json:
    """Return the columns of a memory's row that a patch changes, with their new values; empty if nothing changes.

    `secrets`: the setting for content with a secret. Invalid: the patch is invalid.
    """
    changed = patch.fields(row)
    problems = list(patch.problems(row, changed))
    if problems:
        raise Invalid(problems)
    return edits.complete(row, changed, patch.model_fields_set, secrets)
