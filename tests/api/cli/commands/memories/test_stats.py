"""`imprint memory stats`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.cli.commands.memories import stats
from core.memory.changes import Add
from core.storage.db import Database
from tests.commands import Imprint
from tests.factories import a_memory, carry_out, set_back


def kept(app: Database) -> Add:
    cat = a_memory("Ada has a [odd] cat.", importance=0.1)
    carry_out(app, cat, a_memory("Ada has a dog."))
    set_back(app, [cat.id], 170)
    return cat


def test_the_figures_are_shown(imprint: Imprint, app: Database) -> None:
    kept(app)
    imprint("search", "cat", "--user", "ada")
    shown = imprint("memory", "stats")
    assert shown.code == 0
    for word in ("2, of which 2 active", "fact 2", "semantic 2", "100% of 1 searches", "Ada has a [odd] cat.", "p95"):
        assert word in shown.out


def test_one_user_and_json(imprint: Imprint, app: Database) -> None:
    cat = kept(app)
    told = imprint("memory", "stats", "--user", "ada", "--json").json
    assert (told["total"], told["fading"]["weakest"][0]["id"]) == (2, str(cat.id))
    assert imprint("memory", "stats", "--user", "bob", "--json").json["total"] == 0
    assert "–" in imprint("memory", "stats", "--user", "bob").out


@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_bars_show_each_number_and_nothing_only_where_there_is_none(numbers: list[int]) -> None:
    drawn = stats.bars(numbers)
    assert len(drawn) == len(numbers)
    assert [bar == stats.BARS[0] for bar in drawn] == [number == 0 for number in numbers]
