"""The sweep for duplicates: seconds against how much is new of 10,000 and of 50,000 memories of one user.

    python -m bench.dedup [--total 10000 50000] [--new 1000 2000 4000 8000] [--svg docs/pictures/dedup.svg]

To reach: linear in what is new. Every tenth of the new memories says more of a known one, and may be merged with it.
Vectors are hashed: what is measured does not depend on what they mean. Each figure is of a user of its own, a copy of
the first known and the last new memories of one who was given them through the door.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import psycopg

from bench import arguments
from bench.stand import database, timed
from bench.write import AUTHOR, FILLED, TENANT, candidate
from core.consolidation import dedup_sweep, pipeline
from core.consolidation.pipeline import Consolidation
from core.inference.embedders import HashEmbedder
from core.memory import writer
from core.memory.changes import Add, Owner
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Candidate

TOTAL: Final = (10_000, 50_000)
NEW: Final = (1_000, 2_000, 4_000, 8_000)
SOURCE: Final = Owner("source")


class Figure(NamedTuple):
    """Duration of one sweep, in seconds, and how many it merged."""

    total: int
    new: int
    seconds: float
    merged: int


def run(total: Sequence[int] = TOTAL, new: Sequence[int] = NEW) -> list[Figure]:
    """A figure for each number of memories and of new ones among them, printed as they come."""
    print(f"{'total':>8} {'new':>8} {'seconds':>9} {'ms a new one':>13} {'merged':>7}")
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        consolidation = pipeline.from_settings(app, HashEmbedder(), settings)
        fill(app, consolidation, [candidate(n) for n in range(max(total))], [more(n) for n in range(max(new))])
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            figures = [measure(app, consolidation, admin, size, other) for size in total for other in new]
        app.close()
        return figures


def more(n: int) -> Candidate:
    """A new statement; every tenth says more of one of the first that are known."""
    if n % 10:
        return candidate(max(TOTAL) + n)
    known = candidate(n // 10)
    return replace(known, content=f"{known.content[:-1]}, as everybody knows.")


def fill(app: Database, consolidation: Consolidation, known: Sequence[Candidate], new: Sequence[Candidate]) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
    everything = [*known, *new]
    for start in range(0, len(everything), FILLED):
        part = everything[start : start + FILLED]
        vectors = consolidation.embedder.embed([memory.content for memory in part])
        adds = [Add(memory, "Filled in.", vector) for memory, vector in zip(part, vectors, strict=True)]
        with app.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, SOURCE, adds, AUTHOR)


def measure(app: Database, consolidation: Consolidation, admin: psycopg.Connection, total: int, new: int) -> Figure:
    user, known = f"{new} of {total}", total - new
    for statement in (_COPIES, _MEMORIES, _INDEX, "DROP TABLE copies", _MARK, "VACUUM ANALYZE"):
        admin.execute(statement, {"user": user, "known": known, "new": new, "source": SOURCE.user_id, "tenant": TENANT})
    merged = 0

    def sweep() -> None:
        nonlocal merged
        more = True
        while more:
            swept = dedup_sweep.sweep(app, TENANT, user, consolidation.thresholds)
            with app.tenant(TENANT) as tx:
                swept.write(tx, AUTHOR)
            merged, more = merged + len(swept.merges), swept.more

    seconds = timed(sweep)
    figure = Figure(total, new, seconds, merged)
    print(f"{total:>8,} {new:>8,} {seconds:>9.2f} {1e3 * seconds / new:>13.2f} {merged:>7,}", flush=True)
    return figure


WIDTH, HEIGHT, LEFT, TOP = 640, 400, 60, 30
COLOURS = ("#1f6f8b", "#c8553d", "#6b8e23")
STYLE = "text{font:12px sans-serif;fill:#333}line{stroke:#ddd}polyline{fill:none;stroke-width:2}"


def drawn(figures: Sequence[Figure]) -> str:
    """Seconds against the number of new memories, a line for each number of all, as SVG."""
    across, up = max(f.new for f in figures), max(f.seconds for f in figures)
    totals = sorted({f.total for f in figures})

    def x(new: float) -> float:
        return LEFT + new / across * (WIDTH - LEFT - 110)

    def y(seconds: float) -> float:
        return TOP + (1 - seconds / up) * (HEIGHT - TOP - 40)

    body = [f'<text x="{LEFT}" y="18">seconds of the sweep, by number of new memories</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        height = y(share * up)
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - 110}" y1="{height:.0f}" y2="{height:.0f}"/>')
        body.append(f'<text x="{LEFT - 6}" y="{height + 4:.0f}" text-anchor="end">{share * up:.1f}</text>')
    news = sorted({f.new for f in figures})
    body += [f'<text x="{x(new):.0f}" y="{HEIGHT - 20}" text-anchor="middle">{new:,}</text>' for new in news]
    for count, colour in zip(totals, COLOURS, strict=False):
        line = [(0, 0.0), *((f.new, f.seconds) for f in figures if f.total == count)]
        points = " ".join(f"{x(new):.0f},{y(seconds):.0f}" for new, seconds in line)
        body.append(f'<polyline points="{points}" stroke="{colour}"/>')
        body.append(f'<text x="{x(line[-1][0]) + 6:.0f}" y="{y(line[-1][1]) + 4:.0f}">of {count:,}</text>')
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    page = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n<style>{STYLE}</style>\n{page}\n' + "\n".join(
        [*body, "</svg>\n"]
    )


_COPIES = """
    CREATE UNLOGGED TABLE copies AS
    SELECT uuidv7() AS id, ordered.* FROM (
        (SELECT id AS source, recorded_at FROM memories WHERE user_id = %(source)s ORDER BY recorded_at, id
         LIMIT %(known)s)
        UNION ALL
        (SELECT id, recorded_at FROM (
            SELECT id, recorded_at FROM memories WHERE user_id = %(source)s ORDER BY recorded_at DESC, id DESC
            LIMIT %(new)s) AS last)
    ) AS ordered ORDER BY recorded_at, source
"""
_MEMORIES = """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at, recorded_at, fade_half_life, fade_at)
    SELECT tenant_id, c.id, %(user)s, subject, kind, category, topic, content, statement_key, trust, status,
           occurred_at, m.recorded_at, fade_half_life, fade_at
    FROM copies c JOIN memories m ON m.id = c.source ORDER BY c.id
"""
_INDEX = """
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, occurred_at, terms, own_terms, embedding)
    SELECT tenant_id, type, session_id, c.id::text, %(user)s, occurred_at, terms, own_terms, embedding
    FROM copies c JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = c.source::text
    ORDER BY c.id
"""
_MARK = """
    INSERT INTO sweeps (tenant_id, user_id, recorded_at, memory_id)
    SELECT %(tenant)s, %(user)s, recorded_at, id FROM memories WHERE user_id = %(user)s
    ORDER BY recorded_at, id OFFSET %(known)s - 1 LIMIT 1
"""
"""Known memories count as compared when they came."""


def main() -> None:
    """Prints a row for each sweep, and draws the lines."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--total", type=int, nargs="+", default=TOTAL)
    parser.add_argument("--new", type=int, nargs="+", default=NEW)
    parser.add_argument("--svg", type=Path, help="where to draw seconds against what is new")
    options = parser.parse_args()
    figures = run(options.total, options.new)
    if options.svg:
        options.svg.parent.mkdir(parents=True, exist_ok=True)
        options.svg.write_text(drawn(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
