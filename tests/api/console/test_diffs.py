from __future__ import annotations

from api.console.diffs import DiffRow, side_by_side
from rules.document import formatting
from tests.rules.samples import a_document


def test_lines_that_were_replaced_stand_beside_those_in_their_place() -> None:
    unified = "--- a\n+++ b\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n four\n"
    assert side_by_side(unified) == [
        DiffRow((1, "one"), (1, "one")),
        DiffRow((2, "two"), (2, "zwei")),
        DiffRow(None, (3, "drei")),
        DiffRow((3, "four"), (4, "four")),
    ]
    assert [row.changed for row in side_by_side(unified)] == [False, True, True, False]


def test_what_is_left_out_between_changes_is_marked() -> None:
    rows = side_by_side("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n@@ -9,2 +9 @@\n i\n-j\n")
    assert [row.gap for row in rows] == [False, True, False]
    assert rows[1:] == [DiffRow((9, "i"), (9, "i"), gap=True), DiffRow((10, "j"), None)]


def test_the_first_version_of_a_rule_and_equal_texts() -> None:
    rows = side_by_side(formatting.diff(None, a_document(), "v0", "v1"))
    assert all(row.before is None for row in rows)
    assert rows[0].after == (1, "{")
    assert side_by_side("") == []
