"""Pages end by bytes as well as by rows."""

from __future__ import annotations

from sqlalchemy import text

from core.storage import bounded_rows
from core.storage.bounded_rows import FETCHED, PAGE_BYTES
from core.storage.db import Database
from tests.samples import TENANT

NUMBERED = text("""
    SELECT n, repeat('x', cast(:size AS integer)) AS word, jsonb_build_object('a', repeat('y', :size)) AS document
    FROM generate_series(1, cast(:count AS integer)) AS n ORDER BY n
""")


def numbers(app: Database, count: int, size: int, most: int = PAGE_BYTES) -> tuple[list[int], bool]:
    with app.tenant(TENANT) as tx:
        rows, is_cut = bounded_rows.read(tx, NUMBERED, {"count": count, "size": size}, most)
        assert tx.execute(text("SELECT 1")).scalar_one() == 1, "the connection is free for the next statement"
    return [row.n for row in rows], is_cut


def test_few_bytes_come_as_a_whole(app: Database) -> None:
    assert numbers(app, 3 * FETCHED + 1, 10) == (list(range(1, 3 * FETCHED + 2)), False)
    assert numbers(app, 0, 10) == ([], False)


def test_a_page_ends_with_the_row_that_exceeds_its_bytes(app: Database) -> None:
    assert numbers(app, 100, 1_000, 5_000) == ([1, 2, 3], True), "texts and documents count, each 1,000 bytes a row"


def test_a_row_larger_than_a_page_comes_alone(app: Database) -> None:
    assert numbers(app, 3, 10_000, 5_000) == ([1], True)
    assert numbers(app, 1, 10_000, 5_000) == ([1], False)
