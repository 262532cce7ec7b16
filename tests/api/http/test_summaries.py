from __future__ import annotations

from core.events.publishing import Author
from core.plans import tracker
from core.storage.db import Database
from core.summaries import rolling
from core.summaries.rolling import SummaryLimits
from tests.core.plans.test_tracker import published, updated
from tests.doors import OTHER, Doors
from tests.samples import TENANT, accept, accept_all, said

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
