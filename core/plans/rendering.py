"""A plan within a token limit. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.language.zh.recognition import is_chinese
from core.plans.tree import OPEN, PlanStep, Tree

Count = Callable[[str], int]

BOXES: Final = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "failed": "[!]", "skipped": "[-]"}


def render(tree: Tree, tokens: int, count: Count) -> str:
    """Render a plan within a number of tokens.

    Completed steps are dropped first, then those far from the current one. Empty if not even the current step or the
    goal fits.
    """
    leaves = tree.leaves()
    chinese = is_chinese(tree.goal or " ".join(step.title for step in leaves))
    head = [_headline(tree, leaves, chinese=chinese)]
    now = next((step for step in tree.walk() if step.id == tree.current), None)
    if now is not None:
        head.append(f"当前步骤：{now.title}" if chinese else f"Current step: {now.title}")
    if count("\n".join(head)) > tokens:
        # With room for one line only, it is the step to work on.
        return head[-1] if count(head[-1]) <= tokens else ""
    return "\n".join([*head, *_list(tree, "\n".join(head), tokens, count, chinese=chinese)])


def _headline(tree: Tree, leaves: Sequence[PlanStep], *, chinese: bool) -> str:
    ended = sum(step.status not in OPEN for step in leaves)
    if chinese:
        return f"计划：{tree.goal}（{len(leaves)}步中已结束{ended}步）"
    return f"Plan: {tree.goal or 'without a goal'} ({ended} of {len(leaves)} steps ended)"


def _list(tree: Tree, head: str, tokens: int, count: Count, *, chinese: bool) -> list[str]:
    """Return the lines of the steps that fit, in order; open ones and those nearest to the current one come first."""
    placed = list(_lines(tree.steps, 0))
    at = next((n for n, (step, _) in enumerate(placed) if step.id == tree.current), 0)
    order = sorted(range(len(placed)), key=lambda n: (placed[n][0].status not in OPEN, n < at, abs(n - at)))

    def lines(many: int) -> list[str]:
        return _visible_lines(placed, set(order[:many]), chinese=chinese) if many else []

    low, high = 0, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("\n".join([head, *lines(middle)])) <= tokens else (low, middle - 1)
    return lines(low)


def _visible_lines(placed: Sequence[tuple[PlanStep, str]], visible: set[int], *, chinese: bool) -> list[str]:
    rest = len(placed) - len(visible)
    more = [f"（另有{rest}步）" if chinese else f"(and {rest} more)"] if rest else []
    return [placed[n][1] for n in sorted(visible)] + more


def _lines(steps: Sequence[PlanStep], depth: int) -> list[tuple[PlanStep, str]]:
    lines: list[tuple[PlanStep, str]] = []
    for number, step in enumerate(steps, 1):
        lines.append((step, f"{'  ' * depth}{number}. {BOXES[step.status or 'pending']} {step.title}"))
        lines += _lines(step.steps, depth + 1)
    return lines
