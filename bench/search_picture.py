"""The picture of `bench.search`: what a search costs against how many memories there are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, TOP, RIGHT = 640, 400, 60, 40, 130
COLOURS = ("#1f6f8b", "#c8553d", "#6b8e23", "#8a6d3b")
STYLE = "text{font:12px sans-serif;fill:#333}line{stroke:#ddd}polyline{fill:none;stroke-width:2}"


class Step(NamedTuple):
    """A number of memories, and the milliseconds of each line."""

    rows: int
    took: Mapping[str, float]


def drawn(title: str, steps: Sequence[Step]) -> str:
    """Milliseconds against memories as SVG, a line for each name; the number of memories by powers of ten."""
    up = 1.1 * max(value for step in steps for value in step.took.values())
    low, high = (math.log10(end(step.rows for step in steps)) for end in (min, max))

    def x(rows: int) -> float:
        return LEFT + (math.log10(rows) - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(milliseconds: float) -> float:
        return TOP + (1 - milliseconds / up) * (HEIGHT - TOP - 40)

    body = [f'<text x="{LEFT}" y="18">{title}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        at = y(share * up)
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.0f}" y2="{at:.0f}"/>')
        body.append(f'<text x="{LEFT - 6}" y="{at + 4:.0f}" text-anchor="end">{share * up:.1f}</text>')
    rows = [step.rows for step in steps]
    body += [f'<text x="{x(one):.0f}" y="{HEIGHT - 20}" text-anchor="middle">{one:,}</text>' for one in rows]
    for name, colour in zip(steps[0].took, COLOURS, strict=False):
        points = " ".join(f"{x(step.rows):.0f},{y(step.took[name]):.0f}" for step in steps)
        body.append(f'<polyline points="{points}" stroke="{colour}"/>')
        body.append(f'<text x="{WIDTH - RIGHT + 6}" y="{y(steps[-1].took[name]) + 4:.0f}">{name}</text>')
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    page = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n<style>{STYLE}</style>\n{page}\n'
    return head + "\n".join([*body, "</svg>\n"])
