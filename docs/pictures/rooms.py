"""Draw `rooms.svg`: the rooms of the code on their floors, and the imports between them.

    python docs/pictures/rooms.py [--check]

Every box is a room with its number of modules; an arrow is an import. An arrow that follows from others is left out,
and so are the files of `core` that every room may use. `--check` fails when the picture is out of date.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import grimp

PACKAGES = ("core", "rules", "workers", "api")
SVG = Path(__file__).with_suffix(".svg")
ROOT = Path(__file__).parents[2]
BAND_WORDS = {
    "api": "listens",
    "workers": "carry out",
    "rules": "decide",
    "core": "keeps",
}
BOX_WIDTH, BOX_HEIGHT, GAP, FLOOR, PAD, TITLE = 122, 34, 14, 62, 16, 30
COLUMNS = (("api", "workers"), ("rules",), ("core",))
"""Panels from left to right, each column from the top; imports between panels go to the right."""


def room_of(module: str) -> str:
    """Return the room of a module: package and folder; a file directly in a package is a room of its own."""
    return ".".join(module.split(".")[:2])


def rooms(graph: grimp.ImportGraph) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Return modules by room, and the rooms that each room imports."""
    sizes: dict[str, int] = defaultdict(int)
    imports: dict[str, set[str]] = defaultdict(set)
    for module in sorted(graph.modules):
        if graph.find_children(module):
            continue
        room = room_of(module)
        sizes[room] += 1
        imports[room] |= {room_of(other) for other in graph.find_modules_directly_imported_by(module)} - {room}
    return sizes, imports


def drawn(sizes: dict[str, int], imports: dict[str, set[str]]) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Keep the folders, and of the imports inside a package those that do not follow from two others."""
    kept = {room: size for room, size in sizes.items() if (ROOT / room.replace(".", "/")).is_dir() and size > 1}
    direct = {room: {b for b in imports[room] if b in kept and package_of(b) == package_of(room)} for room in kept}
    reach: dict[str, set[str]] = {}

    def reachable(room: str) -> set[str]:
        if room not in reach:
            reach[room] = set().union(direct[room], *(reachable(other) for other in direct[room]))
        return reach[room]

    lean = {
        room: {b for b in found if not any(b in reachable(c) for c in found - {b})} for room, found in direct.items()
    }
    return kept, lean


def package_of(room: str) -> str:
    return room.split(".", maxsplit=1)[0]


def floors(package: str, kept: dict[str, int], imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the rooms of a package floor by floor from the top, each room above all that it imports."""
    height: dict[str, int] = {}

    def level(room: str) -> int:
        if room not in height:
            height[room] = 1 + max((level(other) for other in imports[room]), default=-1)
        return height[room]

    by_level = defaultdict(list)
    for room in sorted(kept):
        if package_of(room) == package:
            by_level[level(room)].append(room)
    return [by_level[at] for at in sorted(by_level, reverse=True)]


def svg(kept: dict[str, int], imports: dict[str, set[str]]) -> str:
    """Return the picture: one panel a package, with its floors."""
    places: dict[str, tuple[float, float]] = {}
    panels: list[str] = []
    left, height = 10.0, 0.0
    for column in COLUMNS:
        rows = {package: floors(package, kept, imports) for package in column}
        width = max(len(row) for found in rows.values() for row in found) * (BOX_WIDTH + GAP) - GAP + 2 * PAD
        top = 10.0
        for package, found in rows.items():
            tall = TITLE + len(found) * FLOOR - (FLOOR - BOX_HEIGHT) + PAD
            panels.append(
                f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{tall:.0f}" rx="8" class="{package}"/>'
                f'<text x="{left + PAD:.0f}" y="{top + 20:.0f}" class="band">{package} {BAND_WORDS[package]}</text>'
            )
            for number, row in enumerate(found):
                x = left + (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
                for room in row:
                    places[room] = (x, top + TITLE + number * FLOOR)
                    x += BOX_WIDTH + GAP
            top += tall + 24
        height = max(height, top)
        left += width + 40
    boxes = [box(room, *places[room], kept[room]) for room in sorted(places)]
    arrows = [arrow(places[room], places[other]) for room in sorted(imports) for other in sorted(imports[room])]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left - 30:.0f} {height - 14:.0f}" role="img" '
        f'aria-label="Rooms of the code and the imports between them"><style>{STYLE}</style>{MARKER}\n'
        + "\n".join([*panels, *arrows, *boxes])
        + "\n</svg>\n"
    )


def box(room: str, x: float, y: float, size: int) -> str:
    name, middle = room.split(".")[1], x + BOX_WIDTH / 2
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" class="box"/>'
        f'<text x="{middle:.0f}" y="{y + 15:.0f}" class="room">{name}</text>'
        f'<text x="{middle:.0f}" y="{y + 28:.0f}" class="size">{size} modules</text>'
    )


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = start[0] + BOX_WIDTH / 2, start[1] + BOX_HEIGHT, end[0] + BOX_WIDTH / 2, end[1]
    bend = max(20.0, (y2 - y1) / 2)
    return f'<path d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2 - 3:.0f}"/>'


STYLE = (
    "svg{background:#fff;font-family:system-ui,sans-serif}text{fill:#1c2430}.room{font-size:13px;text-anchor:middle}"
    ".size{font-size:9.5px;text-anchor:middle;fill:#5a6675}.band{font-size:13px;font-weight:600}"
    ".box{fill:#fff;stroke:#8a96a8}.api{fill:#e8f1fd}.workers{fill:#fdf1e2}.rules{fill:#eef8ea}.core{fill:#f2effa}"
    "path{fill:none;stroke:#8a96a8;marker-end:url(#a)}"
)
MARKER = (
    '<defs><marker id="a" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0 L6 3 L0 6 z" style="fill:#8a96a8;stroke:none"/></marker></defs>'
)


def main() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    picture = svg(*drawn(*rooms(graph)))
    if "--check" in sys.argv:
        sys.exit(0 if SVG.exists() and SVG.read_text(encoding="utf-8") == picture else "Run `make map`.")
    SVG.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
