"""The filter language of mem0: `AND`, `OR`, `NOT` and comparisons, evaluated on memories in its shape. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any, Final

from api.compat import scopes
from api.compat.scopes import ENTITIES, EntityScope
from core.errors import Invalid, Problem
from core.events.parsing import unstorable
from core.memory import field_filters
from core.types import Json

DEEPEST: Final = 8
"""Levels of a filter."""

CONDITIONS: Final = 100
"""Conditions of a filter."""

ANYTHING: Final = "*"
"""Matches any value but null."""

_OWN: Final = frozenset({*ENTITIES, "session_id", "id", "memory", "categories", "created_at", "updated_at"})
"""Fields of a memory. Every other name is one of its metadata."""

_ALIASES: Final[Mapping[str, str]] = {"memory_ids": "id", "keywords": "memory", "timestamp": "created_at"}

_MOMENTS: Final = frozenset({"created_at", "updated_at"})

Owners = frozenset[str] | None
"""The users whose memories may match; None: any."""


def require_valid(tree: Any) -> None:
    """Refuse a filter that is too large, or has an unknown operator. Invalid."""
    problems = []
    for conditions, (pointer, depth, fault) in enumerate(_walk(tree, "/filters", 1), 1):
        if fault is not None:
            problems.append(Problem(pointer, fault))
        if depth > DEEPEST or conditions > CONDITIONS:
            problems.append(Problem("/filters", f"may have {CONDITIONS} conditions on {DEEPEST} levels"))
            break
    if problems:
        raise Invalid(problems[:CONDITIONS])


def matches(tree: Any, memory: Json) -> bool:
    """Return whether a memory passes a valid filter; conditions side by side must all hold."""
    if isinstance(tree, list):
        return all(matches(one, memory) for one in tree)
    return all(_holds(name, wanted, memory) for name, wanted in tree.items())


def scope_of(tree: Any) -> EntityScope:
    """Return the ids that a filter demands outright, at the top or in an `AND`."""
    return scopes.of({name: wanted for name, wanted in _demanded(tree) if wanted != ANYTHING})


def owners_of(tree: Any) -> Owners:
    """Return whose memories may match. A filter for an agent alone may match those of any user."""
    if isinstance(tree, list):
        return _common([owners_of(one) for one in tree])
    return _common([_owners_of_field(name, wanted) for name, wanted in tree.items()])


def named_owners(tree: Any) -> list[str]:
    """Return the owners that stand for the entities which a filter names anywhere."""
    return list(dict.fromkeys(_named(tree)))


def _walk(tree: Any, pointer: str, depth: int) -> Iterator[tuple[str, int, str | None]]:
    """Yield each condition with its pointer, its depth and what is wrong with it."""
    if depth > DEEPEST:
        yield pointer, depth, None
    elif isinstance(tree, list):
        for n, one in enumerate(tree):
            yield from _walk(one, f"{pointer}/{n}", depth + 1)
    elif not isinstance(tree, dict):
        yield pointer, depth, "must be an object of conditions"
    else:
        for name, wanted in tree.items():
            if name in _COMBINED:
                yield from _walk(wanted, f"{pointer}/{name}", depth + 1)
            else:
                yield f"{pointer}/{name}", depth, _fault(name, wanted)


def _fault(name: str, wanted: Any) -> str | None:
    if name == "metadata" or not isinstance(wanted, dict):
        return None
    unknown = sorted(wanted.keys() - _OPERATORS.keys())
    return f"has no operator {', '.join(unknown)}; use {', '.join(_OPERATORS)}" if unknown else None


def _holds(name: str, wanted: Any, memory: Json) -> bool:
    if name in _COMBINED:
        return _COMBINED[name](_as_list(wanted), memory)
    if name == "metadata" and isinstance(wanted, dict):
        return all(_holds(f"metadata.{key}", value, memory) for key, value in wanted.items())
    value = _value(name, memory)
    if isinstance(wanted, dict) and wanted.keys() <= _OPERATORS.keys():
        return all(_compare(operator, value, one, name) for operator, one in wanted.items())
    return _compare("in" if isinstance(wanted, list) else "eq", value, wanted, name)


def _value(name: str, memory: Json) -> Any:
    name = _ALIASES.get(name, name)
    if name in _OWN:
        return memory.get(name)
    return (memory.get("metadata") or {}).get(name.removeprefix("metadata."))


def _compare(operator: str, value: Any, wanted: Any, name: str) -> bool:
    """Return whether a comparison holds; of a list of values, for at least one of them."""
    if _ALIASES.get(name, name) in _MOMENTS:
        value, wanted = _moment(value), [_moment(w) for w in wanted] if isinstance(wanted, list) else _moment(wanted)
    if isinstance(value, list) and operator == "ne":
        return wanted not in value
    if isinstance(value, list) and operator != "contains":
        return any(_OPERATORS[operator](one, wanted) for one in value)
    return _OPERATORS[operator](value, wanted)


def _moment(value: Any) -> Any:
    """Return a time as UTC: a date is its midnight, a number counts seconds since 1970. What is no time stays."""
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
    except (ValueError, OverflowError, OSError):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


def _equal(value: Any, wanted: Any) -> bool:
    if wanted == ANYTHING:
        return value is not None
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(value: Any, wanted: Any) -> bool:
        try:
            return value is not None and bool(compare(value, wanted))
        except TypeError:
            return False

    return holds


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    return isinstance(value, list) and wanted in value


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": _equal,
    "ne": lambda value, wanted: not _equal(value, wanted),
    "in": lambda value, wanted: any(_equal(value, one) for one in _as_list(wanted)),
    "nin": lambda value, wanted: not any(_equal(value, one) for one in _as_list(wanted)),
    "gt": _ordered(lambda value, wanted: value > wanted),
    "gte": _ordered(lambda value, wanted: value >= wanted),
    "lt": _ordered(lambda value, wanted: value < wanted),
    "lte": _ordered(lambda value, wanted: value <= wanted),
    "contains": _contains,
    "icontains": lambda value, wanted: isinstance(value, str) and str(wanted).lower() in value.lower(),
    ANYTHING: lambda value, _wanted: value is not None,
}

_COMBINED: Final[Mapping[str, Callable[[list[Any], Json], bool]]] = {
    "AND": lambda trees, memory: all(matches(one, memory) for one in trees),
    "OR": lambda trees, memory: any(matches(one, memory) for one in trees),
    "NOT": lambda trees, memory: not any(matches(one, memory) for one in trees),
}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def metadata_of(tree: Any) -> dict[str, list[Any]]:
    """Return fields of metadata that a filter demands outright, with the values of which each must have one.

    What is not storable is nowhere. As few as the filter of the database takes: the whole one is applied afterwards.
    """
    demanded: dict[str, list[Any]] = {}
    for name, wanted in _conditions(tree):
        values = _values_of(wanted)
        if values and name not in demanded and field_filters.fault({name: values}) is None:
            demanded[name] = values
    return dict(islice(demanded.items(), field_filters.FIELDS))


def _conditions(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield the conditions on metadata at the top or in an `AND`."""
    if isinstance(tree, list):
        for one in tree:
            yield from _conditions(one)
        return
    for name, wanted in tree.items():
        if name == "AND":
            yield from _conditions(wanted)
        elif name == "metadata" and isinstance(wanted, dict):
            yield from wanted.items()
        elif name not in _COMBINED and _ALIASES.get(name, name) not in _OWN:
            yield name.removeprefix("metadata."), wanted


