"""The JSON Schema of a rule for editors: every field described, every choice explained, with examples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from core.types import Json
from rules.document.actions import CeleryTask, Emit, Notify, RunAgent, Webhook
from rules.document.fields import Model
from rules.document.schema import ANY_TOOL, VERBATIM, Rule
from rules.document.targets import TARGETS
from rules.document.timing import Concurrency, Cooldown, Count, Debounce, Sample, Throttle
from rules.expressions import paths
from rules.expressions.operators import OPERATORS


@cache
def json_schema() -> Json:
    """Return the JSON Schema (2020-12) of a rule, with descriptions of every field, operator and choice for editors.

    It is made once, which takes 20 ms, and not to be changed.
    """
    schema = Rule.model_json_schema()
    parts = {"Rule": schema, **schema["$defs"]}
    leaf = parts["Leaf"]
    leaf["properties"]["op"]["oneOf"] = _describe_choices({entry.name: entry.doc for entry in OPERATORS.values()})
    leaf["allOf"] = [_value_schema(name) for name in OPERATORS]
    for part in ("Leaf", "Reference"):
        parts[part]["properties"]["field"]["anyOf"] = [
            {"oneOf": _describe_choices(_NAMES)},
            {"pattern": r"^(payload|item|count)"},
        ]
    for (part, field), choices in _CHOICES.items():
        parts[part]["properties"][field]["oneOf"] = _describe_choices(choices)
    for part, kind in _ACTIONS.items():
        parts[part]["properties"]["action_type"]["description"] = kind.__doc__
    for (part, field), examples in _EXAMPLES.items():
        parts[part]["properties"][field]["examples"] = list(examples)
    for field, stage in _FLOWS.items():
        parts["Flow"]["properties"][field]["description"] = stage.__doc__
    parts["RunAgent"]["properties"]["target"]["enum"] = sorted(TARGETS)
    parts["Group"]["minProperties"] = 1
    schema["oneOf"] = [{"required": ["event_type"]}, {"required": ["schedule"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Imprint rule", **schema}


def _describe_choices(choices: Mapping[str, str]) -> list[Json]:
    return [{"const": name, "description": meaning} for name, meaning in choices.items()]


_ACTIONS: Final = {kind.__name__: kind for kind in (RunAgent, Emit, Notify, Webhook, CeleryTask)}

_FLOWS: Final[Mapping[str, type[Model]]] = {
    "debounce": Debounce,
    "count": Count,
    "cooldown": Cooldown,
    "throttle": Throttle,
    "sample": Sample,
    "concurrency": Concurrency,
}

_EXAMPLES: Final[Mapping[tuple[str, str], tuple[Any, ...]]] = {
    ("Flow", "debounce"): ({"seconds": 30, "max_wait_seconds": 120, "flush_on": ["session.ended"]},),
    ("Flow", "count"): ({"threshold": 50, "key": ["payload.user_id"]},),
    ("Flow", "cooldown"): ({"seconds": 3600},),
    ("Flow", "throttle"): ({"limit": 5, "per_seconds": 60},),
    ("Flow", "sample"): ({"ratio": 0.1, "key": ["payload.user_id"]},),
    ("Flow", "concurrency"): ({"limit": 1, "on_conflict": "queue"},),
    ("Debounce", "seconds"): (30,),
    ("Debounce", "max_wait_seconds"): (120,),
    ("Debounce", "max_events"): (10,),
    ("Debounce", "flush_on"): (["session.ended"],),
    ("Count", "threshold"): (50,),
    ("Count", "within_seconds"): (3600,),
    ("Cooldown", "seconds"): (3600,),
    ("Throttle", "limit"): (5,),
    ("Throttle", "per_seconds"): (60,),
    ("Concurrency", "limit"): (1,),
    ("Schedule", "every_seconds"): (3600,),
    ("Group", "all"): ([VERBATIM["conditions"]["all"][0]],),
    ("Group", "any"): (ANY_TOOL["any"],),
    ("Group", "none"): ([{"field": "payload.role", "op": "==", "value": "system"}],),
    ("Leaf", "value"): (3, "user", ["user", "assistant"], {"field": "payload.limit"}),
    ("Leaf", "threshold"): (0.6,),
    ("EventCount", "within_seconds"): (3600,),
    ("MemoryCount", "within_seconds"): (86_400,),
    ("DispatchCount", "within_seconds"): (3600,),
    ("Webhook", "payload"): ({"text": "{{payload.content}}"},),
}
"""Examples for fields whose models have none."""

_NAMES: Final = {
    "event_type": "the type of the event",
    "source": "who has sent it",
    "subject": "what it is about, such as `session:s1`",
    "time": "when it happened",
    "payload": "all of what it says",
    **paths.LOOKED_UP,
}

_CHOICES: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("Rule", "action_mode"): {
        "auto": "carried out at once",
        "approve": "held until a person says yes; a setting says for how long",
        "shadow": "decided and recorded, and nothing is done: to see live what a rule would do",
    },
    ("Rule", "risk_level"): {
        "low": "a mistake is easily undone",
        "medium": "a mistake is noticed, and takes work to undo",
        "high": "a mistake does lasting harm: does not run as `auto` unless the tenant allows it",
    },
    ("DispatchCount", "status"): {
        "dead": "given up, and not replayed since",
        "held": "waits for an approval, its time or its turn",
        "open": "has not ended",
    },
    ("Schedule", "for_each"): {
        "tenant": "one event each time",
        "user": "each time one event for every user; of an alarm: each user that something was counted for",
        "session": "of an alarm: each session that something was counted for",
        "source": "of an alarm: each source that something was counted for",
    },
    ("Concurrency", "on_conflict"): {
        "queue": "one too many waits for its turn",
        "skip": "one too many is dropped",
        "latest": "one too many waits, in place of the one that waited before it",
    },
}


def _value_schema(name: str) -> Json:
    operator = OPERATORS[name]
    condition = {"if": {"properties": {"op": {"const": name}}, "required": ["op"]}}
    if operator.takes == "nothing":
        return condition | {"then": {"properties": {"value": {"const": True}}}}
    reference = {"$ref": "#/$defs/Reference"}
    inner = [{"$ref": "#/$defs/Leaf"}, {"$ref": "#/$defs/Group"}]
    choices = (
        inner if operator.takes == "condition" else [operator.schema, *([reference] if operator.referable else [])]
    )
    return condition | {"then": {"properties": {"value": {"anyOf": choices}}, "required": ["value"]}}
