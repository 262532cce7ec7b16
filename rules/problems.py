"""Problems of a document: what is wrong, where (JSON pointer), and what to do."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from core.errors import Problem

MAX_LISTED = 50
_SYNONYMS: Final = {
    "=": "==",
    "===": "==",
    "eq": "==",
    "equals": "==",
    "is": "==",
    "<>": "!=",
    "ne": "!=",
    "neq": "!=",
    "not_equals": "!=",
    "gt": ">",
    "gte": ">=",
    "=>": ">=",
    "lt": "<",
    "lte": "<=",
    "=<": "<=",
    "regex": "matches",
    "match": "matches",
    "like": "wildcard",
    "glob": "wildcard",
    "has": "contains",
    "includes": "contains",
    "empty": "missing",
    "null": "is_null",
    "or": "any",
    "and": "all",
    "not": "none",
    "when": "event_type",
    "trigger": "event_type",
    "triggers": "event_type",
    "event": "event_type",
    "events": "event_type",
    "on": "event_type",
    "type": "event_type",
    "cron": "schedule",
    "every": "schedule",
    "mode": "action_mode",
    "risk": "risk_level",
    "message": "template",
    "text": "template",
    "body": "payload",
    "if": "conditions",
    "condition": "conditions",
    "then": "actions",
    "action": "actions",
    "agent": "target",
}


def unknown(what: str, name: str, known_names: Sequence[str]) -> str:
    """Return the detail for an unknown name: the nearest known one, else all of them."""
    synonym = _SYNONYMS.get(name.lower().replace(" ", "_"))
    near = [synonym] if synonym in known_names else difflib.get_close_matches(name.lower(), known_names, 1, 0.6)
    guess = f"did you mean `{near[0]}`? " if near else ""
    return f"unknown {what} `{name[:100]}`; {guess}Known are: {', '.join(known_names)}"


def size_problems(document: object, nesting: int, nodes: int, text: int) -> Iterator[Problem]:
    """Yield at most one problem: the first place where a document is too deep or large, or a text or number is bad."""
    waiting: list[tuple[str, object, int]] = [("", document, 1)]
    seen = 0
    while waiting:
        pointer, value, depth = waiting.pop()
        seen += 1
        if seen > nodes:
            yield Problem("", f"the rule has more than {nodes} values; split it")
            return
        if depth > nesting:
            yield Problem(pointer, f"nested deeper than {nesting} levels")
            return
        if any(not _is_storable(part) for part in _texts(value)):
            yield Problem(pointer, "the text contains a NUL character or half a surrogate pair; remove it")
            return
        if isinstance(value, float) and not math.isfinite(value):
            yield Problem(pointer, "must be a finite number, as JSON requires")
            return
        longest = max((len(part) for part in _texts(value)), default=0)
        if longest > text:
            yield Problem(pointer, f"there is a text of {longest} characters, {text} are allowed")
            return
        waiting.extend((f"{pointer}/{escape_step(name)}", part, depth + 1) for name, part in _parts(value))


def _parts(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (name for name in value if isinstance(name, str))


def _is_storable(text: str) -> bool:
    return not any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text)


def escape_step(step: object) -> str:
    """Escape a step of a JSON pointer (RFC 6901)."""
    return str(step).replace("~", "~0").replace("/", "~1")


def translate(error: ValidationError, document: object, fields: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Translate the errors of pydantic to problems; `fields`: the known fields of each part."""
    listed = [_problem(details, document, fields) for details in error.errors(include_url=False)]
    return list(dict.fromkeys(listed))[:MAX_LISTED]


def _problem(details: ErrorDetails, document: object, fields: Mapping[str, Sequence[str]]) -> Problem:
    context = details.get("ctx", {})
    pointer = _pointer(details["loc"], document)
    if details["type"].startswith("union_tag"):
        pointer += f"/{_tag(details['loc'])}"
    if context.get("at"):
        pointer += "/" + str(context["at"]).lstrip("/")
    return Problem(pointer, _detail(details, context, fields))


