from __future__ import annotations

from core.config import Settings
from core.events.publishing import Author
from core.plans import tracker
from core.storage.db import Database
from core.summaries import rolling
from core.summaries.rolling import SummaryLimits
from tests.core.plans.publishing import published, updated
from tests.doors import OTHER, Doors, key_of
from tests.factories import events_since
from tests.samples import TENANT, accept, accept_all, event, said

SESSION = "team/s 1"


def summed_up(app: Database) -> None:
    talk = [said(f"Boat {n} left the harbour for Oslo.", session=SESSION, message_id=f"m{n}") for n in range(9)]
    accept_all(app, [said("We decided to rent 3 boats.", session=SESSION, message_id="k"), *talk])
    rolled = rolling.session(app, TENANT, SESSION, SummaryLimits(10, 8000))
    assert rolled is not None
    with app.tenant(TENANT) as tx:
        rolled.write(tx, Author("session_summarizer"))


def test_a_summary_is_shown_with_its_key_messages_and_all_of_it_as_text(door: Doors, app: Database) -> None:
    summed_up(app)
    found = door.get(f"/v1/sessions/{SESSION}/summary").json()
    assert (found["session_id"], found["to_position"], found["prompt"]) == (SESSION, 5, None)
    assert found["key_messages"] == [
        {"message_id": "k", "position": 1, "kind": "decision", "quote": "We decided to rent 3 boats.", "by": "ada"}
    ]
    assert found["text"] == f"- [decision] ada: We decided to rent 3 boats.\n\n{found['content']}"
    assert "Boat" in found["content"]
    assert found["token_count"] > 0


def test_where_there_is_none_yet_the_answer_says_from_when_on(door: Doors, app: Database) -> None:
    accept(app, said("Hi.", session=SESSION))
    answer = door.get(f"/v1/sessions/{SESSION}/summary")
    assert (answer.status_code, "200 messages" in answer.json()["detail"]) == (404, True)
    assert "no session" in door.get("/v1/sessions/nobody/summary").json()["detail"]


def test_plans_are_shown_as_trees(door: Doors, app: Database) -> None:
    plan = {"goal": "Move", "steps": [{"title": "Pack", "status": "done"}, {"title": "Drive", "steps": ["Fuel"]}]}
    found = tracker.read(app, TENANT, "s1", published(app, updated(plan, group_id="g1")))
    with app.tenant(TENANT) as tx:
        found.write(tx, Author("plan_tracker"))
    (one,) = door.get("/v1/sessions/s1/plans").json()["items"]
    assert {name: one[name] for name in ("id", "user_id", "group_id", "goal", "status", "current", "version")} == {
        "id": "main", "user_id": "ada", "group_id": "g1", "goal": "Move", "status": "in_progress", "current": "2.1",
        "version": 1,
    }  # fmt: skip
    assert one["steps"][1] == {
        "id": "2", "title": "Drive", "status": "pending",
        "steps": [{"id": "2.1", "title": "Fuel", "status": "pending", "steps": []}],
    }  # fmt: skip
    assert one["updated_at"]


def test_a_session_without_plans_has_an_empty_list_and_no_session_is_none(door: Doors, app: Database) -> None:
    accept(app, said("Hi.", session="s2"))
    assert door.get("/v1/sessions/s2/plans").json() == {"items": [], "next": None}
    assert door.get("/v1/sessions/nobody/plans").status_code == 404


def test_another_tenant_finds_nothing(door: Doors, app: Database) -> None:
    summed_up(app)
    assert door.ask("GET", f"/v1/sessions/{SESSION}/summary", tenant=OTHER).status_code == 404
    assert door.ask("GET", f"/v1/sessions/{SESSION}/plans", tenant=OTHER).status_code == 404


def test_a_summary_is_written_on_request_however_short_the_session(
    door: Doors, app: Database, settings: Settings
) -> None:
    accept(app, said("We decided to rent 3 boats.", session=SESSION, message_id="k"))
    path = f"/v1/sessions/{SESSION}/summary"
    assert door.post(path, key=key_of(settings, TENANT, ("read",))).status_code == 403
    assert door.get(path).status_code == 404
    made = door.post(path)
    assert made.status_code == 200, made.text
    assert made.json() == door.get(path).json() == door.post(path).json()
    assert (made.json()["to_position"], made.json()["key_messages"][0]["message_id"]) == (1, "k")
    with app.tenant(TENANT) as tx:
        (told,) = [e for e in events_since(tx, 0, 1000) if e.event_type == "session.summarized"]
    assert told.payload["messages"] == 1


def test_of_a_session_that_is_not_there_or_says_nothing_no_summary_is_written(door: Doors, app: Database) -> None:
    assert door.post("/v1/sessions/nobody/summary").status_code == 404
    accept(app, event("session.started", {"session_id": "s0", "user_id": "ada"}))
    answer = door.post("/v1/sessions/s0/summary")
    assert (answer.status_code, "no message" in answer.json()["detail"]) == (409, True)
    assert door.post("/v1/sessions/s0/summary", tenant=OTHER).status_code == 404
