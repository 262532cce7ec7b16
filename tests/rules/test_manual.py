"""The manual of the rules: what stands in docs/rules.md is parsed, checked, and put to the test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.tenancy.destinations import Outlets
from core.types import Event, Json
from rules.document import condition_tree, fields, schema
from rules.document.schema import Flow, Leaf, Rule, Schedule
from rules.document.timing import cron_fault
from rules.engine import conditions
from rules.engine.conditions import compile_conditions
from rules.engine.ruleset import Ruleset, flow_key, is_sampled
from rules.expressions import operators, paths
from rules.expressions.facts import Facts
from rules.expressions.operators import OPERATORS
from rules.flow import schedules, stages
from rules.flow.stages import STAGES, Burst, StageResult, StageState
from rules.registry import store
from rules.registry.limits import Allowed
from tests.rules.samples import NOON, an_event
from tests.samples import TENANT, accept, event
from tests.works import Works
from workers.dispatch import ledger
from workers.routing import router

MANUAL: Final = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
ALLOWED: Final = Allowed(Outlets(["crm.example.com"], ["care"], ["crm"], ["crm-token"]))


def blocks(kind: str) -> list[str]:
    """The code blocks of one kind, in order."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", MANUAL, re.DOTALL | re.MULTILINE)


JSON: Final[list[Json]] = [json.loads(block) for block in blocks("json")]
RULES: Final = {str(one["name"]): one for one in JSON if "actions" in one}


def rule(name: str) -> Rule:
    return store.check(RULES[name], ALLOWED)


def test_every_block_of_json_is_a_rule_of_its_own_name_or_an_event() -> None:
    assert len(RULES) == sum("name" in one for one in JSON)
    assert all("actions" in one or "payload" in one for one in JSON)
    assert len(RULES) > 15


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_the_manual_may_be_put_in_force(name: str) -> None:
    assert rule(name).name == name


class Try(NamedTuple):
    """An event that meets a rule, one that does not, and what looking up and comparing answer."""

    meets: Json
    misses: Json
    knows: Json = {}  # noqa: RUF012 - nobody writes into it
    near: float = 0.0


def said(content: str = "I moved.", role: str = "user", **more: Any) -> Json:
    return {"content": content, "role": role, "session_id": "s1", "user_id": "ada", **more}


def counted(name: str, **numbers: float) -> Json:
    return {"payload": {"rule": name, "counts": numbers}}


MESSAGE: Final = "message.added"
OTHER: Final[Json] = {"event_type": "session.started"}
TRIES: Final[dict[str, Try]] = {
    "consolidate_on_session_end": Try({"payload": {"message_count": 3}}, {"payload": {"message_count": 2}}),
    "note_what_went_wrong": Try({"event_type": "crm.sync.failed"}, {"event_type": "skill.succeeded"}),
    "weekly_digest": Try({}, {"payload": {"rule": "other"}}, {"user.memory_count": 10}),
    "order_rush": Try(counted("order_rush", orders=101), counted("order_rush", orders=100)),
    "searches_find_nothing": Try(
        counted("searches_find_nothing", searches=20, missed=0.25), counted("searches_find_nothing", searches=20)
    ),
    "user_fell_silent": Try(
        counted("user_fell_silent", today=10, lately=0), counted("user_fell_silent", today=10, lately=1)
    ),
    "angry_or_urgent": Try(
        {"payload": said("Where is my REFUND?")}, {"payload": said("Cancel it.", metadata={"test": True})}
    ),
    "a_tool_failed": Try(
        {"payload": said(tool_calls=[{"name": "crm_find", "ok": True}, {"name": "crm_sync", "ok": False}])},
        {"payload": said(tool_calls=[{"name": "web", "ok": False}])},
    ),
    "wants_to_leave": Try({"payload": said()}, {"payload": said(role="assistant")}, near=0.45),
    "tell_the_team_in_the_morning": Try({}, OTHER),
    "tell_the_crm": Try({"payload": {"category": "fact"}}, {"payload": {"category": "plan"}}),
    "extract_a": Try({"payload": said(user_id="bob")}, OTHER),
    "extract_b": Try({"payload": said()}, OTHER),
    "crm_in_batches": Try({"event_type": "memory.write.important"}, {"event_type": "memory"}),
    "extract_within_budget": Try({"payload": said()}, OTHER, {"budget.cost_today": 4.99}),
    "say_that_it_is_spent": Try({"payload": said()}, OTHER),
    "calls_by_day": Try(
        {"payload": {"local_time": "2026-11-21T17:59:00"}}, {"payload": {"local_time": "2026-11-21T18:00:00"}}
    ),
}


