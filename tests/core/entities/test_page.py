"""All that is remembered of somebody."""

from __future__ import annotations

import pytest

from core.entities import page
from core.errors import NotFound
from core.storage.db import Database
from tests.core.changing import Bench, an_add
from tests.samples import TENANT


def test_a_page_holds_what_was_said_under_any_name(app: Database, bench: Bench) -> None:
    about = ["Ada's mother is called Evelyn.", "Evelyn paints.", "Ada's mother lives in Porto."]
    adds = [an_add(content, n) for n, content in enumerate([*about, "Ada likes tea."])]
    bench.apply(*adds)
    with app.tenant(TENANT) as tx:
        whole = page.about(tx, "ada", "my mother", None, 10)
        first = page.about(tx, "ada", "Evelyn", None, 2)
        rest = page.about(tx, "ada", "Evelyn", first.following, 2)
    assert [row.content for row in whole.rows] == [row.content for row in (*first.rows, *rest.rows)]
    assert {row.content for row in whole.rows} == set(about)
    assert (whole.following, rest.following) == (None, None)


def test_a_page_looks_through_a_part_at_a_time(app: Database, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.apply(*(an_add(f"Ada bought {n} cups.", n) for n in range(1, 6)), an_add("Evelyn paints.", 0))
    monkeypatch.setattr(page, "SEARCHED", 2)
    seen, after = [], None
    with app.tenant(TENANT) as tx:
        while True:
            part = page.about(tx, "ada", "Evelyn", after, 10)
            seen += [row.content for row in part.rows]
            after = part.following
            if after is None:
                break
    assert seen == ["Evelyn paints."]


def test_nobody_is_known_under_a_name_that_nothing_mentions(app: Database) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        page.about(tx, "ada", "Evelyn", None, 10)
