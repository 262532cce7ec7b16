from __future__ import annotations

from pathlib import Path

from api.cli.commands.host.checks import table
from bench import checks as page

ROOT = Path(__file__).parents[6]


def test_every_check_has_a_name_of_its_own_and_needs_only_earlier_ones() -> None:
    names = [check.name for check in table.CHECKS]
    assert len(set(names)) == len(names)
    for position, check in enumerate(table.CHECKS):
        assert set(check.needs) <= set(names[:position]), check.name


def test_the_page_of_the_manual_is_the_table() -> None:
    written = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert written == page.page(), "Run `python -m bench.checks > docs/doctor.md`."