def _pointer(location: tuple[int | str, ...], document: object) -> str:
    """Return the pointer of a location, without the steps that name a branch of the model."""
    pointer, here = "", document
    for index, step in enumerate(location):
        is_known, below = _below(here, step)
        if is_known or (index == len(location) - 1 and _may_be_absent(here, step)):
            pointer, here = f"{pointer}/{escape_step(step)}", below
    return pointer


def _below(here: object, step: int | str) -> tuple[bool, object]:
    if isinstance(here, Mapping) and step in here:
        return True, here[step]
    if isinstance(here, list) and isinstance(step, int) and step < len(here):
        return True, here[step]
    return False, None


def _may_be_absent(here: object, step: int | str) -> bool:
    is_branch = isinstance(step, str) and (step.startswith(("<", "[")) or _is_kind_of(here, step))
    return isinstance(here, Mapping) and isinstance(step, str) and not is_branch


def _is_kind_of(action: object, step: str) -> bool:
    """Return whether a step is not a field but the kind by which the model of an action was chosen."""
    return isinstance(action, Mapping) and step in {action.get("action_type"), action.get("of")}


def _detail(details: ErrorDetails, context: Mapping[str, Any], fields: Mapping[str, Sequence[str]]) -> str:
    kind, location = details["type"], details["loc"]
    if kind == "rule":
        return str(context["detail"])
    if kind == "extra_forbidden":
        return unknown("field", str(location[-1]), _siblings(location[:-1], fields))
    if kind == "literal_error":
        what = "operator" if location[-1] == "op" else str(location[-1])
        return unknown(what, str(details["input"]), _choices(str(context["expected"])))
    if kind in _NO_OBJECT and location and location[-1] in OBJECTS:
        return f"must be an object such as `{OBJECTS[str(location[-1])]}`"
    if kind == "union_tag_invalid":
        return unknown(_tag(location), str(context["tag"]), _choices(str(context["expected_tags"])))
    phrase = _WITHOUT_TAG[_tag(location)] if kind == "union_tag_not_found" else _PHRASES.get(kind, "{msg}")
    return phrase.format(msg=details["msg"], **context)


def _tag(location: tuple[int | str, ...]) -> str:
    """Return the field by which the model of an object at this place is chosen."""
    return "of" if location[:1] == ("counts",) else "action_type"


def _siblings(location: tuple[int | str, ...], fields: Mapping[str, Sequence[str]]) -> Sequence[str]:
    named = [step for step in location if isinstance(step, str) and step in fields]
    return fields[named[-1]] if named else fields[""]


def _choices(expected: str) -> list[str]:
    return [choice.strip("'\"") for choice in expected.replace(" or ", ", ").split(", ")]


_NO_OBJECT: Final = frozenset({"dict_type", "model_type", "model_attributes_type"})

OBJECTS: Final = {
    "schedule": '{"cron": "0 3 * * *", "timezone": "Europe/Lisbon"}` or `{"every_seconds": 3600}',
    "flow": '{"debounce": {"seconds": 30}}',
    "counts": '{"dead": {"of": "dispatches", "status": "dead"}}',
    "debounce": '{"seconds": 30}',
    "count": '{"threshold": 3}',
    "cooldown": '{"seconds": 3600}',
    "throttle": '{"limit": 10, "per_seconds": 3600}',
    "sample": '{"ratio": 0.1}',
    "concurrency": '{"limit": 1}',
}
"""Examples of objects, by the field that requires one."""

_WITHOUT_TAG: Final = {
    "action_type": "say which `action_type`: run_agent, emit, notify, webhook or celery",
    "of": "say what it counts with `of`: events, memories, dispatches or budget",
}

_PHRASES: Final = {
    "missing": "this field is required",
    "string_pattern_mismatch": "must fit {pattern}",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "finite_number": "must be a finite number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length} entries",
    "too_long": "may have at most {max_length} entries, not {actual_length}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "may have at most {max_length} characters",
}
