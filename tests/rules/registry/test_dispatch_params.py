"""Parameters that a person edits: what was masked comes back, and only what a rule could have is taken."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Invalid
from core.settings.secret_names import MASK
from core.tenancy.destinations import Outlets
from core.types import Json
from rules.registry import dispatch_params
from rules.registry.limits import Allowed

ALLOWED = Allowed(Outlets(hosts=["hooks.example.com"], channels=["ops"], queues=["billing"], secrets=["crm"]))
NOTICE: Json = {"channel": "log", "template": "Total: 12"}
HOOK: Json = {"url": "https://hooks.example.com/x"}


def found(action_type: str, params: Json, stored: Json | None = None, target: str = "x", **more: int) -> list[Any]:
    try:
        dispatch_params.check(action_type, target, stored or {}, params, ALLOWED, more.get("characters", 10_000))
    except Invalid as error:
        return [(problem.pointer, problem.detail) for problem in error.problems]
    return []


def test_what_was_left_as_it_was_shown_is_as_it_was_stored() -> None:
    stored = {"template": "My card is 4111.", "headers": {"a/b": "key"}, "to": ["me@example.com", "you"], "n": 1}
    shown = {"template": "My card is [redacted].", "headers": {"a/b": MASK}, "to": [MASK, "you"], "n": 1}
    edited = {**shown, "to": [MASK, "them", "and more"], "n": 2, "new": MASK}
    assert dispatch_params.restore(stored, shown, shown) == stored
    assert dispatch_params.restore(stored, shown, edited) == {
        **stored,
        "to": ["me@example.com", "them", "and more"],
        "n": 2,
        "new": MASK,
    }


def test_what_was_taken_out_stays_out() -> None:
    stored, shown = {"a": {"b": "key", "c": 1}}, {"a": {"b": MASK, "c": 1}}
    assert dispatch_params.restore(stored, shown, {"a": {"b": MASK}}) == {"a": {"b": "key"}}
    assert dispatch_params.restore(stored, shown, {}) == {}


def test_a_value_of_another_kind_is_taken_as_it_is() -> None:
    stored, shown = {"a": {"b": "key"}, "l": ["key"]}, {"a": {"b": MASK}, "l": [MASK]}
    assert dispatch_params.restore(stored, shown, {"a": 5, "l": {"x": 1}}) == {"a": 5, "l": {"x": 1}}


@pytest.mark.parametrize(
    ("edited", "pointer"),
    [
        ({"t": f"{MASK} and more", "h": {"a/b": MASK}, "l": [MASK]}, "/params/t"),
        ({"t": MASK, "h": {"a/b": "Bearer [redacted: key]"}, "l": [MASK]}, "/params/h/a~1b"),
        ({"t": MASK, "h": {"a/b": MASK}, "l": [f"x {MASK}"]}, "/params/l/0"),
    ],
)
def test_a_masked_value_that_was_edited_in_part_is_refused_with_its_place(edited: Json, pointer: str) -> None:
    stored, shown = {"t": "one", "h": {"a/b": "two"}, "l": ["three"]}, {"t": MASK, "h": {"a/b": MASK}, "l": [MASK]}
    with pytest.raises(Invalid) as error:
        dispatch_params.restore(stored, shown, edited)
    assert [problem.pointer for problem in error.value.problems] == [pointer]
    assert "masked" in error.value.problems[0].detail


@pytest.mark.parametrize(
    ("edited", "pointers"),
    [
        ([MASK, "plain"], ["/params/l/0"]),
        (["new", MASK, MASK, "plain"], ["/params/l/1", "/params/l/2"]),
        ([{"key": f"x {MASK}"}], ["/params/l/0"]),
    ],
)
def test_of_a_list_that_became_longer_or_shorter_masked_items_that_look_the_same_are_refused(
    edited: list[Any], pointers: list[str]
) -> None:
    with pytest.raises(Invalid) as error:
        dispatch_params.restore({"l": ["one", "two", "plain"]}, {"l": [MASK, MASK, "plain"]}, {"l": edited})
    assert [problem.pointer for problem in error.value.problems] == pointers


@pytest.mark.parametrize(
    ("edited", "whole"),
    [
        ([MASK, f"{MASK} at work", "other"], ["one", "two", "other"]),
        ([f"{MASK} at work"], ["two"]),
        (["new", MASK, f"{MASK} at work", "plain"], ["new", "one", "two", "plain"]),
        (["plain"], ["plain"]),
        ([], []),
    ],
)
def test_items_of_a_list_come_back_where_it_is_known_which_they_were(edited: list[Any], whole: list[Any]) -> None:
    stored, shown = {"l": ["one", "two", "plain"]}, {"l": [MASK, f"{MASK} at work", "plain"]}
    assert dispatch_params.restore(stored, shown, {"l": edited}) == {"l": whole}


def test_text_with_a_mark_that_was_there_before_is_taken() -> None:
    stored = {"template": "[redacted] by hand"}
    assert dispatch_params.restore(stored, stored, {"template": "[redacted] by me"}) == {"template": "[redacted] by me"}


@pytest.mark.parametrize(
    ("action_type", "params"),
    [
        ("notify", NOTICE),
        ("notify", {**NOTICE, "channel": "ops", "subject": "Stock"}),
        ("emit", {"event_type": "order.checked", "payload": {"n": [1, {"a": None}]}}),
        ("webhook", HOOK),
        ("webhook", {**HOOK, "headers": {"x-user": "ada"}, "secrets": {"Authorization": "crm"}, "payload": {"a": 1}}),
        ("celery", {"task": "billing.recount", "queue": "billing", "kwargs": {"n": 1}}),
        ("run_agent", {"depth": 3}),
    ],
)
def test_what_an_action_of_a_rule_may_have_is_taken(action_type: str, params: Json) -> None:
    assert found(action_type, params, target="memory_extractor" if action_type == "run_agent" else "x") == []


@pytest.mark.parametrize(
    ("action_type", "params", "pointer", "words"),
    [
        ("notify", {**NOTICE, "channel": "none"}, "/params/channel", "no rule of this tenant"),
        ("notify", {"channel": "log"}, "/params/template", "required"),
        ("notify", {**NOTICE, "colour": "red"}, "/params/colour", "unknown field"),
        ("emit", {"event_type": "memory.created", "payload": {}}, "/params/event_type", ""),
        ("webhook", {"url": "https://elsewhere.example.com"}, "/params/url", "elsewhere.example.com"),
        ("webhook", {**HOOK, "secrets": {"a/b": "none"}}, "/params/secrets/a~1b", "no secret `none`"),
        (
            "webhook",
            {**HOOK, "headers": {"Authorization": "Bearer abc"}},
            "/params/headers/Authorization",
            "credential",
        ),
        ("webhook", {**HOOK, "secrets": ["crm"]}, "/params/secrets", ""),
        ("webhook", {**HOOK, "headers": "x"}, "/params/headers", ""),
        ("celery", {"task": "x.y", "queue": "none", "kwargs": {}}, "/params/queue", "no rule of this tenant"),
    ],
)
def test_what_no_rule_could_have_is_refused_with_its_place(
    action_type: str, params: Json, pointer: str, words: str
) -> None:
    [(place, detail)] = found(action_type, params)
    assert place == pointer
    assert words in detail


def test_an_agent_that_only_the_dispatch_names_is_accepted_as_its_target() -> None:
    assert found("run_agent", {"n": 1}, target="an_agent_of_a_package") == []


def test_braces_are_text_because_templates_were_rendered_before() -> None:
    assert found("notify", {**NOTICE, "template": "They wrote {{ and {{payload.x"}) == []


def test_gathered_events_stay_as_flow_control_has_gathered_them() -> None:
    stored = {**NOTICE, "gathered": ["e1", "e2"]}
    assert found("notify", stored, stored) == []
    for edited in ({**NOTICE, "gathered": ["e1"]}, NOTICE):
        assert [place for place, _ in found("notify", edited, stored)] == ["/params/gathered"]


def test_parameters_that_are_too_long_are_refused_with_both_numbers() -> None:
    [(place, detail)] = found("notify", {**NOTICE, "template": "x" * 200}, characters=100)
    assert place == "/params"
    assert "234 characters as JSON, 100 are allowed" in detail


def test_a_text_that_the_database_cannot_hold_is_refused() -> None:
    [(place, detail)] = found("run_agent", {"words": ["a\x00b"]}, target="memory_extractor")
    assert (place, "NUL" in detail) == ("/params/words/0", True)


def test_nesting_is_bounded() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    assert [place for place, _ in found("run_agent", {"deep": deep}, target="memory_extractor")]


@pytest.mark.parametrize(
    ("action_type", "required"),
    [
        ("notify", {"channel", "template"}),
        ("emit", {"event_type"}),
        ("webhook", {"url"}),
        ("celery", {"task", "queue", "kwargs"}),
    ],
)
def test_the_schema_describes_the_parameters_without_the_type_of_the_action(
    action_type: str, required: set[str]
) -> None:
    schema = dispatch_params.schema(action_type)
    assert set(schema["required"]) == required
    assert "action_type" not in schema["properties"]


def test_the_schema_of_a_webhook_has_secrets_apart_from_headers() -> None:
    properties = dispatch_params.schema("webhook")["properties"]
    assert properties["secrets"]["additionalProperties"] == properties["headers"]["additionalProperties"]


def test_parameters_of_an_agent_are_any_object() -> None:
    assert dispatch_params.schema("run_agent") == {"type": "object", "description": "Parameters of the agent"}
