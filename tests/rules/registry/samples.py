"""Rules to be linted, and the fields that payloads have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.types import Json
from rules.document.schema import Rule
from rules.registry import lint
from rules.registry.lint import Neighbours
from rules.registry.payload_fields import Payloads

NOTHING = Payloads({})


def warned(rule: Rule, others: Sequence[Rule] = (), payloads: Payloads = NOTHING) -> dict[str, str]:
    return {problem.pointer: problem.detail for problem in lint.of(rule, Neighbours(others), payloads)}


def emits(kind: str, **payload: Any) -> Json:
    return {"action_type": "emit", "event_type": kind, "payload": payload}
