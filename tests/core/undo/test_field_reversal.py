from __future__ import annotations

import pytest

from core.errors import Conflict
from core.memory.changes import Edit
from tests.core.changing import Bench, absorbed, an_add


def test_what_was_changed_again_is_refused_with_the_name_of_the_later_change(ada: Bench) -> None:
    less, _, change = absorbed(ada)
    later = Edit(less.id, 3 - 1, {"content": "Ada likes tea."}, "put right")
    ada.apply(later)
    before = ada.picture()
    with pytest.raises(Conflict, match=f"content .* version 3 .edit, change {later.change_id}"):
        ada.undo(change.change_id)
    assert ada.picture() == before
    ada.undo(later.change_id)
    ada.undo(change.change_id)
    assert ada.row(less.id).content == "Ada likes coffee."


def test_a_lesser_field_that_was_changed_again_stays_as_it_is_now(ada: Bench) -> None:
    cat = an_add("Ada has a cat.")
    ada.apply(cat)
    edit = Edit(cat.id, 1, {"importance": 0.9, "topic": "habit"}, "x")
    ada.apply(edit)
    ada.apply(Edit(cat.id, 2, {"importance": 0.2}, "y"))
    ada.undo(edit.change_id)
    assert (ada.row(cat.id).importance, ada.row(cat.id).topic) == (0.2, "personal")
