"""Rules and actions as they may be shown: without the credentials that older rules hold in their headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from core.settings.secret_names import MASK
from core.types import Json

SENSITIVE: Final = re.compile(
    r"authorization|cookie|token|secret|passw|credential|api-?key|(?:^|[-_])auth(?:$|[-_])|(?<!idempotency)[-_]key$|^key$",
    re.IGNORECASE,
)
"""Names of headers whose values let their holder in somewhere."""

CREDENTIAL: Final = re.compile(r"\s*(?:bearer|basic|digest|token|apikey)\s+\S", re.IGNORECASE)
"""How a value begins that lets its holder in, whatever its header is called."""


def is_credential(name: str, value: object) -> bool:
    """Return whether a header's value, written out, would show what only its receiver should know."""
    return isinstance(value, str) and bool(value) and bool(SENSITIVE.search(name) or CREDENTIAL.match(value))


def headers(given: Mapping[str, Any]) -> Json:
    """Headers with a mask in place of each credential; names of secrets stay."""
    return {name: MASK if is_credential(name, value) else value for name, value in given.items()}


def document(rule: Json) -> Json:
    """A rule's document as it may be shown."""
    actions = rule.get("actions")
    if not isinstance(actions, list):
        return rule
    return {**rule, "actions": [action(one) for one in actions]}


def action(given: Any) -> Any:
    """An action, or what it became for one event, as it may be shown."""
    if isinstance(given, dict) and isinstance(given.get("headers"), dict):
        return {**given, "headers": headers(given["headers"])}
    return given
