from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.expressions.facts import MISSING, Facts
from rules.expressions.paths import LOOKED_UP, PATTERN, BadPath, getter, parse_path
from tests.rules.samples import NOON, an_event

PAYLOAD = {"a": {"b": [10, {"c": None}]}, "null": None, "名前": "Ada", "list": [[1, 2]], "with space": 1}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("payload.a.b[0]", 10),
        ("payload.a.b[1].c", None),
        ("payload.a.b[2]", MISSING),
        ("payload.a.b.0", MISSING),
        ("payload.a[0]", MISSING),
        ("payload.a.x.y", MISSING),
        ("payload.null", None),
        ("payload.null.deeper", MISSING),
        ("payload.名前", "Ada"),
        ("payload.名前[0]", MISSING),
        ("payload.list[0][1]", 2),
        ("payload.with space", 1),
        ("payload", PAYLOAD),
        ("event_type", "message.added"),
        ("source", "support-bot"),
        ("time", NOON),
        ("item", MISSING),
    ],
)
def test_a_path_reads_what_is_there_and_nothing_else(path: str, value: Any) -> None:
    assert getter(parse_path(path))(Facts(an_event(PAYLOAD))) == value


def test_an_event_without_a_subject_is_missing_it() -> None:
    assert getter(parse_path("subject"))(Facts(an_event(subject=None))) is MISSING


def test_a_looked_up_name_is_asked_for_once_an_event() -> None:
    asked: list[str] = []
    facts = Facts(an_event(), lambda name: asked.append(name) or 7)  # type: ignore[func-returns-value]
    read = getter(parse_path("session.message_count"))
    assert (read(facts), read(facts)) == (7, 7)
    assert asked == ["session.message_count"]


def test_a_lookup_without_an_answer_is_missing_and_not_asked_again() -> None:
    asked: list[str] = []
    facts = Facts(an_event(), asked.append)
    read = getter(parse_path("user.memory_count"))
    assert (read(facts), read(facts)) == (MISSING, MISSING)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("path", "way_out"),
    [
        ("paylod.x", "`payload.x`"),
        ("message_count", "`payload.message_count` or `session.message_count`"),
        ("session.mesage_count", "`session.message_count`"),
        ("evnt_type", "`event_type`"),
        ("payload.", "`payload.key`"),
        ("payload[x]", "`payload.list[0]`"),
        ("payload.a[-1]", "`payload.list[0]`"),
        ("payload..a", "`payload.key`"),
        ("event_type.x", "Known are"),
        ("", "Known are"),
        ("payload." + "x" * 300, "300 are allowed"),
        ("payload" + "[0]" * 17, "16 are allowed"),
    ],
)
def test_a_bad_path_says_the_way_out(path: str, way_out: str) -> None:
    with pytest.raises(BadPath, match=re.escape(way_out)):
        parse_path(path)


@given(st.one_of(st.text(), st.sampled_from(["payload", "item", "time", *LOOKED_UP]), st.from_regex(PATTERN)))
def test_the_pattern_of_the_schema_and_the_parser_agree(text: str) -> None:
    fits = re.fullmatch(PATTERN.strip("^$"), text) is not None and len(text) <= 300
    assert is_path(text) is fits


def is_path(text: str) -> bool:
    try:
        parse_path(text)
    except BadPath as error:
        return "16 are allowed" in str(error)
    return True
