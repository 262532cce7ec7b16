"""Plan trees and status propagation, pure.

A step that an update does not mention keeps its status; a step with substeps has theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.plans.checklists import PENDING
from core.types import Json

OPEN: Final = frozenset({"pending", "in_progress"})


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A step, and the steps that it takes; `status` None: nothing was said of it."""

    id: str
    title: str
    status: str | None = None
    steps: tuple[PlanNode, ...] = ()

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status or PENDING,
            "steps": [step.as_json() for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class Tree:
    """A goal and its steps; `current`: id of the step being worked on."""

    goal: str
    steps: tuple[PlanNode, ...] = ()
    status: str | None = None
    current: str | None = None

    def walk(self) -> Iterator[PlanNode]:
        """Yield all steps, parents first."""
        yield from _walk(self.steps)

    def leaves(self) -> list[PlanNode]:
        return [step for step in self.walk() if not step.steps]


def update(earlier: Tree | None, new: Tree) -> Tree:
    """Return the new tree; take over the goal, current step and statuses that it leaves out."""
    statuses: dict[str, str] = {}
    for step in earlier.walk() if earlier else ():
        statuses.setdefault(_fold(step.title), step.status or PENDING)
    steps = tuple(_settle(_inherit(step, statuses)) for step in new.steps)
    goal = new.goal or (earlier.goal if earlier else "")
    return _with_current(replace(new, goal=goal, steps=steps))


def mark_step(tree: Tree, reference: str, status: str) -> Tree | None:
    """Return the tree with one step's status changed; None if no step or several match, or nothing changes.

    `reference`: a step's id, or its place such as `2` or `2.1`.
    """
    named = {step.id for step in tree.walk() if step.id.casefold() == reference.casefold()}
    placed = id_at(tree.steps, reference)
    step_ids = named | ({placed} if placed else set())
    if len(step_ids) != 1:
        return None
    (step_id,) = step_ids
    if next(step.status for step in tree.walk() if step.id == step_id) == status:
        return None
    steps = tuple(_mark(step, step_id, status) for step in tree.steps)
    return _with_current(replace(tree, steps=steps, status=None, current=step_id if status == "in_progress" else None))


def overall_status(steps: Sequence[PlanNode]) -> str:
    """Return the status of several steps together; failed only if none is open any more."""
    statuses = {step.status or PENDING for step in steps}
    if not statuses & OPEN:
        return "failed" if "failed" in statuses else "done" if "done" in statuses or not statuses else "skipped"
    return PENDING if statuses == {PENDING} else "in_progress"


def from_json(goal: str, status: str, steps: Sequence[Json], current: str | None) -> Tree:
    """Build a tree from its stored form."""
    return Tree(goal, tuple(_from_json(step) for step in steps), status, current)


def _from_json(step: Json) -> PlanNode:
    return PlanNode(step["id"], step["title"], step["status"], tuple(_from_json(substep) for substep in step["steps"]))


def _walk(steps: Sequence[PlanNode]) -> Iterator[PlanNode]:
    for step in steps:
        yield step
        yield from _walk(step.steps)


def _inherit(step: PlanNode, statuses: Mapping[str, str]) -> PlanNode:
    """Copy earlier statuses, except to steps with substeps: those determine the status."""
    status = step.status or (None if step.steps else statuses.get(_fold(step.title)))
    return replace(step, status=status, steps=tuple(_inherit(substep, statuses) for substep in step.steps))


def _settle(step: PlanNode) -> PlanNode:
    steps = tuple(_settle(substep) for substep in step.steps)
    return replace(step, steps=steps, status=step.status or (overall_status(steps) if steps else PENDING))


def _with_current(tree: Tree) -> Tree:
    """Return the tree with its status and current step: the one stated, else the one in progress, else the next."""
    steps = tree.steps
    current = next((step for step in tree.walk() if step.id == tree.current and step.status in OPEN), None)
    if current is not None and current.status == PENDING:
        steps = tuple(_mark(step, current.id, "in_progress") for step in steps)
    leaves = replace(tree, steps=steps).leaves()
    doing = [step for step in leaves if step.status == "in_progress"]
    waiting = [step for step in leaves if step.status == PENDING]
    at = current.id if current else (doing or waiting)[0].id if doing or waiting else None
    return replace(tree, steps=steps, status=tree.status or overall_status(steps), current=at)


def _mark(step: PlanNode, step_id: str, status: str) -> PlanNode:
    """Set a step's status; open substeps of an ended step end with it, and substeps determine their parent's status."""
    if step.id == step_id:
        within = step.steps if status in OPEN else tuple(_end(substep, status) for substep in step.steps)
        return replace(step, status=status, steps=within)
    within = tuple(_mark(substep, step_id, status) for substep in step.steps)
    return step if within == step.steps else replace(step, steps=within, status=overall_status(within))


def _end(step: PlanNode, status: str) -> PlanNode:
    within = tuple(_end(substep, status) for substep in step.steps)
    return replace(step, steps=within, status=status if step.status in OPEN else step.status)


LONGEST_NUMBER = 4
"""Most digits of a step's number: no plan has ten thousand steps."""


def id_at(steps: Sequence[PlanNode], reference: str) -> str | None:
    """Return the id of the step at a place such as `2.1`."""
    step: PlanNode | None = None
    for part in reference.split("."):
        if len(part) > LONGEST_NUMBER or not part.isdecimal() or not 1 <= int(part) <= len(steps):
            return None
        step = steps[int(part) - 1]
        steps = step.steps
    return step.id if step else None


def _fold(title: str) -> str:
    return " ".join(title.casefold().split()).rstrip(".。!！;；")
