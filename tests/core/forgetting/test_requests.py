from __future__ import annotations

import json
from pathlib import Path

import pytest
import re2

from bench import forget
from core.forgetting.extent import ForgetScope
from tests.core.forgetting.labelled import request_of
from tests.misread import ERRS

SCENARIOS = [one for name in ("dev", "dev2") for one in forget.scenarios(name)]
SCOPES = {
    "fact": {"fact"},
    "last": {"last"},
    "said": {"last", "fact"},
    "topic": {"all_about", "fact"},
    "person": {"all_about", "fact"},
    "everything": {"everything"},
    "all": {"everything"},
}


UNREAD = {"zh-102"}
"""Requests that the reader does not recognise."""

OTHERS = [pytest.param(scenario, id=scenario["id"]) for scenario in SCENARIOS if not scenario["is_request"]]

REQUESTS = [
    pytest.param(
        scenario,
        id=scenario["id"],
        marks=[ERRS] if scenario["id"] in UNREAD else [],
    )
    for scenario in SCENARIOS
    if scenario["is_request"]
]


@pytest.mark.parametrize("scenario", REQUESTS)
def test_a_request_is_recognised_with_its_scope(scenario: forget.Json) -> None:
    found = request_of(scenario["last"]["text"])
    assert found is not None
    assert found.scope in SCOPES[scenario["scope"]]


@pytest.mark.parametrize("scenario", OTHERS)
def test_other_talk_of_deleting_is_none(scenario: forget.Json) -> None:
    assert request_of(scenario["last"]["text"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget the milk.",
        "Forget it.",
        "Please delete the last paragraph.",
        "He told me to delete my number.",
        "别忘了带伞。",
        "我把钱包弄丢了。",
        "",
    ],
)
def test_idioms_reports_and_commands_about_other_things_are_none(text: str) -> None:
    assert request_of(text) is None


def test_a_list_of_things_that_stay_is_read() -> None:
    found = request_of("Please scrap DK-20918 from memory but leave the return one.")
    assert found is not None
    assert list(found.kept) == ["leave the return one."]


def test_traditional_characters_are_read_like_simplified_ones() -> None:
    found = request_of("請忘掉我說過的那個地址。")
    assert found is not None
    assert found.scope is ForgetScope.FACT


def test_the_default_rule_lets_every_request_through(root: Path) -> None:
    matches = _patterns(json.loads((root / "rules/defaults/find_forget_requests.json").read_text(encoding="utf-8")))
    assert len(matches) == 4
    for one in SCENARIOS:
        if one["is_request"]:
            verbs, _, negation, keeping = (re2.search(pattern, one["last"]["text"]) for pattern in matches)
            assert verbs or (negation and keeping), one["id"]


def _patterns(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["value"]] if value.get("op") == "matches" else []
        return [*own, *(found for one in value.values() for found in _patterns(one))]
    return [found for one in value for found in _patterns(one)] if isinstance(value, list) else []