def _values_of(wanted: Any) -> list[Any] | None:
    """Return the values of which one is demanded; None: others than plain values, or anything."""
    if isinstance(wanted, dict):
        wanted = wanted.get("eq", wanted.get("in"))
    values = _as_list(wanted)
    plain = all(isinstance(value, str | int | float) and value != ANYTHING for value in values)
    return values if plain and unstorable(values) is None else None


def _demanded(tree: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, list):
        for one in tree:
            yield from _demanded(one)
        return
    for name, wanted in tree.items():
        if name == "AND":
            yield from _demanded(wanted)
        elif name in ENTITIES and isinstance(wanted, str | int):
            yield name, wanted


def _owners_of_field(name: str, wanted: Any) -> Owners:
    match name:
        case "AND":
            return _common([owners_of(one) for one in _as_list(wanted)])
        case "OR":
            found = [owners_of(one) for one in _as_list(wanted)]
            known = [one for one in found if one is not None]
            return frozenset[str]().union(*known) if len(known) == len(found) else None
        case "user_id":
            values = _values(wanted)
            return None if values is None else frozenset(values)
        case _:
            return None


def _values(wanted: Any) -> list[str] | None:
    """Return the values that a condition leaves to a field; None: any."""
    if isinstance(wanted, dict):
        named = wanted.get("eq", wanted.get("in"))
        return None if named is None else _values(named)
    values = _as_list(wanted)
    return None if ANYTHING in values else [str(one) for one in values if isinstance(one, str | int)]


def _common(found: list[Owners]) -> Owners:
    known = [one for one in found if one is not None]
    return frozenset.intersection(*known) if known else None


def _named(tree: Any) -> Iterator[str]:
    if isinstance(tree, list):
        for one in tree:
            yield from _named(one)
        return
    for name, wanted in tree.items():
        if name in _COMBINED:
            yield from _named(wanted)
        elif name in ENTITIES:
            yield from (scopes.owner_of(name, value) for value in _values(wanted) or ())
