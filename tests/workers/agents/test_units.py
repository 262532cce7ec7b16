from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Conflict, Never
from core.storage.db import Database
from core.summaries import units
from core.types import Json
from tests.core.summaries.conversations import HIKE, TAXES, seen, spans, talk
from tests.samples import accept, accept_all, ended, event, said
from tests.workers.learners import carried_out, job, published, ran, tools_of
from workers.agents.summaries import write_units
from workers.tools import Tools


@pytest.fixture
def tools(settings: Settings, app: Database) -> Tools:
    return tools_of(settings, app)


def test_a_session_that_ended_is_cut_into_units(app: Database, tools: Tools) -> None:
    accept_all(app, talk([*HIKE, *TAXES]))
    assert ran(tools, write_units, ended()) == {"units": 2, "grown": 0}
    assert spans(seen(app)) == [(1, 6, "start"), (7, 12, "shift")]
    assert ran(tools, write_units, ended()) == {"units": 0, "grown": 0}


def test_a_session_is_cut_while_people_talk(app: Database, tools: Tools) -> None:
    accept_all(app, talk(HIKE[:3]))
    assert ran(tools, write_units, said(HIKE[3], time="2026-11-21T12:03:00Z")) == {"units": 1, "grown": 0}
    assert ran(tools, write_units, said(HIKE[4], time="2026-11-21T12:04:00Z")) == {"units": 0, "grown": 1}
    assert spans(seen(app)) == [(1, 5, "start")]


def test_how_long_a_silence_cuts_is_a_setting(app: Database, settings: Settings) -> None:
    accept(app, said("The hike is on Sunday.", time="2026-11-21T12:00:00Z"))
    last = said("The hike starts at eight.", time="2026-11-21T12:10:00Z")
    ran(tools_of(settings.model_copy(update={"unit_gap_seconds": 300}), app), write_units, last)
    assert spans(seen(app)) == [(1, 1, "start"), (2, 2, "gap")]


def test_the_rest_of_a_long_session_follows_at_once(
    app: Database, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "READ", 5)
    accept_all(app, talk([*HIKE, *TAXES]))
    asked = job(published(app, ended()), "unit_writer", {"why": "kept"})
    first = write_units(tools, asked)
    assert list(first.then) == [("unit_writer", {"why": "kept", "session_id": "s1"})]
    carried_out(app, first)
    following: Json = dict(first.then[0][1])
    while following:
        outcome = write_units(tools, job(published(app, event()), "unit_writer", following))
        carried_out(app, outcome)
        following = dict(outcome.then[0][1]) if outcome.then else {}
    assert spans(seen(app)) == [(1, 6, "start"), (7, 12, "shift")]


def test_of_two_at_once_one_writes_and_the_other_begins_again(app: Database, tools: Tools) -> None:
    accept_all(app, talk(HIKE))
    one, other = (write_units(tools, job(published(app, ended()), "unit_writer")) for _ in range(2))
    carried_out(app, one)
    with pytest.raises(Conflict):
        carried_out(app, other)
    assert len(seen(app)) == 1


@pytest.mark.parametrize(
    ("payload", "params", "says"),
    [({}, {}, "needs an event with a session"), ({}, {"session_id": "nowhere"}, "nothing to read")],
)
def test_what_it_cannot_work_on_is_set_aside_with_the_reason(
    tools: Tools, payload: Json, params: Json, says: str
) -> None:
    with pytest.raises(Never, match=says):
        ran(tools, write_units, event(payload=payload), params)
