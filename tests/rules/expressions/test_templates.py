from __future__ import annotations

from typing import Any

import pytest

from core.errors import Invalid
from rules.expressions.templates import fault, render
from tests.rules.samples import an_event

LIMIT = 1_000
EVENT = an_event(
    {"user_id": "ada", "n": 3, "flag": True, "tags": ["a"], "null": None, "evil": "{{payload.n}}", "名": "李"}
)


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        ("{{payload.user_id}}", "ada"),
        ("{{ payload.n }}", 3),
        ("{{payload.flag}}", True),
        ("{{payload.tags}}", ["a"]),
        ("{{payload.tags[0]}}", "a"),
        ("{{payload.missing}}", None),
        ("{{payload.null}}", None),
        ("{{time}}", "2026-11-21T12:00:00+00:00"),
        ("{{event_type}} by {{source}}", "message.added by support-bot"),
        ("n={{payload.n}} {{payload.flag}} {{payload.tags}}", 'n=3 true ["a"]'),
        ("[{{payload.missing}}|{{payload.null}}]", "[|]"),
        ("{{payload.名}}!", "李!"),
        ("plain {text}", "plain {text}"),
        (7, 7),
    ],
)
def test_a_template_is_replaced_by_the_field(value: Any, rendered: Any) -> None:
    assert render(value, EVENT, LIMIT) == rendered


def test_templates_are_replaced_at_any_depth_and_keys_stay() -> None:
    given = {"{{payload.n}}": [{"deep": "{{payload.n}}"}]}
    assert render(given, EVENT, LIMIT) == {"{{payload.n}}": [{"deep": 3}]}
    assert given == {"{{payload.n}}": [{"deep": "{{payload.n}}"}]}


def test_what_was_put_in_is_not_looked_at_again() -> None:
    assert render("{{payload.evil}}", EVENT, LIMIT) == "{{payload.n}}"
    assert render("say {{payload.evil}}", EVENT, LIMIT) == "say {{payload.n}}"


@pytest.mark.parametrize(
    ("value", "pointer", "detail"),
    [
        ("{{payloa.x}}", "", "did you mean `payload.x`"),
        ({"a": ["fine", "{{payload.x"]}, "/a/1", "two braces"),
        ("x}}", "", "two braces"),
        ("{{}}", "", "Known are"),
        ("{{session.message_count}}", "", "not a field of the event"),
        ("{{item.x}}", "", "not a field of the event"),
        ("{{1 + 1}}", "", "unknown field"),
    ],
)
def test_a_template_that_cannot_be_filled_in_is_a_fault(value: Any, pointer: str, detail: str) -> None:
    found = fault(value)
    assert found is not None
    assert found.pointer == pointer
    assert detail in found.detail


def test_values_without_faults_have_none() -> None:
    assert fault({"a": ["{{payload.x}}", 1, None, "text"]}) is None


def test_what_grows_too_large_is_refused_before_it_is_built() -> None:
    event = an_event({"text": "x" * 600, "list": ["x" * 600]})
    assert render("{{payload.text}}", event, LIMIT) == "x" * 600
    for given in (
        "{{payload.text}} " * 2,
        ["{{payload.text}}"] * 2,
        {"a": "{{payload.list}}", "b": "{{payload.list}}"},
    ):
        with pytest.raises(Invalid, match="1,000 are allowed"):
            render(given, event, LIMIT)
