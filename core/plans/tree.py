"""Plan trees and status propagation, pure.

A step that an update says nothing about keeps the status it had; else it stands as its own steps do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.plans.checklists import PENDING
from core.types import Json

OPEN: Final = frozenset({"pending", "in_progress"})


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and the steps that it takes; `status` None: nothing was said of it."""

    id: str
    title: str
    status: str | None = None
    steps: tuple[Step, ...] = ()

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status or PENDING,
            "steps": [step.as_json() for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class Tree:
    """A goal and the steps to it; `current`: the id of the step that is being worked on."""

    goal: str
    steps: tuple[Step, ...] = ()
    status: str | None = None
    current: str | None = None

    def walk(self) -> Iterator[Step]:
        """All steps, each before its own."""
        yield from _walk(self.steps)

    def leaves(self) -> list[Step]:
        return [step for step in self.walk() if not step.steps]


def updated(earlier: Tree | None, new: Tree) -> Tree:
    """The new tree, with what it leaves unsaid: statuses by the earlier one or the steps' own steps, goal, current."""
    known: dict[str, str] = {}
    for step in earlier.walk() if earlier else ():
        known.setdefault(_folded(step.title), step.status or PENDING)
    steps = tuple(_settled(_inherited(step, known)) for step in new.steps)
    goal = new.goal or (earlier.goal if earlier else "")
    return _placed(replace(new, goal=goal, steps=steps))


def marked(tree: Tree, reference: str, status: str) -> Tree | None:
    """The tree with one step's status changed; None: there is no such step, or more than one, or it says so already.

    `reference`: a step's id, or its place such as `2` or `2.1`.
    """
    named = {step.id for step in tree.walk() if step.id.casefold() == reference.casefold()}
    placed = at(tree.steps, reference)
    wanted = named | ({placed} if placed else set())
    if len(wanted) != 1:
        return None
    (step_id,) = wanted
    if next(step.status for step in tree.walk() if step.id == step_id) == status:
        return None
    steps = tuple(_marked(step, step_id, status) for step in tree.steps)
    return _placed(replace(tree, steps=steps, status=None, current=step_id if status == "in_progress" else None))


def overall(steps: Sequence[Step]) -> str:
    """What steps come to: failed only where nothing is open any more."""
    found = {step.status or PENDING for step in steps}
    if not found & OPEN:
        return "failed" if "failed" in found else "done" if "done" in found or not found else "skipped"
    return PENDING if found == {PENDING} else "in_progress"


def from_json(goal: str, status: str, steps: Sequence[Json], current: str | None) -> Tree:
    """A tree as it was stored."""
    return Tree(goal, tuple(_from_json(step) for step in steps), status, current)


def _from_json(step: Json) -> Step:
    return Step(step["id"], step["title"], step["status"], tuple(_from_json(one) for one in step["steps"]))


def _walk(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _walk(step.steps)


def _inherited(step: Step, known: Mapping[str, str]) -> Step:
    """Of a step that has steps of its own nothing is inherited: those say how it stands."""
    status = step.status or (None if step.steps else known.get(_folded(step.title)))
    return replace(step, status=status, steps=tuple(_inherited(one, known) for one in step.steps))


def _settled(step: Step) -> Step:
    steps = tuple(_settled(one) for one in step.steps)
    return replace(step, steps=steps, status=step.status or (overall(steps) if steps else PENDING))


def _placed(tree: Tree) -> Tree:
    """With its own status and the step it is at: the one that was said, else what is in progress, else what is next."""
    steps = tree.steps
    current = next((step for step in tree.walk() if step.id == tree.current and step.status in OPEN), None)
    if current is not None and current.status == PENDING:
        steps = tuple(_marked(step, current.id, "in_progress") for step in steps)
    leaves = replace(tree, steps=steps).leaves()
    doing = [step for step in leaves if step.status == "in_progress"]
    waiting = [step for step in leaves if step.status == PENDING]
    at = current.id if current else (doing or waiting)[0].id if doing or waiting else None
    return replace(tree, steps=steps, status=tree.status or overall(steps), current=at)


def _marked(step: Step, step_id: str, status: str) -> Step:
    """What is open under a step that ends ends with it; what a step's own steps come to is what it comes to."""
    if step.id == step_id:
        within = step.steps if status in OPEN else tuple(_ended(one, status) for one in step.steps)
        return replace(step, status=status, steps=within)
    within = tuple(_marked(one, step_id, status) for one in step.steps)
    return step if within == step.steps else replace(step, steps=within, status=overall(within))


def _ended(step: Step, status: str) -> Step:
    within = tuple(_ended(one, status) for one in step.steps)
    return replace(step, steps=within, status=status if step.status in OPEN else step.status)


LONGEST_NUMBER = 4
"""Digits: no plan has ten thousand steps."""


def at(steps: Sequence[Step], reference: str) -> str | None:
    """The id of the step at a place such as `2.1`."""
    found: Step | None = None
    for part in reference.split("."):
        if len(part) > LONGEST_NUMBER or not part.isdecimal() or not 1 <= int(part) <= len(steps):
            return None
        found = steps[int(part) - 1]
        steps = found.steps
    return found.id if found else None


def _folded(title: str) -> str:
    return " ".join(title.casefold().split()).rstrip(".。!！;；")
