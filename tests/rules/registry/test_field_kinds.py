from __future__ import annotations

from core.events.reserved import EMITTED
from rules.expressions.paths import EVENT_FIELDS, LOOKED_UP
from rules.registry.field_kinds import EMITTED_SHAPES, OTHER_EVENT_FIELDS
from tests.rules.registry.samples import warned
from tests.rules.samples import a_leaf, a_rule


def test_a_type_among_several_that_lacks_a_needed_field_is_named() -> None:
    types, leaf = ["memory.created", "rule.changed"], a_leaf("==", "preference", field="payload.category")
    found = warned(a_rule(event_type=types, conditions={"all": [leaf]}, action_mode="shadow"))
    assert list(found) == ["/event_type/1"]
    assert "for this type the rule never fires" in found["/event_type/1"]
    either = {"any": [leaf, a_leaf("exists", field="payload.version")]}
    assert warned(a_rule(event_type=types, conditions=either, action_mode="shadow")) == {}


def test_every_shape_belongs_to_a_field_that_is_emitted() -> None:
    fields = {field for names in EMITTED.values() for field in names}
    assert set(EMITTED_SHAPES) <= fields | {"filled_in"}
    assert set(OTHER_EVENT_FIELDS) == {*EVENT_FIELDS, *LOOKED_UP}
