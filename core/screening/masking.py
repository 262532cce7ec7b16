"""Masking of secrets in JSON values: a secret found in one text is removed from all of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from core.screening import secret_scanner

SHORTEST: Final = 4
"""Minimum characters of a secret searched for in the other texts: shorter ones are part of too many words."""

_AUTHOR: Final = re.compile(r"key:[0-9a-f]{32}")
"""Author names with the id of an API key, which is not a secret."""


def secrets_in(values: Iterable[object]) -> dict[str, str]:
    """Return each secret in the texts of JSON values, with its label.

    A text is also read together with its field name: `{"password": "Xq7!"}` reveals what the value is.
    """
    candidates = list(_texts_with_names(values))
    if not secret_scanner.may_hold_secrets(candidates):
        return {}
    return {text[s.start : s.end]: s.label for text in candidates for s in secret_scanner.find_secrets(text)}


def _texts_with_names(values: Iterable[object]) -> Iterator[str]:
    """Yield every text, and once more behind the name of its field."""
    for value in values:
        for name, text in texts(value):
            if text and not (text.startswith("key:") and _AUTHOR.fullmatch(text)):
                yield text
                if name:
                    yield f"{name}: {text}"


def without(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a JSON value with every occurrence of these secrets replaced by its label."""
    if not secrets:
        return value
    longest_first = sorted((secret for secret in secrets if len(secret) >= SHORTEST), key=len, reverse=True)
    if not longest_first:
        return value
    # Whole tokens alone: a PIN of four digits is no reason to cut a year or a phone number.
    pattern = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])" for secret in longest_first))
    return map_texts(value, lambda text: pattern.sub(lambda match: f"[redacted: {secrets[match[0]]}]", text))


def mask(value: Any) -> Any:
    """Return a JSON value with all secrets in its texts replaced by their labels."""
    return without(value, secrets_in([value]))


def texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the name of its field; the names themselves without one."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield "", str(key)
            yield from texts(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item, name)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with every text in it changed, including names."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {map_texts(name, change): map_texts(item, change) for name, item in value.items()}
    return [map_texts(item, change) for item in value] if isinstance(value, list | tuple) else value