def test_every_rule_of_the_manual_is_tried() -> None:
    assert list(TRIES) == list(RULES)


def happened(name: str, given: Json) -> Event:
    """An event of the rule's own type, but for what is given."""
    wanted = rule(name).event_types[0].replace("*", "created")
    own: Json = {"rule": name} if rule(name).schedule else {}
    return an_event(**{"event_type": wanted, "payload": own, **given})


def met(name: str, given: Json, tried: Try) -> bool:
    verdicts = Ruleset([(rule(name), 1)]).decide(
        happened(name, given), tried.knows.__getitem__, similarity=lambda _text, _meaning: tried.near
    )
    return any(verdict.held_by != "sample" for verdict in verdicts)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_the_manual_meets_what_it_is_for_and_nothing_else(name: str) -> None:
    tried = TRIES[name]
    assert met(name, tried.meets, tried)
    assert not met(name, tried.misses, tried)


@pytest.mark.parametrize(
    ("name", "knows", "near"),
    [
        ("weekly_digest", {"user.memory_count": 9}, 0.0),
        ("extract_within_budget", {"budget.cost_today": 5}, 0.0),
        ("wants_to_leave", {}, 0.44),
    ],
)
def test_what_is_looked_up_or_meant_decides(name: str, knows: Json, near: float) -> None:
    assert not met(name, TRIES[name].meets, TRIES[name]._replace(knows=knows, near=near))


def fired(names: list[str], payload: Json, **knows: Any) -> list[str]:
    verdicts = Ruleset([(rule(name), 1) for name in names]).decide(
        an_event(payload, event_type=MESSAGE), lambda name: knows[name.replace(".", "_")]
    )
    return [verdict.name for verdict in verdicts if verdict.fired]


def test_each_user_has_one_of_two_policies_and_always_the_same() -> None:
    users = {user: fired(["extract_b", "extract_a"], said(user_id=user)) for user in map(str, range(200))}
    assert set(map(len, users.values())) == {1}
    assert 70 < sum(names == ["extract_a"] for names in users.values()) < 130
    assert users == {user: fired(["extract_b", "extract_a"], said(user_id=user)) for user in users}


@pytest.mark.parametrize(("cost", "name"), [(4.99, "extract_within_budget"), (5, "say_that_it_is_spent")])
def test_a_budget_is_kept_or_its_end_is_told(cost: float, name: str) -> None:
    assert fired(["say_that_it_is_spent", "extract_within_budget"], said(), budget_cost_today=cost) == [name]


def table(first: str) -> list[list[str]]:
    """The cells of the last table whose first column has this heading, without heading and rule."""
    lines = MANUAL.splitlines()
    start = max(place for place, line in enumerate(lines) if line.startswith(f"| {first} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def cells(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


OPERATOR_ROWS: Final = {cells(row[0])[0]: row for row in table("operator")}


def test_the_table_of_operators_is_the_engine_s() -> None:
    assert list(OPERATOR_ROWS) == list(OPERATORS)


def holds(name: str, payload: Json) -> bool:
    written = cells(OPERATOR_ROWS[name][2])
    leaf: Json = {"field": "payload.x", "op": name} | ({"value": json.loads(written[0])} if written else {})
    return compile_conditions(Leaf.model_validate(leaf))(Facts(an_event(payload)))


@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "means"])
def test_an_operator_holds_for_what_the_table_says(name: str) -> None:
    for cell, outcome in zip(OPERATOR_ROWS[name][3:5], (True, False), strict=True):
        payloads = [{"x": json.loads(value)} for value in cells(cell)]
        payloads += [{}] if "*nothing*" in cell else []
        assert payloads
        assert [holds(name, payload) for payload in payloads] == [outcome] * len(payloads)


