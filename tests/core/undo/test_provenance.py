from __future__ import annotations

import pytest

from core.errors import Conflict
from core.memory.changes import Derive, Part
from tests.core.changing import Bench, absorbed, an_add
from tests.factories import a_candidate


def test_a_memory_others_have_built_on_is_not_taken_from_under_them(ada: Bench) -> None:
    less, more, _ = absorbed(ada)
    with pytest.raises(Conflict, match="merge"):
        ada.undo(less.change_id)
    with pytest.raises(Conflict, match="merge"):
        ada.undo(more.change_id)


def test_parts_that_were_compressed_come_back_and_what_stood_for_them_goes(ada: Bench) -> None:
    adds = [an_add(f"Ada has {n} cats.", n) for n in range(3)]
    ada.apply(*adds)
    whole = Derive(a_candidate("Ada has cats.", 5), [Part(a.id, 1) for a in adds], "all", retires=True)
    ada.apply(whole)
    ada.undo(whole.change_id)
    assert {r.id for r in ada.rows("active")} == {a.id for a in adds}
    assert ada.row(whole.id).trust == "rejected"
