"""Names and roles as people write them in requests."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import Invalid, Problem
from core.language import introductions


def forms(names: Mapping[str, str]) -> list[str]:
    """Return the forms of names by their pointers. Invalid: some are empty."""
    result = {pointer: introductions.form_of(name) for pointer, name in names.items()}
    empty = [Problem(pointer, "is empty") for pointer, form in result.items() if not form]
    if empty:
        raise Invalid(empty)
    return list(result.values())


def different(names: Mapping[str, str]) -> list[str]:
    """Return the forms of names, each once. Invalid: some are empty, or all are the same."""
    every = forms(names)
    if len(set(every)) == 1:
        raise Invalid([Problem(list(names)[-1], "is the same name; give another")])
    return list(dict.fromkeys(every))
