"""A plan within a token limit. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.language import languages
from core.language.parts import PlanPhrases
from core.plans.tree import OPEN, PlanNode, Tree

Count = Callable[[str], int]

BOXES: Final = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "failed": "[!]", "skipped": "[-]"}


def render(tree: Tree, tokens: int, count: Count) -> str:
    """Render a plan within a number of tokens.

    Completed steps are dropped first, then those far from the current one. Empty if not even the current step or the
    goal fits.
    """
    leaves = tree.leaves()
    phrases = languages.phrases(languages.of(tree.goal or " ".join(step.title for step in leaves))).plan
    head = [_headline(tree, leaves, phrases)]
    now = next((step for step in tree.walk() if step.id == tree.current), None)
    if now is not None:
        head.append(phrases.step.format(title=now.title))
    if count("\n".join(head)) > tokens:
        # With room for one line only, it is the step to work on.
        return head[-1] if count(head[-1]) <= tokens else ""
    return "\n".join([*head, *_list(tree, "\n".join(head), tokens, count, phrases)])


def _headline(tree: Tree, leaves: Sequence[PlanNode], phrases: PlanPhrases) -> str:
    ended = sum(step.status not in OPEN for step in leaves)
    return phrases.head.format(goal=tree.goal or phrases.without_goal, steps=len(leaves), ended=ended)


def _list(tree: Tree, head: str, tokens: int, count: Count, phrases: PlanPhrases) -> list[str]:
    """Return the lines of the steps that fit, in order; open ones and those nearest to the current one come first."""
    placed = list(_lines(tree.steps, 0))
    at = next((n for n, (step, _) in enumerate(placed) if step.id == tree.current), 0)
    order = sorted(range(len(placed)), key=lambda n: (placed[n][0].status not in OPEN, n < at, abs(n - at)))

    def lines(many: int) -> list[str]:
        return _visible_lines(placed, set(order[:many]), phrases) if many else []

    low, high = 0, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("\n".join([head, *lines(middle)])) <= tokens else (low, middle - 1)
    return lines(low)


def _visible_lines(placed: Sequence[tuple[PlanNode, str]], visible: set[int], phrases: PlanPhrases) -> list[str]:
    rest = len(placed) - len(visible)
    more = [phrases.more.format(rest=rest)] if rest else []
    return [placed[n][1] for n in sorted(visible)] + more


def _lines(steps: Sequence[PlanNode], depth: int) -> list[tuple[PlanNode, str]]:
    lines: list[tuple[PlanNode, str]] = []
    for number, step in enumerate(steps, 1):
        lines.append((step, f"{'  ' * depth}{number}. {BOXES[step.status or 'pending']} {step.title}"))
        lines += _lines(step.steps, depth + 1)
    return lines
