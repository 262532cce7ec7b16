from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context.adaptive_depth import FEWEST, MOST, READ, depth


@pytest.mark.parametrize(
    "query",
    ["Where does Ada live?", "What is Ada's email?", "When was Bob born?", "Ada住在哪里？", "小明几岁？", "", "hi"],
)
def test_a_plain_question_gets_the_fewest(query):
    assert depth(query).k == FEWEST
    assert depth(query).reasons == ("asks for one thing",)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("List the books that Ada has read.", "asks for all there is"),
        ("小明有哪些爱好？", "asks for all there is"),
        ("How many dogs does Ada own?", "counts or adds up"),
        ("小明去过几次巴黎？", "counts or adds up"),
        ("Is Ada taller than Bob?", "compares"),
        ("小明更喜欢茶还是咖啡？", "compares"),
        ("Where has Ada lived since 2019?", "asks what changed over time"),
        ("小明去年以来住在哪里？", "asks what changed over time"),
        ("Why did Ada leave?", "asks for reasons or a judgement"),
        ("小明为什么搬家？", "asks for reasons or a judgement"),
        ("Where does the sister of Ada work?", "goes from one thing to another"),
        ("小明的朋友的妹妹的工作是什么？", "goes from one thing to another"),
        ("Where does Ada live? Where does she work?", "asks 2 things"),
        ("小明住在哪里？他做什么？", "asks 2 things"),
    ],
)
def test_what_asks_for_more_gets_more_and_says_why(query, reason):
    found = depth(query)
    assert found.k > FEWEST
    assert any(said.startswith(reason) for said in found.reasons)


@given(st.text() | st.lists(st.sampled_from("why all 所有 和 and Ada compare ? 几次 since".split())).map(" ".join))
def test_it_stays_within_its_bounds_and_adds_up(query):
    found = depth(query)
    assert FEWEST <= found.k <= MOST
    added = sum(int(reason.rpartition("(+")[2].rstrip(")")) for reason in found.reasons if "(+" in reason)
    assert found.k == min(MOST, FEWEST + added)
    assert found == depth(query)


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_further_question_never_takes_depth_away(query, more):
    assert depth(f"{query} {more}").k >= depth(query).k


def test_the_most_that_can_be_asked_gets_the_most():
    query = "Compare how many books Ada and Bob have read every year since 2019, and why? List all of them."
    assert depth(query).k == MOST


def test_of_a_long_query_the_beginning_is_read():
    story = "Who lives in Lisbon? " + "and " * READ
    assert depth(story + "why? " * 100) == depth(story)
