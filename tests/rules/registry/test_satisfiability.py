from __future__ import annotations

from typing import Any

import pytest

from core.types import Json
from tests.rules.registry.samples import warned
from tests.rules.samples import a_leaf, a_rule


@pytest.mark.parametrize(
    ("types", "leaf", "said"),
    [
        ("message.added", a_leaf(">", "0.7", field="payload.importance"), "did you mean 0.7, without quotes?"),
        ("message.added", a_leaf(">", 1, field="payload.importance"), "lies between 0 and 1"),
        ("message.added", a_leaf("between", [2, 3], field="payload.importance"), "lies between 0 and 1"),
        ("message.added", a_leaf("==", True, field="payload.importance"), "is a number"),
        ("message.added", a_leaf("==", "human", field="payload.role"), "one of user, assistant, system, tool"),
        ("message.added", a_leaf("in", ["User", "bot"], field="payload.role"), "did you mean `user`?"),
        ("message.added", a_leaf("starts_with", "U", field="payload.role"), "never holds"),
        ("message.added", a_leaf("==", "vip", field="payload.tags"), "did you mean `contains`?"),
        ("message.added", a_leaf(">", 3, field="payload.content"), "is a text"),
        ("message.added", a_leaf("any_of", a_leaf("exists", field="item"), field="payload.content"), "items of a list"),
        ("memory.created", a_leaf("==", "preferences", field="payload.category"), "did you mean `preference`?"),
        ("memory.created", a_leaf("contains", "x", field="payload.importance"), "is a number"),
        (["session.ended", "session.summarized"], a_leaf(">", "3", field="payload.message_count"), "is a number"),
        ("*", a_leaf(">=", "3", field="session.message_count"), "did you mean 3, without quotes?"),
        ("*", a_leaf(">", 2, field="memory.importance"), "lies between 0 and 1"),
        ("*", a_leaf("==", 5, field="event_type"), "is a text"),
        ("*", a_leaf(">", "yesterday", field="time"), "is a time"),
    ],
)
def test_a_comparison_that_never_holds_is_named_with_its_reason(types: Any, leaf: Json, said: str) -> None:
    found = warned(a_rule(event_type=types, conditions={"any": [leaf]}, action_mode="shadow"))
    assert list(found) == ["/conditions/any/0/value"]
    assert said in found["/conditions/any/0/value"]


@pytest.mark.parametrize(
    ("types", "leaf"),
    [
        ("message.added", a_leaf(">", 0.7, field="payload.importance")),
        ("message.added", a_leaf(">=", 1, field="payload.importance")),
        ("message.added", a_leaf("<", 0.0001, field="payload.importance")),
        ("message.added", a_leaf("between", [0.9, 2], field="payload.importance")),
        ("message.added", a_leaf("==", None, field="payload.importance")),
        ("message.added", a_leaf("!=", "user", field="payload.role")),
        ("message.added", a_leaf("not_in", ["user", "bot"], field="payload.role")),
        ("message.added", a_leaf("matches", "^(user|tool)$", field="payload.role")),
        ("message.added", a_leaf("==", {"field": "payload.content"}, field="payload.importance")),
        ("message.added", a_leaf("contains", "vip", field="payload.tags")),
        ("message.added", a_leaf("older_than", "1d", field="payload.content")),
        ("message.added", a_leaf("==", "x", field="payload.metadata.deep")),
        ("plan.updated", a_leaf("==", "x", field="payload.plan")),
        ("plan.updated", a_leaf("length_>", 3, field="payload.plan")),
        ("session.ended", a_leaf("==", "idle", field="payload.reason")),
        (["message.added", "order.placed"], a_leaf("==", "human", field="payload.role")),
        ("*", a_leaf("newer_than", "1h", field="time")),
        ("*", a_leaf("==", "2026-11-21T10:00:00Z", field="time")),
    ],
)
def test_a_comparison_that_may_hold_is_left_in_peace(types: Any, leaf: Json) -> None:
    assert warned(a_rule(event_type=types, conditions=leaf, action_mode="shadow")) == {}