@pytest.mark.parametrize("row", table("`cron` in `Europe/Lisbon`"))
def test_a_line_is_due_across_daylight_saving_as_the_table_says(row: list[str]) -> None:
    schedule = Schedule(cron=cells(row[0])[0], timezone="Europe/Lisbon")
    day = datetime.fromisoformat(f"{row[1]}T00:00Z")
    due = schedules.due_times(schedule, day - timedelta(seconds=1), day + timedelta(days=1, seconds=-1), 99)
    assert ", ".join(f"{moment:%H:%M}" for moment in due) == row[2].replace("never", "")


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("rules of a tenant", Allowed().rules),
        ("comparisons in a rule", condition_tree.MAX_LEAVES),
        ("depth of its conditions", schema.MAX_DEPTH),
        ("values in a list to compare with", condition_tree.MAX_LIST),
        ("characters of a `matches` or `wildcard`", operators.MAX_PATTERN),
        ("characters of any text", fields.MAX_TEXT),
        ("steps of a path", paths.MAX_STEPS),
        ("actions", schema.MAX_ACTIONS),
        ("`max_events`, `threshold`", stages.MAX_GATHERED),
        ("seconds of a flow", fields.THIRTY_DAYS),
        ("texts compared by meaning in a list", conditions.MAX_MEANT),
        ("cost for one event", Allowed().cost),
    ],
)
def test_a_limit_is_the_one_that_the_table_says(what: str, most: int) -> None:
    (said,) = [row[1] for row in table("what") if row[0] == what]
    assert re.search(rf"(?<![\d,]){most:,}(?![\d,])", said)


