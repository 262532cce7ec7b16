from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Never
from core.reflection import skills
from core.reflection.skills import Attempt
from core.types import Event, Evidence, Json
from tests.samples import TENANT

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def tried(hours: float = 0, *, worked: bool = True, **fields: Any) -> Attempt:
    cited = [Evidence("", f"e{hours}", f"e{hours}", "done")]
    return Attempt("ada", "deploy the site", worked, NOON + timedelta(hours=hours), cited, **fields)


def known(*attempts: Attempt) -> Json:
    record: Json = {}
    for one in attempts:
        record = skills.add_attempt(record, one)
    return record


def event(payload: Json, event_type: str = "skill.succeeded") -> Event:
    return Event(1, TENANT, "e1", "test", event_type, None, NOON, {"user_id": "ada", "skill": "deploy", **payload})


def test_a_skill_reads_as_what_to_do_and_how_often_it_worked() -> None:
    ways = [tried(n, steps=["Run tests.", "Build", "Push"], tools=["make"]) for n in range(3)]
    record = known(*ways, tried(3, worked=False, error="Disk full."))
    assert skills.statement_of(record) == (
        "To deploy the site: 1. Run tests. 2. Build. 3. Push. Tools: make. (worked 3 of 4 times) "
        "Last failure: Disk full."
    )


def test_a_skill_in_chinese_reads_in_chinese() -> None:
    one = Attempt("ada", "部署网站", True, NOON, [], steps=["运行测试", "发布"], tools=["make"])
    assert skills.statement_of(known(one)) == "技能「部署网站」：1. 运行测试. 2. 发布.工具：make。（1次中成功1次）"


def test_the_steps_of_the_latest_success_stand_whichever_came_first() -> None:
    old, new = tried(0, steps=["ftp"]), tried(5, steps=["git push"])
    assert known(old, new)["steps"] == known(new, old)["steps"] == ["git push"]


def test_a_success_that_names_no_steps_leaves_those_that_worked() -> None:
    assert known(tried(0, steps=["build"], tools=["make"]), tried(1))["steps"] == ["build"]


def test_what_failed_is_told_and_does_not_become_the_way_to_do_it() -> None:
    record = known(tried(0, steps=["build"]), tried(1, worked=False, error="No space", steps=["skip tests"]))
    assert record["steps"] == ["build"]
    assert record["failures"] == [{"at": "2026-11-21T13:00:00Z", "error": "No space", "steps": ["skip tests"]}]
    assert record["last_failure"] == "2026-11-21T13:00:00Z"


def test_successes_raise_and_failures_lower_how_sure_it_is() -> None:
    once, twice = known(tried(0)), known(tried(0), tried(1))
    failed = known(tried(0), tried(1), tried(2, worked=False))
    assert skills.confidence(failed) < skills.confidence(once) < skills.confidence(twice)


def test_the_time_it_takes_is_the_median_of_the_last_ones() -> None:
    record = known(*(tried(n, seconds=float(n)) for n in range(30)))
    assert record["median_seconds"] == pytest.approx(19.5)
    assert len(record["seconds"]) == skills.RECENT


@given(st.lists(st.booleans(), max_size=12), st.randoms())
def test_the_order_in_which_reports_arrive_does_not_matter(outcomes: list[bool], random: Any) -> None:
    attempts = [tried(n, worked=ok, steps=[f"step {n}"], error=f"error {n}") for n, ok in enumerate(outcomes)]
    shuffled = random.sample(attempts, len(attempts))
    assert known(*attempts) == known(*shuffled)
    if attempts:
        assert 0 < skills.confidence(known(*attempts)) < 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(list(known(tried()))), json_values))
def test_a_record_that_people_have_edited_is_no_obstacle(edited: Json) -> None:
    assert skills.add_attempt(edited, tried())["succeeded"] >= 1 or isinstance(edited.get("succeeded"), int)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Deploy  the site", "deploy the-site", True),
        ("ｄｅｐｌｏｙ", "DEPLOY", True),
        ("compile C++", "compile C#", False),
        ("deploy", "redeploy", False),
        ("部署", "部署网站", False),
        ("???", "!!!", False),
    ],
)
def test_what_a_skill_is_called_does_not_depend_on_how_it_is_written(one: str, other: str, same: bool) -> None:
    assert (skills.slot(one) == skills.slot(other)) is same


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"steps": "build"}, "/payload/steps"),
        ({"steps": ["build", 7]}, "/payload/steps/1"),
        ({"tools": [{"nameless": 1}]}, "/payload/tools/0"),
        ({"duration_seconds": -1}, "/payload/duration_seconds"),
        ({"duration_seconds": "3"}, "/payload/duration_seconds"),
        ({"success": "yes"}, "/payload/success"),
        ({"steps": ["x"] * 51}, "/payload/steps"),
    ],
)
def test_a_payload_of_another_shape_is_refused_with_its_place(payload: Json, pointer: str) -> None:
    with pytest.raises(Never, match=pointer):
        skills.report(event(payload))


def test_steps_and_tools_may_be_objects_with_a_name() -> None:
    said = skills.report(event({"steps": [{"name": "build"}, {"text": "push"}], "tools": [{"tool": "make"}]}))
    assert (said.steps, said.tools) == (["build", "push"], ["make"])


def test_tool_calls_are_read_in_the_shapes_that_are_about() -> None:
    calls = [{"name": "a"}, {"tool": "b"}, {"type": "function", "function": {"name": "c"}}, {"x": 1}, 7, {"name": 3}]
    assert list(skills._tools(calls)) == ["a", "b", "c"]
    assert list(skills._tools({"name": "a"})) == []


SEED = [{"step": 2, "tool": "read_url"}, {"step": 1, "tool": "web_search"}, {"step": 3, "tool": "summarize"}]


@pytest.mark.parametrize(
    ("workflow", "tools"),
    [
        (SEED, ["web_search", "read_url", "summarize"]),
        (["web_search", "read_url", "summarize"], []),
        ([{"step": "web_search"}, {"action": "read_url"}, {"name": "summarize"}], []),
        ("web_search → read_url → summarize", []),
        ("web_search -> read_url -> summarize", []),
        ("1. web_search\n2. read_url\n\n3) summarize\n", []),
        ("- web_search\n- read_url\n* summarize", []),
        ("web_search；read_url；summarize", []),
    ],
)
def test_a_workflow_is_its_steps_in_their_order(workflow: Any, tools: list[str]) -> None:
    said = skills.report(event({"workflow": workflow}))
    assert said.way == ["web_search", "read_url", "summarize"]
    assert said.tools == tools


def test_steps_come_before_a_workflow_and_one_sentence_is_one_step() -> None:
    assert skills.report(event({"steps": ["Build"], "workflow": "Push"})).way == ["Build"]
    assert skills.report(event({"workflow": "Ask the librarian."})).way == ["Ask the librarian."]
    assert skills.report(event({"workflow": []})).way == []


@pytest.mark.parametrize("workflow", [3, [{"colour": "red"}], "a;" * 60, [{"tool": 3}], {"tool": "x"}])
def test_a_workflow_of_another_shape_is_refused_with_its_place(workflow: Any) -> None:
    with pytest.raises(Never, match="/payload/workflow"):
        skills.report(event({"workflow": workflow}))
