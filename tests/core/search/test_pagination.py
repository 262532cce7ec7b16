from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.events.parsing import YEARS
from core.search import pagination
from core.search.pagination import LONGEST, SEAL_BYTES, Cursor, RankPlace
from core.types import Json

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
QUESTION: Json = {"tenant": "acme", "query": "tea", "kinds": ["semantic"]}
CURSOR = Cursor(RankPlace("message", "s1\x1fm1", 1.25), NOW)


@dataclass(frozen=True)
class A:
    """Something of a type, under a key."""

    type: str
    key: str


@dataclass(frozen=True)
class One:
    """A result as it stands in a ranking."""

    hit: A
    score: float
    session: str | None = None


def ranking(*scores: float) -> list[One]:
    return [One(A("message", f"m{at}"), score) for at, score in enumerate(scores)]


finite = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(datetime(YEARS[0], 1, 2), datetime(YEARS[-1], 12, 30), timezones=st.just(UTC))  # noqa: DTZ001
types = st.sampled_from(["memory", "message", "document"])
cursors = st.builds(Cursor, st.builds(RankPlace, types, st.text(max_size=500), finite), moments)


@given(cursors)
def test_a_cursor_comes_back_as_it_was_written(cursor: Cursor) -> None:
    said = pagination.encode(cursor, QUESTION)
    assert pagination.decode(said, QUESTION) == cursor
    assert said.isascii()
    assert said.replace("-", "").replace("_", "").isalnum()


def test_the_longest_ids_there_are_fit_into_a_cursor() -> None:
    key = f"{'𠀀' * 255}\x1f{'𠀀' * 255}"
    assert len(pagination.encode(Cursor(RankPlace("message", key, -0.1234567890123456), NOW), QUESTION)) <= LONGEST


def test_a_moment_is_the_same_wherever_it_was_written() -> None:
    tokyo = Cursor(CURSOR.position, NOW.astimezone(timezone(timedelta(hours=9))))
    assert pagination.encode(tokyo, QUESTION) == pagination.encode(CURSOR, QUESTION)


@pytest.mark.parametrize(
    "other",
    [
        {**QUESTION, "tenant": "globex"},
        {**QUESTION, "query": "Tea"},
        {**QUESTION, "kinds": []},
        {**QUESTION, "tags": ["x"]},
        {"tenant": "acme", "query": "tea"},
    ],
)
def test_a_cursor_of_another_question_is_refused_in_words(other: Json) -> None:
    with pytest.raises(Invalid) as refused:
        pagination.decode(pagination.encode(CURSOR, QUESTION), other)
    (problem,) = refused.value.problems
    assert problem.pointer == "/after"
    assert "another question" in problem.detail


@given(st.data())
def test_a_cursor_that_was_touched_anywhere_is_refused(data: st.DataObject) -> None:
    raw = bytearray(base64.urlsafe_b64decode(pagination.encode(CURSOR, QUESTION) + "=="))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Invalid):
        pagination.decode(base64.urlsafe_b64encode(raw).decode().rstrip("="), QUESTION)


def sealed(held: str) -> str:
    """What someone writes who knows how cursors are made."""
    return base64.urlsafe_b64encode(pagination._seal(held, QUESTION) + held.encode()).decode().rstrip("=")


NAIVE = NOW.replace(tzinfo=None).isoformat()

STRANGE = [
    *("", "x", "=", "nonsense!", "ü", "\ud800", "A" * LONGEST, "-" * 16, base64.b64encode(b"\xff" * 40).decode()),
    *(sealed(held) for held in ("", "[]", "null", "1", '"abcd"', "[" * 3000, "[1,2,3]", "[1,2,3,4]", "{}")),
    *(
        sealed(json.dumps(["message", "k", score, NOW.isoformat()]))
        for score in ("x", None, 10**400, [1], float("nan"))
    ),
    *(sealed(f'["message","k",{score},"{NOW.isoformat()}"]') for score in ("NaN", "Infinity", "-1e999")),
    *(sealed(json.dumps(["message", "k", 1.0, when])) for when in ("yesterday", None, 5, "0001-01-01T00:00:00+23:00")),
]


@pytest.mark.parametrize("said", STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_cursor_is_refused_and_never_a_crash(said: str) -> None:
    with pytest.raises(Invalid) as refused:
        pagination.decode(said, QUESTION)
    assert [problem.pointer for problem in refused.value.problems] == ["/after"]


def test_a_moment_without_a_zone_is_one_all_the_same() -> None:
    read = pagination.decode(sealed(json.dumps(["message", "k", 1.0, NAIVE])), QUESTION)
    assert read.now.tzinfo is not None


scores = st.lists(st.sampled_from([3.0, 2.0, 2.0, 1.0, 0.0, -1.0]), max_size=30)


@given(scores, st.lists(st.integers(1, 7), min_size=30, max_size=30))
def test_page_by_page_everything_comes_once_and_in_order_whatever_the_sizes_of_pages(
    values: list[float], sizes: list[int]
) -> None:
    ranked = ranking(*values)
    seen: list[One] = []
    place: RankPlace | None = None
    for size in sizes:
        page = ranked[pagination.page_start(ranked, place) :][:size]
        seen += page
        if not page:
            break
        place = pagination.place_of(page[-1])
    assert seen == ranked


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.data())
def test_a_ranking_by_more_than_scores_goes_on_behind_the_result_itself(
    values: list[float], data: st.DataObject
) -> None:
    ranked = ranking(*values)
    at = data.draw(st.integers(0, len(ranked) - 1))
    assert pagination.page_start(ranked, pagination.place_of(ranked[at])) == at + 1


def test_where_the_last_result_is_gone_the_next_lesser_one_begins() -> None:
    ranked = ranking(3.0, 2.0, 2.0, 1.0)
    assert pagination.page_start(ranked, RankPlace("message", "gone", 2.5)) == 1
    assert pagination.page_start(ranked, RankPlace("message", "gone", 2.0)) == 3
    assert pagination.page_start(ranked, RankPlace("memory", "m1", 3.0)) == 1, (
        "the same key of another type is another thing"
    )
    assert pagination.page_start(ranked, RankPlace("message", "gone", 0.5)) == 4
    assert pagination.page_start([], RankPlace("message", "gone", 0.5)) == 0


sessions = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=40)


@given(sessions, st.integers(1, 5))
def test_no_session_comes_too_often_and_nothing_else_is_left_out(spoken: list[str | None], most: int) -> None:
    ranked = [One(A("message", str(at)), -at, session) for at, session in enumerate(spoken)]
    kept = pagination.cap_per_key(ranked, lambda one: one.session, most)
    assert [one for one in ranked if one in kept] == kept
    for session in ("a", "b", "c"):
        of_it = [one for one in ranked if one.session == session]
        assert [one for one in kept if one.session == session] == of_it[:most]
    assert [one for one in kept if one.session is None] == [one for one in ranked if one.session is None]


def test_a_seal_is_short_and_of_the_question_and_what_it_holds() -> None:
    one, other = pagination._seal("x", QUESTION), pagination._seal("x", dict(reversed(QUESTION.items())))
    assert len(one) == SEAL_BYTES
    assert one == other
    assert len({one, pagination._seal("y", QUESTION), pagination._seal("x", {})}) == 3
