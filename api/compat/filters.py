"""The filter language of mem0: `AND`, `OR`, `NOT` and comparisons, evaluated on memories in its shape. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
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
        return all(matches(part, memory) for part in tree)
    return all(_holds(name, condition, memory) for name, condition in tree.items())


def scope_of(tree: Any) -> EntityScope:
    """Return the ids that a filter demands outright, at the top or in an `AND`."""
    demanded = ((name, value) for name, value in leaves(tree, {"AND"}) if name in ENTITIES and value != ANYTHING)
    return scopes.of({name: value for name, value in demanded if isinstance(value, str | int)})


def owners_of(tree: Any) -> Owners:
    """Return whose memories may match. A filter for an agent alone may match those of any user."""
    if isinstance(tree, list):
        return _common([owners_of(part) for part in tree])
    return _common([_owners_of_field(name, condition) for name, condition in tree.items()])


def named_owners(tree: Any) -> list[str]:
    """Return the owners that stand for the entities which a filter names anywhere."""
    named = ((name, _values(condition) or ()) for name, condition in leaves(tree) if name in ENTITIES)
    return list(dict.fromkeys(scopes.owner_of(name, value) for name, values in named for value in values))


def leaves(tree: Any, within: Collection[str] = ("AND", "OR", "NOT")) -> Iterator[tuple[str, Any]]:
    """Yield name and condition of each comparison that is at the top or `within` combinations."""
    if isinstance(tree, list):
        for part in tree:
            yield from leaves(part, within)
        return
    for name, condition in tree.items():
        if name in within:
            yield from leaves(condition, within)
        elif name not in _COMBINED:
            yield name, condition


def _walk(tree: Any, pointer: str, depth: int) -> Iterator[tuple[str, int, str | None]]:
    """Yield each condition with its pointer, its depth and what is wrong with it."""
    if depth > DEEPEST:
        yield pointer, depth, None
    elif isinstance(tree, list):
        for n, part in enumerate(tree):
            yield from _walk(part, f"{pointer}/{n}", depth + 1)
    elif not isinstance(tree, dict):
        yield pointer, depth, "must be an object of conditions"
    else:
        for name, condition in tree.items():
            if name in _COMBINED:
                yield from _walk(condition, f"{pointer}/{name}", depth + 1)
            else:
                yield f"{pointer}/{name}", depth, _fault(name, condition)


def _fault(name: str, condition: Any) -> str | None:
    if name == "metadata" or not isinstance(condition, dict):
        return None
    unknown = sorted(condition.keys() - _OPERATORS.keys())
    return f"has no operator {', '.join(unknown)}; use {', '.join(_OPERATORS)}" if unknown else None


def _holds(name: str, condition: Any, memory: Json) -> bool:
    if name in _COMBINED:
        return _COMBINED[name](_as_list(condition), memory)
    if name == "metadata" and isinstance(condition, dict):
        return all(_holds(f"metadata.{key}", value, memory) for key, value in condition.items())
    value = _value(name, memory)
    if isinstance(condition, dict) and condition.keys() <= _OPERATORS.keys():
        return all(_compare(operator, value, operand, name) for operator, operand in condition.items())
    return _compare("in" if isinstance(condition, list) else "eq", value, condition, name)


def _value(name: str, memory: Json) -> Any:
    name = _ALIASES.get(name, name)
    if name in _OWN:
        return memory.get(name)
    return (memory.get("metadata") or {}).get(name.removeprefix("metadata."))


def _compare(operator: str, value: Any, operand: Any, name: str) -> bool:
    """Return whether a comparison holds; of a list of values, for at least one of them."""
    if _ALIASES.get(name, name) in _MOMENTS:
        value = _moment(value)
        operand = [_moment(element) for element in operand] if isinstance(operand, list) else _moment(operand)
    if isinstance(value, list) and operator == "ne":
        return operand not in value
    if isinstance(value, list) and operator != "contains":
        return any(_OPERATORS[operator](element, operand) for element in value)
    return _OPERATORS[operator](value, operand)


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


def _equal(value: Any, operand: Any) -> bool:
    if operand == ANYTHING:
        return value is not None
    return bool(value == operand) and isinstance(value, bool) == isinstance(operand, bool)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(value: Any, operand: Any) -> bool:
        try:
            return value is not None and bool(compare(value, operand))
        except TypeError:
            return False

    return holds


def _contains(value: Any, operand: Any) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list) and operand in value


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": _equal,
    "ne": lambda value, operand: not _equal(value, operand),
    "in": lambda value, operand: any(_equal(value, candidate) for candidate in _as_list(operand)),
    "nin": lambda value, operand: not any(_equal(value, candidate) for candidate in _as_list(operand)),
    "gt": _ordered(lambda value, operand: value > operand),
    "gte": _ordered(lambda value, operand: value >= operand),
    "lt": _ordered(lambda value, operand: value < operand),
    "lte": _ordered(lambda value, operand: value <= operand),
    "contains": _contains,
    "icontains": lambda value, operand: isinstance(value, str) and str(operand).lower() in value.lower(),
    ANYTHING: lambda value, _operand: value is not None,
}

_COMBINED: Final[Mapping[str, Callable[[list[Any], Json], bool]]] = {
    "AND": lambda trees, memory: all(matches(tree, memory) for tree in trees),
    "OR": lambda trees, memory: any(matches(tree, memory) for tree in trees),
    "NOT": lambda trees, memory: not any(matches(tree, memory) for tree in trees),
}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def metadata_of(tree: Any) -> dict[str, list[Any]]:
    """Return fields of metadata that a filter demands outright, with the values of which each must have one.

    What is not storable is nowhere. As few as the filter of the database takes: the whole one is applied afterwards.
    """
    demanded: dict[str, list[Any]] = {}
    for name, condition in _conditions(tree):
        values = _values_of(condition)
        if values and name not in demanded and field_filters.fault({name: values}) is None:
            demanded[name] = values
    return dict(islice(demanded.items(), field_filters.FIELDS))


def _conditions(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield the conditions on metadata at the top or in an `AND`."""
    for name, condition in leaves(tree, {"AND"}):
        if name == "metadata" and isinstance(condition, dict):
            yield from condition.items()
        elif _ALIASES.get(name, name) not in _OWN:
            yield name.removeprefix("metadata."), condition


def _values_of(condition: Any) -> list[Any] | None:
    """Return the values of which one is demanded; None: others than plain values, or anything."""
    if isinstance(condition, dict):
        condition = condition.get("eq", condition.get("in"))
    values = _as_list(condition)
    plain = all(isinstance(value, str | int | float) and value != ANYTHING for value in values)
    return values if plain and unstorable(values) is None else None


def _owners_of_field(name: str, condition: Any) -> Owners:
    match name:
        case "AND":
            return _common([owners_of(part) for part in _as_list(condition)])
        case "OR":
            alternatives = [owners_of(part) for part in _as_list(condition)]
            limited = [owners for owners in alternatives if owners is not None]
            return frozenset[str]().union(*limited) if len(limited) == len(alternatives) else None
        case "user_id":
            values = _values(condition)
            return None if values is None else frozenset(values)
        case _:
            return None


def _values(condition: Any) -> list[str] | None:
    """Return the values that a condition leaves to a field; None: any."""
    if isinstance(condition, dict):
        named = condition.get("eq", condition.get("in"))
        return None if named is None else _values(named)
    values = _as_list(condition)
    return None if ANYTHING in values else [str(value) for value in values if isinstance(value, str | int)]


def _common(parts: list[Owners]) -> Owners:
    limited = [owners for owners in parts if owners is not None]
    return frozenset.intersection(*limited) if limited else None