@pytest.mark.parametrize("line", ["5 0 * * *", "0 1-5 1,15 jan *", "*/10 0 L * *", "0 9 * * mon#1", "0 9 * * 5L"])
def test_a_cron_line_may_be_written_as_the_table_says(line: str) -> None:
    assert cron_fault(line) is None


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in characters: a document, the columns by their labels, and the rows by their names."""

    about: Json
    columns: list[str]
    rows: dict[str, list[str]]

    def row(self, name: str) -> list[str]:
        return self.rows.get(name, [""] * len(self.columns))


def pictures(kind: str) -> list[Picture]:
    return [_picture(*block.splitlines()) for block in blocks(kind)]


def _picture(about: str, head: str, *lines: str) -> Picture:
    starts = [found.start() for found in re.finditer(r"\S+", head)][1:]
    return Picture(
        json.loads(about), _cut(head, starts), {line[: starts[0]].strip(): _cut(line, starts) for line in lines}
    )


def _cut(line: str, starts: list[int]) -> list[str]:
    ends = [*starts[1:], None]
    return [line[start:end].replace("·", "").strip() for start, end in zip(starts, ends, strict=True)]


def test_every_stage_has_its_picture() -> None:
    drawn = {stage for kind in ("timeline", "lane") for picture in pictures(kind) for stage in picture.about}
    assert drawn == set(STAGES)


class Line:
    """The stages of one rule for one key, on a clock of its own."""

    def __init__(self, flow: Flow) -> None:
        self._flow, self._keys = flow, dict.fromkeys(STAGES, "k")
        self._states: dict[tuple[str, str], StageState | None] = {}

    def cell(self, drawn: str, second: float) -> str:
        """What a column must show: the match or the end of a session that is drawn there, and what comes of it."""
        now, found = NOON + timedelta(seconds=second), re.match(r"×(\d+)", drawn)
        marks = self._due(now)
        if found:
            number = int(found[1])
            passage = stages.push(self._flow, self._keys, Burst((number,), number), now, self._states)
            return "".join([*marks, found[0], mark(passage, number)])
        return "".join([*marks, "E", *self._handed_on(now)]) if drawn.startswith("E") else "".join(marks)

    def _due(self, now: datetime) -> list[str]:
        held = self._states.get(("debounce", "k"))
        if held is None or held.due_at is None or held.due_at > now:
            return []
        assert held.due_at == now, "something happens between two columns"
        return self._handed_on(now)

    def _handed_on(self, now: datetime) -> list[str]:
        held = self._states.pop(("debounce", "k"), None)
        assert held is not None
        burst = stages.release(held)
        return [mark(stages.push(self._flow, self._keys, burst, now, self._states, after="debounce"), None)]


def mark(passage: StageResult, own: int | None) -> str:
    """● for what acts, with all that it acts on unless that is the match itself; – for what is held back."""
    if passage.outcome == "acts":
        return "●" if passage.burst.seqs == (own,) else f"●[{' '.join(map(str, passage.burst.seqs))}]"
    return "–" if passage.outcome == "held" else ""


@pytest.mark.parametrize("picture", pictures("timeline"), ids=lambda picture: json.dumps(picture.about))
def test_a_timeline_shows_what_the_stages_do(picture: Picture) -> None:
    line, drawn = Line(Flow.model_validate(picture.about)), picture.row("")
    assert [line.cell(cell, float(at)) for cell, at in zip(drawn, picture.columns, strict=True)] == drawn


@pytest.mark.parametrize("picture", pictures("lane"), ids=lambda picture: picture.about["concurrency"]["on_conflict"])
def test_a_lane_is_drawn_as_the_ledger_keeps_it(picture: Picture, app: Database, queue: Database, works: Works) -> None:
    note = {"action_type": "notify", "channel": "log", "template": "x"}
    with app.tenant(TENANT) as tx:
        document = {"name": "lane", "event_type": "a", "flow": picture.about, "actions": [note]}
        store.save(tx, TENANT, document, author="test")
    began: dict[str, int] = {}
    for place, label in enumerate(picture.columns):
        second = int(label)
        _end(app, [name for name, at in began.items() if second == at + 10])
        if picture.row("match")[place]:
            assert _arrive(app, queue, works) == picture.row("match")[place]
        for name in _lane(queue, "pending"):
            _begin(works, name, queue)
        for name in _lane(queue, "running"):
            began.setdefault(name, second)
        for row, status in (("running", "running"), ("waiting", "pending")):
            assert " ".join(_lane(queue, status)) == picture.row(row)[place], f"{row} at {second}"
    assert sorted(_lane(queue, "cancelled")) == sorted("".join(picture.row("cancelled")).split())


def _arrive(app: Database, queue: Database, works: Works) -> str:
    """One more event, decided on; what the decision looks like in a picture."""
    accept(app, event("a", payload={"session_id": "s1"}))
    router.route(works.router)
    decision = _rows(queue, "decisions")[-1]
    return f"×{decision.event_seq - BEFORE}" + ("●" if decision.verdict == "fired" else "–")


BEFORE: Final = 1
"""The log begins with the event that says that the rule was saved."""


def _rows(queue: Database, table: str) -> list[Any]:
    with queue.queue() as tx:
        return list(tx.execute(text(f"SELECT * FROM {table} ORDER BY event_seq")))


def _lane(queue: Database, status: str) -> list[str]:
    """The numbers of those in a status, the oldest first."""
    return [str(one.event_seq - BEFORE) for one in _rows(queue, "dispatches") if one.status == status]


def _begin(works: Works, name: str, queue: Database) -> None:
    (dispatch,) = [one for one in _rows(queue, "dispatches") if one.event_seq - BEFORE == int(name)]
    ledger._claim(works.ledger, TENANT, dispatch.id)


def _end(app: Database, names: list[str]) -> None:
    done = "UPDATE dispatches SET status = 'done', ended_at = now(), wake_at = NULL WHERE event_seq = ANY(:seqs)"
    with app.tenant(TENANT) as tx:
        tx.execute(text(done), {"seqs": [int(name) + BEFORE for name in names]})


@pytest.mark.parametrize("picture", pictures("sample"), ids=lambda picture: picture.about["name"])
def test_a_sample_is_drawn_as_it_is_taken(picture: Picture) -> None:
    sample = Flow.model_validate(picture.about["flow"]).sample
    assert sample is not None
    keys = [flow_key(sample.key, an_event({"user_id": user})) for user in picture.columns]
    drawn = ["●" if is_sampled(picture.about["name"], key, sample.ratio) else "–" for key in keys]
    assert picture.row("") == drawn


def test_the_moment_of_the_examples_is_the_one_that_the_page_names() -> None:
    assert f"The examples are for an event of {NOON.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}." in MANUAL
