"""Subjects under the name in use."""

from __future__ import annotations

from core.entities import subjects
from core.storage.db import Database
from tests.core.changing import Bench, an_add
from tests.samples import TENANT


def test_a_statement_goes_under_the_name_in_use(app: Database, bench: Bench) -> None:
    bench.apply(an_add("Evelyn is Ada's mother.", subject="Evelyn"), an_add("Evelyn paints.", 1, subject="Evelyn"))
    assert subjects.in_use(app, TENANT, "ada", ["Ada's mother", "my mother", "Graham", "ada"]) == {
        "Ada's mother": "Evelyn",
        "my mother": "Evelyn",
    }
    assert subjects.in_use(app, TENANT, "ada", ["ada"]) == {}
