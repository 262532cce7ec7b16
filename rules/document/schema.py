"""The rule document: its model, its JSON Schema, and the problems of invalid documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from core.errors import Invalid, Problem
from core.types import Json
from rules import problems
from rules.document import repair
from rules.document.actions import Action, CeleryTask, Emit, Notify, RunAgent, SecretName, Webhook
from rules.document.alarm_checks import AlarmParts, alarm_problems
from rules.document.condition_tree import MAX_LEAVES, Condition, Group, Leaf, Reference
from rules.document.counting import BudgetShare, Counts, DispatchCount, EventCount, MemoryCount
from rules.document.fields import MAX_TEXT, Model, Moment, TypePattern, refuse
from rules.document.timing import Concurrency, Cooldown, Count, Debounce, Flow, Sample, Schedule, Throttle
from rules.expressions import paths

__all__ = [
    "Action",
    "CeleryTask",
    "Concurrency",
    "Cooldown",
    "Count",
    "Debounce",
    "Emit",
    "Flow",
    "Group",
    "Leaf",
    "Notify",
    "Reference",
    "Rule",
    "RunAgent",
    "Sample",
    "Schedule",
    "Throttle",
    "Webhook",
    "document",
    "parse",
]

RESERVED: Final = frozenset({"schema", "export", "validate", "test", "backtest", "import", "activity"})
"""Names reserved because they are paths in place of `/v1/rules/{name}`."""

MAX_DEPTH = 8
MAX_ACTIONS = 20
MAX_NODES = 20_000
MAX_NESTING = 32

ROUNDS: Final = 4
"""Maximum passes over a document, each without the faulty parts found before, as some checks depend on others."""

EventTypes = Annotated[
    Annotated[TypePattern, Tag("<one>")]
    | Annotated[Annotated[list[TypePattern], Field(min_length=1, max_length=50)], Tag("<many>")],
    Discriminator(lambda value: "<many>" if isinstance(value, list) else "<one>"),
]

VERBATIM: Final[Json] = {
    "name": "consolidate_on_session_end",
    "event_type": "session.ended",
    "conditions": {"all": [{"field": "payload.message_count", "op": ">=", "value": 3}]},
    "action_mode": "auto",
    "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
    "risk_level": "low",
}

ANY_TOOL: Final[Json] = {
    "any": [
        {"field": "payload.importance", "op": ">", "value": 0.7},
        {
            "field": "payload.tool_calls",
            "op": "any_of",
            "value": {"field": "item.name", "op": "in", "value": ["search", "browse"]},
        },
    ]
}


class Rule(Model):
    """A rule: when (event types or a schedule), if (conditions), how often (flow), then (actions)."""

    model_config = ConfigDict(json_schema_extra={"examples": [VERBATIM]})

    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9_.-]{1,100}$",
            description="Name; unique in the tenant and the same in all versions",
            examples=["consolidate_on_session_end", "ops.alert-on-refund"],
        ),
    ]
    description: Annotated[
        str,
        Field(
            max_length=MAX_TEXT,
            description="Purpose of the rule, for later readers",
            examples=["Consolidates a conversation of three messages or more as soon as it has ended."],
        ),
    ] = ""
    tags: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]],
        Field(max_length=50, description="Labels of the rule", examples=[["extraction", "nightly"]]),
    ] = Field(default_factory=list)
    event_type: Annotated[
        EventTypes | None,
        Field(
            description="Event type, a wildcard in which * matches any characters, or a list of them",
            examples=["session.ended", "memory.*", ["skill.succeeded", "task.completed"]],
        ),
    ] = None
    schedule: Annotated[
        Schedule | None,
        Field(
            description="Schedule, instead of `event_type`",
            examples=[{"cron": "0 3 * * *", "timezone": "Europe/Lisbon"}, {"every_seconds": 3600, "for_each": "user"}],
        ),
    ] = None
    counts: Annotated[
        Counts | None,
        Field(
            description="Counts by name. They make the rule an alarm: its conditions read `count.…`, it acts once when "
            "they begin to hold, and not again before they are over",
            examples=[{"dead": {"of": "dispatches", "status": "dead"}}],
        ),
    ] = None
    conditions: Annotated[
        Condition | None,
        Field(
            description="Conditions on the event: a comparison, or `all`, `any` and `none` of several. Default: "
            "always true",
            examples=[VERBATIM["conditions"], ANY_TOOL],
        ),
    ] = None
    clears: Annotated[
        Condition | None,
        Field(
            description="Conditions under which a raised alarm is over. Default: when `conditions` hold no longer",
            examples=[{"field": "count.dead", "op": "==", "value": 0}],
        ),
    ] = None
    flow: Annotated[
        Flow,
        Field(
            description="Flow control: how often the rule acts on matches. Default: every time",
            examples=[{"debounce": {"seconds": 30, "max_events": 10}}, {"cooldown": {"seconds": 3600}}],
        ),
    ] = Flow()
    actions: Annotated[
        list[Action],
        Field(
            min_length=1,
            max_length=MAX_ACTIONS,
            description="Actions in order; each starts when the previous one is done",
            examples=[VERBATIM["actions"]],
        ),
    ]
    action_mode: Annotated[
        Literal["auto", "approve", "shadow"],
        Field(description="Mode of the actions: carried out at once, after approval, or not at all"),
    ] = "auto"
    risk_level: Annotated[
        Literal["low", "medium", "high"],
        Field(description="Damage that a mistake could cause"),
    ] = "low"
    priority: Annotated[
        int,
        Field(
            ge=-1_000_000,
            le=1_000_000,
            description="Higher priorities are evaluated first; equal ones by name",
            examples=[10],
        ),
    ] = 0
    stop: Annotated[bool, Field(description="If this rule fires, later rules are held back")] = False
    group: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=100,
            description="Only the first matching rule of a group fires",
            examples=["extraction"],
        ),
    ] = None
    enabled: Annotated[bool, Field(description="A disabled rule is held back")] = True
    repeat: Annotated[
        bool,
        Field(
            description="Allow the rule to react to consequences of its own action; the chain still ends at the "
            "hop limit"
        ),
    ] = False
    starts_at: Annotated[
        Moment | None, Field(description="The rule is held back before this time", examples=["2026-11-21T00:00:00Z"])
    ] = None
    ends_at: Annotated[
        Moment | None,
        Field(description="The rule is held back from this time on", examples=["2026-12-24T18:00:00+01:00"]),
    ] = None

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in RESERVED or not name.strip("."):
            raise refuse(f"`{name}` has a meaning of its own in addresses; take another name")
        return name

    @model_validator(mode="after")
    def _has_one_occasion(self) -> Self:
        if (self.event_type is None) == (self.schedule is None):
            raise refuse("give either `event_type` or `schedule`", "event_type")
        if self.starts_at and self.ends_at and self.starts_at >= self.ends_at:
            raise refuse("the end must come after `starts_at`", "ends_at")
        return self

    @property
    def event_types(self) -> tuple[str, ...]:
        """Return the types and wildcards it reacts to.

        A scheduled rule reacts to `clock.ticked`, an alarm to `alarm.raised`.
        """
        if self.event_type is None:
            return ("clock.ticked",) if self.counts is None else ("alarm.raised",)
        return (self.event_type,) if isinstance(self.event_type, str) else tuple(self.event_type)

    def type_patterns(self) -> Iterator[tuple[str, str]]:
        """Yield the types and wildcards that the rule waits for, with their pointers."""
        if isinstance(self.event_type, str):
            yield "/event_type", self.event_type
        elif self.event_type is not None:
            yield from ((f"/event_type/{position}", pattern) for position, pattern in enumerate(self.event_type))
        if self.flow.debounce is not None:
            flushing = enumerate(self.flow.debounce.flush_on)
            yield from ((f"/flow/debounce/flush_on/{position}", pattern) for position, pattern in flushing)


def parse(document: object, agents: Collection[str] | None = None) -> Rule:
    """Return the rule in a JSON document; raises Invalid with a pointer for each problem.

    `agents` are the existing targets; None allows any.
    """
    rule, faults = examine(document, agents)
    if faults or rule is None:
        raise Invalid(faults)
    return rule


def examine(document: object, agents: Collection[str] | None = None) -> tuple[Rule | None, list[Problem]]:
    """Return the rule in a document, and all its problems.

    With problems, the rule is the readable part, for further checks; None: nothing is readable.
    """
    faults = list(problems.size_problems(document, MAX_NESTING, MAX_NODES, MAX_TEXT))
    if faults:
        return None, faults
    part: object = document
    for _ in range(ROUNDS):
        try:
            rule = Rule.model_validate(part, context={"agents": agents})
        except ValidationError as error:
            more = problems.translate(error, part, FIELDS)
            faults += more
            part = repair.repair(part, more)
            if part is None:
                return None, faults
        else:
            parts = AlarmParts(rule.schedule, rule.counts, rule.conditions, rule.clears)
            return rule, [*faults, *_beyond_limits(rule), *(() if faults else alarm_problems(parts))]
    return None, faults


_PARTS: Final[dict[str, type[Model]]] = {
    "": Rule,
    "schedule": Schedule,
    "flow": Flow,
    "debounce": Debounce,
    "count": Count,
    "cooldown": Cooldown,
    "throttle": Throttle,
    "sample": Sample,
    "concurrency": Concurrency,
    "events": EventCount,
    "memories": MemoryCount,
    "dispatches": DispatchCount,
    "budget": BudgetShare,
    "<leaf>": Leaf,
    "<group>": Group,
    "<reference>": Reference,
    "run_agent": RunAgent,
    "emit": Emit,
    "notify": Notify,
    "webhook": Webhook,
    "<secret>": SecretName,
    "celery": CeleryTask,
}
FIELDS: Final = {name: tuple(model.model_fields) for name, model in _PARTS.items()}


def _beyond_limits(rule: Rule) -> Iterator[Problem]:
    for root, tree in (("/conditions", rule.conditions), ("/clears", rule.clears)):
        if tree is not None:
            yield from _tree_problems(root, tree)


def _tree_problems(root: str, tree: Leaf | Group) -> Iterator[Problem]:
    leaves = 0
    for pointer, node, depth, in_item in _nodes(tree, root, 1, in_item=False):
        if depth == MAX_DEPTH + 1:
            yield Problem(pointer, f"conditions may be nested at most {MAX_DEPTH} levels deep; split the rule")
        if isinstance(node, Leaf):
            leaves += 1
            yield from _misplaced_fields(pointer, node, in_item=in_item)
    if leaves > MAX_LEAVES:
        yield Problem(root, f"there are {leaves} comparisons, {MAX_LEAVES} are allowed; use `in` with a list")


Placed = tuple[str, Leaf | Group, int, bool]


def _nodes(node: Leaf | Group, pointer: str, depth: int, *, in_item: bool) -> Iterator[Placed]:
    yield pointer, node, depth, in_item
    if isinstance(node, Group):
        for at, child in node.children(pointer):
            yield from _nodes(child, at, depth + 1, in_item=in_item)
    elif isinstance(node.value, Leaf | Group):
        yield from _nodes(node.value, f"{pointer}/value", depth + 1, in_item=True)


_SCANS: Final = frozenset({"in", "not_in", "contains_any", "contains_all", "iequals"})


def _misplaced_fields(pointer: str, leaf: Leaf, *, in_item: bool) -> Iterator[Problem]:
    """Return fields on the wrong side of a quantifier, whose cost must stay proportional to the event's size."""
    root = paths.parse_path(leaf.field).root
    if (root == "item") is not in_item:
        yield Problem(f"{pointer}/field", _INSIDE if in_item else _OUTSIDE)
    if isinstance(leaf.value, Reference):
        is_item = paths.parse_path(leaf.value.field).root == "item"
        if is_item and not in_item:
            yield Problem(f"{pointer}/value/field", _OUTSIDE)
        elif in_item and not is_item and leaf.op in _SCANS:
            detail = f"within `any_of` and `all_of`, `{leaf.op}` compares with a literal or another part of `item`"
            yield Problem(f"{pointer}/value/field", detail)


_OUTSIDE: Final = "`item` exists only in the condition of `any_of` or `all_of`; did you mean `payload.…`?"
_INSIDE: Final = "within `any_of` and `all_of` a field starts with `item`; put what concerns the event beside them"


def document(rule: Rule) -> Json:
    """Return the JSON document of a rule, with explicitly set fields only."""
    return rule.model_dump(mode="json", exclude_unset=True)
