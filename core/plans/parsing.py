"""Parses the plan formats that agents send. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from core.errors import Never
from core.language import languages
from core.plans import checklists
from core.plans.checklists import PENDING, ListItem
from core.plans.tree import PlanNode, Tree, id_at

DEPTH: Final = 8
"""Most levels of steps; deeper plans are not usable."""

STEPS: Final = 500
"""Most steps of one plan."""

TITLE: Final = 1_000
"""Longest title of a step, and goal, characters."""

ID: Final = 200

STATUSES: Final[Mapping[str, str]] = {
    word: status
    for language in languages.ALL
    if language.plans
    for status, words in language.plans.statuses.items()
    for word in words.split()
}

_GOALS: Final = ("goal", "objective", "title", "name", "task", "summary", "description")
_TITLES: Final = ("title", "content", "step", "text", "description", "task", "name", "action", "goal")
_CHILDREN: Final = (
    "steps",
    "todos",
    "plan",
    "tasks",
    "items",
    "substeps",
    "subtasks",
    "children",
    "todo_list",
    "checklist",
)
_STATES: Final = ("status", "state")
_TICKS: Final = ("done", "completed", "is_done", "is_completed", "checked", "finished")
_PAST: Final = ("past_steps", "completed_steps")
_CURRENT: Final = ("current", "current_step", "current_step_id")
_INDEX: Final = ("current_index", "current_step_index")


def _of_text(plan: str) -> Tree:
    goal, items = checklists.read(plan)
    try:
        return _number(_check(Tree(_title(goal or ""), tuple(map(_of_item, items)))))
    except RecursionError:
        raise Never("The plan's steps are nested far too deep. Send fewer levels.") from None


def parse(plan: object) -> Tree:
    """Parse a plan that an agent sent: an object, a list, or text. Never: it is too deep, too large, or no plan."""
    if isinstance(plan, str):
        document = checklists.document(plan)
        if document is None:
            return _of_text(plan)
        plan = document
    if isinstance(plan, list):
        return _number(_check(Tree("", _steps(plan, 1))))
    if not isinstance(plan, dict):
        raise Never(f"A plan must be an object, a list or a text, not {type(plan).__name__}.")
    inner = _parse_object(plan)
    past = [_completed_step(entry) for name in _PAST if isinstance(plan.get(name), list) for entry in plan[name]]
    past_titles = {step.title for step in past}
    steps = (*past, *(step for step in inner.steps if step.title not in past_titles))
    goal = next((str(plan[name]) for name in _GOALS if isinstance(plan.get(name), str)), inner.goal)
    tree = _number(_check(Tree(_title(goal), steps, _status(plan) or inner.status)))
    return replace(tree, current=_current_id(tree, plan) or inner.current)


def _parse_object(plan: Mapping[str, Any]) -> Tree:
    """Parse the steps of an object: a list, a text, another plan, or steps by their ids."""
    children: Any = next((plan[name] for name in _CHILDREN if isinstance(plan.get(name), list | dict | str)), None)
    if children is None and not any(isinstance(plan.get(name), str | list) for name in (*_GOALS, *_PAST)):
        raise Never(f"A plan needs a `goal` or `steps`; this one has only {sorted(map(str, plan))[:10]}.")
    if isinstance(children, dict) and children.keys().isdisjoint({*_CHILDREN, *_GOALS}):
        children = [
            {"id": name, **(child if isinstance(child, dict) else {"title": child})} for name, child in children.items()
        ]
    return Tree("", _steps(children, 1)) if isinstance(children, list) else parse(children) if children else Tree("")


def _of_item(item: ListItem) -> PlanNode:
    return PlanNode("", _title(item.title), item.status, tuple(map(_of_item, item.items)))


def _steps(given: Sequence[Any], depth: int) -> tuple[PlanNode, ...]:
    if depth > DEPTH:
        raise Never(f"The plan has more than {DEPTH} levels of steps; send the deeper ones as separate plans.")
    if len(given) > STEPS:
        raise Never(_TOO_MANY)
    return tuple(_step(entry, depth) for entry in given if entry not in (None, "", {}, []))


def _step(given: Any, depth: int) -> PlanNode:
    """Parse one step: a text, perhaps with a box before it, or an object with a title under one of the usual names."""
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        item = checklists.item(str(given))
        return PlanNode("", _title(item.title), item.status)
    if not isinstance(given, dict):
        raise Never(f"A step must be a text or an object with a `title`, not {type(given).__name__}.")
    title = next((given[name] for name in _TITLES if isinstance(given.get(name), str) and given[name].strip()), None)
    if title is None:
        raise Never(f"A step needs a `title`; one has only {sorted(map(str, given))[:10]}.")
    within: Sequence[Any] = next((given[name] for name in _CHILDREN if isinstance(given.get(name), list)), [])
    named = given.get("id", given.get("step_id"))
    step_id = str(named) if isinstance(named, str | int) and not isinstance(named, bool) else ""
    if len(step_id) > ID:
        raise Never(f"The id of a step has {len(step_id)} characters; {ID} are allowed.")
    return PlanNode(step_id, _title(title), _status(given), _steps(within, depth + 1))


def _completed_step(given: Any) -> PlanNode:
    """Parse a step that was carried out, with or without its result."""
    entry = given[0] if isinstance(given, list) and given else given
    return replace(_step(entry, 1), status="done")


def _status(given: Mapping[str, Any]) -> str | None:
    for name in _STATES:
        value = given.get(name)
        if isinstance(value, str):
            return STATUSES.get("-".join(value.casefold().replace("_", " ").split()), PENDING)
    for name in _TICKS:
        if isinstance(given.get(name), bool):
            return "done" if given[name] else PENDING
    return None


def _title(text: str) -> str:
    title = " ".join(text.split())
    if len(title) > TITLE:
        raise Never(f"A step or goal has {len(title)} characters; {TITLE} are allowed. Shorten it.")
    return title


def _check(tree: Tree) -> Tree:
    if sum(1 for _ in tree.walk()) > STEPS:
        raise Never(_TOO_MANY)
    if _height(tree.steps) > DEPTH:
        raise Never(f"The plan has more than {DEPTH} levels of steps; send the deeper ones as separate plans.")
    return tree


def _height(steps: Sequence[PlanNode]) -> int:
    return 1 + max(_height(step.steps) for step in steps) if steps else 0


def _number(tree: Tree) -> Tree:
    """Return the tree with an id for each step: the one it was given, else its position, such as `2.1`."""
    taken = {step.id for step in tree.walk() if step.id}
    seen: set[str] = set()

    def named(step: PlanNode, position: str) -> PlanNode:
        is_free = position not in taken and position not in seen
        own = step.id if step.id and step.id not in seen else position if is_free else f"step {position}"
        seen.add(own)
        return replace(
            step, id=own, steps=tuple(named(substep, f"{position}.{n}") for n, substep in enumerate(step.steps, 1))
        )

    return replace(tree, steps=tuple(named(step, str(n)) for n, step in enumerate(tree.steps, 1)))


def _current_id(tree: Tree, plan: Mapping[str, Any]) -> str | None:
    """Return the current step: by id, title or position; positions count from 1, an index from 0."""
    index = next((plan[name] for name in _INDEX if type(plan.get(name)) is int), None)
    if index is not None:
        return tree.steps[index].id if 0 <= index < len(tree.steps) else None
    reference = next((plan[name] for name in _CURRENT if plan.get(name) is not None), None)
    reference = reference.get("id", reference.get("title")) if isinstance(reference, dict) else reference
    if isinstance(reference, bool) or not isinstance(reference, str | int):
        return None
    named = (step.id for step in tree.walk() if str(reference) in {step.id, step.title})
    return next(named, None) or id_at(tree.steps, str(reference))


_TOO_MANY = f"The plan has more than {STEPS} steps; send parts of it as plans of their own, each with a `plan_id`."
