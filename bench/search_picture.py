"""The pictures of `bench.search` and `bench.curves`: costs against numbers of memories or users."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, TOP, RIGHT = 640, 400, 60, 40, 130
COLOURS = ("#1f6f8b", "#c8553d", "#6b8e23", "#8a6d3b", "#6a4c93", "#2a9d8f", "#b5179e", "#555555", "#e09f3e")
MARKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
LINE = 15
"""From one name to the next, at the least."""

STYLE = "text{font:12px sans-serif;fill:#333}line{stroke:#ddd}polyline{fill:none;stroke-width:2}"


class Step(NamedTuple):
    """A number of memories, and the milliseconds of each line."""

    rows: int
    took: Mapping[str, float]


def drawn(title: str, steps: Sequence[Step]) -> str:
    """Return milliseconds against numbers as SVG, a line for each name; both by powers of ten."""
    took = [value for step in steps for value in step.took.values()]
    marks = [mark for mark in MARKS if min(took) / 2 <= mark <= max(took) * 2] or MARKS[-2:]
    bottom, top = (math.log10(end([*marks, *took])) for end in (min, max))
    low, high = (math.log10(end(step.rows for step in steps)) for end in (min, max))

    def x(rows: int) -> float:
        return LEFT + (math.log10(rows) - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(milliseconds: float) -> float:
        return TOP + (top - math.log10(milliseconds)) / ((top - bottom) or 1) * (HEIGHT - TOP - 40)

    body = [f'<text x="{LEFT}" y="18">{title}</text>']
    for mark in marks:
        at = y(mark)
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.0f}" y2="{at:.0f}"/>')
        body.append(f'<text x="{LEFT - 6}" y="{at + 4:.0f}" text-anchor="end">{mark:,}</text>')
    rows = [step.rows for step in steps]
    body += [f'<text x="{x(count):.0f}" y="{HEIGHT - 20}" text-anchor="middle">{count:,}</text>' for count in rows]
    places = _apart({name: y(value) + 4 for name, value in steps[-1].took.items()})
    for name, colour in zip(steps[0].took, COLOURS, strict=False):
        points = " ".join(f"{x(step.rows):.0f},{y(step.took[name]):.0f}" for step in steps)
        body.append(f'<polyline points="{points}" stroke="{colour}"/>')
        body.append(f'<text x="{WIDTH - RIGHT + 6}" y="{places[name]:.0f}" style="fill:{colour}">{name}</text>')
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    page = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n<style>{STYLE}</style>\n{page}\n'
    return head + "\n".join([*body, "</svg>\n"])


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Return heights near those wanted at which no name covers another."""
    placed: dict[str, float] = {}
    for name in sorted(heights, key=heights.__getitem__):
        placed[name] = max([heights[name], *(height + LINE for height in placed.values())])
    return placed
