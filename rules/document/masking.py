"""Masks the credentials that older rules contain in their headers, before rules and actions are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from core.screening import secret_scanner
from core.settings.secret_names import MASK
from core.types import Json

SENSITIVE: Final = re.compile(
    r"authorization|cookie|token|secret|passw|credential|api-?key|(?:^|[-_])auth(?:$|[-_])|(?<!idempotency)[-_]key$|^key$",
    re.IGNORECASE,
)
"""Names of headers with credentials."""

CREDENTIAL: Final = re.compile(r"\s*(?:bearer|basic|digest|token|apikey)\s+\S", re.IGNORECASE)
"""Prefixes of credentials, independent of the header's name."""


def is_credential(name: str, value: object) -> bool:
    """Return whether a header's value contains a credential, by the header's name or the value's form."""
    if not isinstance(value, str) or not value:
        return False
    return bool(SENSITIVE.search(name) or CREDENTIAL.match(value) or secret_scanner.find_secrets(value))


def headers(given: Mapping[str, Any]) -> Json:
    """Return headers with credentials masked; references to secrets stay."""
    return {name: MASK if is_credential(name, value) else value for name, value in given.items()}


def document(rule: Json) -> Json:
    """Return a rule's document with credentials masked."""
    actions = rule.get("actions")
    if not isinstance(actions, list):
        return rule
    return {**rule, "actions": [action(entry) for entry in actions]}


def action(given: Any) -> Any:
    """Return an action, or its rendered form, with credentials masked."""
    if isinstance(given, dict) and isinstance(given.get("headers"), dict):
        return {**given, "headers": headers(given["headers"])}
    return given
