"""Erasing over HTTP: who may, what the answer proves, and what a second time says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import preview
from core.memory import receipts
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.types import Json
from tests.core.erasing import a_word, holding
from tests.doors import Doors, key_of, opened
from tests.samples import TENANT, ended, said
from tests.works import Works, at_work


@pytest.fixture
def word() -> str:
    return a_word()


@pytest.fixture
def learnt(door: Doors, works: Works, word: str) -> Json:
    """A memory of Yolanda that was learnt from a conversation."""
    spoken = [said(f"I live in {word.capitalize()}.", user="yolanda"), said("I play chess.", user="yolanda")]
    assert door.post("/v1/events", [*spoken, ended(user="yolanda", message_count=3)]).status_code == 202
    works.settle()
    memory: Json = door.get("/v1/memories", params={"attribute": "home.city"}).json()["items"][0]
    return memory


def _is_genuine(door: Doors, answer: Json) -> bool:
    key = door.get("/v1/receipts/key").json()
    assert key["key_id"] == answer["receipt"]["key_id"]
    return receipts.verify(answer["receipt"], answer["signature"], key["public_key"])


def test_erasing_a_memory_answers_a_receipt_that_can_be_read_and_checked_later(
    door: Doors, learnt: Json, word: str
) -> None:
    answer = door.ask("DELETE", f"/v1/memories/{learnt['id']}")
    assert answer.status_code == 200
    receipt = answer.json()
    assert _is_genuine(door, receipt)
    assert receipt["receipt"]["counts"]["memories"] == 1
    assert receipt["receipt"]["tombstones"] >= 2
    assert word not in answer.text.lower()
    assert learnt["id"] not in answer.text
    assert door.get(f"/v1/receipts/{receipt['receipt']['id']}").json() == receipt


def test_an_erased_memory_is_found_by_none_of_the_ways_to_it(door: Doors, learnt: Json, word: str) -> None:
    door.ask("DELETE", f"/v1/memories/{learnt['id']}")
    for path in ("", "/history", "/why", "/related"):
        assert door.get(f"/v1/memories/{learnt['id']}{path}").status_code == 404, path
    for path, params in (
        ("/v1/memories", {"user_id": "yolanda", "include_archived": True}),
        ("/v1/memories/decisions", {}),
    ):
        assert word not in door.get(path, params=params).text.lower(), path
    found = door.post("/v1/search", {"user_id": "yolanda", "query": f"Who lives in {word}?", "include_archived": True})
    assert {one["type"] for one in found.json()["results"] if word in one["content"].lower()} <= {"message"}


def test_a_second_time_the_answer_names_the_receipt(door: Doors, learnt: Json) -> None:
    first = door.ask("DELETE", f"/v1/memories/{learnt['id']}").json()["receipt"]
    again = door.ask("DELETE", f"/v1/memories/{learnt['id']}")
    assert again.status_code == 404
    assert f"/v1/receipts/{first['id']}" in again.json()["detail"]


def test_whoever_asks_for_an_erased_memory_is_told_what_a_second_deletion_is(door: Doors, learnt: Json) -> None:
    door.ask("DELETE", f"/v1/memories/{learnt['id']}")
    again = door.ask("DELETE", f"/v1/memories/{learnt['id']}").json()["detail"]
    assert again.startswith(f"Memory {learnt['id']} was erased at ")
    for path in ("", "/history", "/why", "/related"):
        answer = door.get(f"/v1/memories/{learnt['id']}{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, again), path


@pytest.mark.parametrize("evidence", [True, False])
def test_the_receipt_claims_what_was_done_to_the_messages_and_no_more(
    app: Database, door: Doors, learnt: Json, word: str, *, evidence: bool
) -> None:
    answer = door.ask("DELETE", f"/v1/memories/{learnt['id']}", params={"evidence": evidence}).json()
    assert _is_genuine(door, answer)
    said, kept = answer["receipt"]["statement"], set(holding(app, word))
    assert ("may still say it" in said) is not evidence
    assert ("have lost their text" in said) is evidence
    assert {"messages", "units"} <= kept if not evidence else kept == set()
    assert "every trace" not in said


def test_a_memory_that_never_was_has_no_receipt(door: Doors) -> None:
    answer = door.ask("DELETE", "/v1/memories/00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 404
    assert "receipt" not in answer.json()["detail"]


def test_with_evidence_the_messages_lose_their_text_too(door: Doors, app: Database, learnt: Json, word: str) -> None:
    answer = door.ask("DELETE", f"/v1/memories/{learnt['id']}", params={"evidence": "true"})
    assert answer.json()["receipt"]["counts"]["messages"] == 1
    assert holding(app, word) == []


def test_erasing_a_user_answers_a_receipt_and_a_second_one_that_counts_nothing(
    door: Doors, app: Database, learnt: Json, word: str
) -> None:
    first = door.ask("DELETE", "/v1/users/yolanda")
    assert first.status_code == 200
    assert _is_genuine(door, first.json())
    assert {"messages": 2, "memories": 2, "sessions": 1}.items() <= first.json()["receipt"]["counts"].items()
    assert "yolanda" not in first.text
    assert holding(app, word) == []
    again = door.ask("DELETE", "/v1/users/yolanda")
    assert again.status_code == 200
    assert again.json()["receipt"]["counts"] == {}
    assert again.json()["receipt"]["subject_hash"] == first.json()["receipt"]["subject_hash"]
    assert _is_genuine(door, again.json())


def test_a_mistyped_user_gets_no_receipt(door: Doors, app: Database) -> None:
    answer = door.ask("DELETE", "/v1/users/yolnada")
    assert answer.status_code == 404
    assert "Check the name." in answer.json()["detail"]
    assert holding(app, "yolnada") == []
    assert holding(app, "Ed25519") == []


@pytest.mark.parametrize("user", ["a:b c", "ünï?#%", "50%"])
def test_a_user_of_any_name_can_be_erased(door: Doors, user: str) -> None:
    door.post("/v1/events", said("Hello.", user=user))
    answer = door.ask("DELETE", f"/v1/users/{quote(user, safe='')}")
    assert answer.json()["receipt"]["counts"]["messages"] == 1


@pytest.mark.parametrize(
    ("scope", "path", "status"),
    [
        ("read", "/v1/memories/{id}", 403),
        ("publish", "/v1/memories/{id}", 403),
        ("write", "/v1/users/yolanda", 403),
        ("write", "/v1/memories/{id}", 200),
    ],
)
def test_who_may_not_erase_is_refused(
    door: Doors, settings: Settings, learnt: Json, scope: str, path: str, status: int
) -> None:
    key = key_of(settings, TENANT, (scope,))
    assert door.ask("DELETE", path.format(id=learnt["id"]), key=key).status_code == status


def test_another_tenant_reads_no_receipt(door: Doors, learnt: Json) -> None:
    receipt = door.ask("DELETE", f"/v1/memories/{learnt['id']}").json()["receipt"]
    assert door.get(f"/v1/receipts/{receipt['id']}", tenant="globex").status_code == 404


# The mirror


@pytest.fixture
def mirrored(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"mirror_dir": tmp_path / "mirror"})


@pytest.fixture
def mirroring(mirrored: Settings) -> Iterator[tuple[Doors, Works]]:
    with opened(mirrored) as doors, at_work(mirrored) as works:
        yield doors, works


def _written(settings: Settings) -> str:
    assert settings.mirror_dir is not None
    return "\n".join(one.read_text() for one in settings.mirror_dir.rglob("*") if one.is_file())


def _learn(doors: Doors, works: Works, *words: str) -> list[Any]:
    for one in words:
        assert doors.post("/v1/memories", {"user_id": "yolanda", "content": one}).status_code in {200, 201}
    works.settle()
    found: list[Any] = doors.get("/v1/memories", params={"user_id": "yolanda"}).json()["items"]
    return found


def test_the_line_of_an_erased_memory_leaves_the_users_file_at_once(
    mirroring: tuple[Doors, Works], mirrored: Settings, app: Database, word: str
) -> None:
    doors, works = mirroring
    memories = _learn(doors, works, f"I keep {word} at home.", "I play chess.")
    assert word in _written(mirrored)
    gone = next(one["id"] for one in memories if word in one["content"])
    doors.ask("DELETE", f"/v1/memories/{gone}")
    assert word not in _written(mirrored)
    assert "chess" in _written(mirrored)
    assert holding(app, word) == []
    works.settle()
    assert holding(app, word) == []


def test_the_files_of_an_erased_user_are_gone_and_stay_away(
    mirroring: tuple[Doors, Works], mirrored: Settings, word: str
) -> None:
    doors, works = mirroring
    _learn(doors, works, f"I keep {word} at home.")
    assert word in _written(mirrored)
    receipt = doors.ask("DELETE", "/v1/users/yolanda").json()["receipt"]
    assert receipt["counts"]["mirror_files"] >= 1
    assert _written(mirrored) == ""
    works.settle()
    assert _written(mirrored) == ""
    assert mirrored.mirror_dir is not None
    assert not list(mirrored.mirror_dir.rglob("*yolanda*"))


def _everything(app: Database) -> list[tuple[str, int]]:
    with app.tenant(TENANT) as tx:
        return [(name, tx.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()) for name in TENANT_TABLES]


def test_a_rehearsal_counts_what_an_erasure_of_a_memory_then_does_and_changes_nothing(
    door: Doors, app: Database, learnt: Json, word: str
) -> None:
    before = _everything(app)
    path = f"/v1/memories/{learnt['id']}"
    rehearsed = door.ask("DELETE", path, params={"dry_run": True, "evidence": True}).json()
    assert rehearsed["dry_run"]
    assert word not in str(rehearsed).lower()
    assert _everything(app) == before
    done = door.ask("DELETE", path, params={"evidence": True}).json()["receipt"]
    assert rehearsed["counts"] == {name: number for name, number in done["counts"].items() if number}


def test_a_rehearsal_counts_what_an_erasure_of_a_user_then_does_and_changes_nothing(
    door: Doors, app: Database, learnt: Json
) -> None:
    assert learnt
    before = _everything(app)
    rehearsed = door.ask("DELETE", "/v1/users/yolanda", params={"dry_run": True}).json()
    assert _everything(app) == before
    done = door.ask("DELETE", "/v1/users/yolanda").json()["receipt"]
    assert rehearsed["counts"] == {name: number for name, number in done["counts"].items() if number}
    assert door.ask("DELETE", "/v1/users/nobody", params={"dry_run": True}).status_code == 404


def test_a_preview_of_much_counts_at_least_what_it_says_and_changes_nothing(
    door: Doors, app: Database, learnt: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learnt
    before = _everything(app)
    exact = door.ask("DELETE", "/v1/users/yolanda", params={"dry_run": True}).json()
    assert exact["at_least"] == []
    monkeypatch.setattr(preview, "SMALL", -1)
    counted = door.ask("DELETE", "/v1/users/yolanda", params={"dry_run": True}).json()
    assert {"events", "memories"} <= set(counted["at_least"])
    assert "messages" not in counted["at_least"]
    assert (counted["sessions"], counted["counts"]["messages"]) == (exact["sessions"], exact["counts"]["messages"])
    assert all(number <= exact["counts"][name] for name, number in counted["counts"].items())
    assert _everything(app) == before
    assert door.ask("DELETE", "/v1/users/nobody", params={"dry_run": True}).status_code == 404


# A group


@pytest.fixture
def crew(door: Doors, works: Works, word: str) -> Json:
    """A memory that was learnt in a group, of somebody who said something else elsewhere."""
    spoken = [said(f"I live in {word.capitalize()}.", user="yolanda", group_id="crew"), said("I agree.", user="bob")]
    more = said("I play chess.", session="s2", user="yolanda")
    assert door.post("/v1/events", [*spoken, ended(user="yolanda", group_id="crew"), more]).status_code == 202
    works.settle()
    memory: Json = door.get("/v1/memories", params={"group_id": "crew"}).json()["items"][0]
    return memory


def test_erasing_a_group_answers_a_receipt_and_a_second_one_that_counts_nothing(
    door: Doors, app: Database, crew: Json, word: str
) -> None:
    first = door.ask("DELETE", "/v1/groups/crew").json()
    assert _is_genuine(door, first)
    assert first["receipt"]["scope"] == "group"
    assert "elsewhere was not changed" in first["receipt"]["statement"]
    assert holding(app, word) == []
    assert door.get(f"/v1/memories/{crew['id']}").status_code == 404
    assert "I play chess." in door.get("/v1/session/messages", params={"session_id": "s2"}).text
    again = door.ask("DELETE", "/v1/groups/crew").json()["receipt"]
    assert again["counts"] == {}
    assert again["subject_hash"] == first["receipt"]["subject_hash"]
    assert door.ask("DELETE", "/v1/groups/crwe").status_code == 404


def test_a_rehearsal_counts_what_an_erasure_of_a_group_then_does_and_changes_nothing(
    door: Doors, app: Database, crew: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _everything(app)
    assert crew
    rehearsed = door.ask("DELETE", "/v1/groups/crew", params={"dry_run": True}).json()
    assert _everything(app) == before
    assert (rehearsed["group_id"], rehearsed["users"], rehearsed["sessions"]) == ("crew", 1, 1)
    with monkeypatch.context() as patched:
        patched.setattr(preview, "SMALL", -1)
        counted = door.ask("DELETE", "/v1/groups/crew", params={"dry_run": True}).json()
    assert (counted["users"], counted["sessions"], "users" in counted["at_least"]) == (1, 1, True)
    assert all(number <= rehearsed["counts"][name] for name, number in counted["counts"].items())
    done = door.ask("DELETE", "/v1/groups/crew").json()["receipt"]
    assert rehearsed["counts"] == {name: number for name, number in done["counts"].items() if number}


@pytest.mark.parametrize("scope", ["read", "write", "publish"])
def test_a_group_is_erased_by_an_admin_alone(door: Doors, settings: Settings, scope: str) -> None:
    door.post("/v1/events", said("Hello.", group_id="crew"))
    key = key_of(settings, TENANT, (scope,))
    assert door.ask("DELETE", "/v1/groups/crew", key=key).status_code == 403


@pytest.mark.parametrize("group", ["a:b c", "ünï?#%", "50%"])
def test_a_group_of_any_name_can_be_erased(door: Doors, app: Database, group: str) -> None:
    door.post("/v1/events", said("Hello.", group_id=group))
    answer = door.ask("DELETE", f"/v1/groups/{quote(group, safe='')}")
    assert answer.json()["receipt"]["counts"]["messages"] == 1
    assert holding(app, "Hello.") == []


def test_the_lines_of_a_groups_memories_leave_the_files_of_its_members_at_once(
    mirroring: tuple[Doors, Works], mirrored: Settings, word: str
) -> None:
    doors, works = mirroring
    wish = {"user_id": "yolanda", "group_id": "crew", "content": f"I keep {word} at home."}
    assert doors.post("/v1/memories", wish).status_code in {200, 201}
    _learn(doors, works, "I play chess.")
    assert word in _written(mirrored)
    doors.ask("DELETE", "/v1/groups/crew")
    assert word not in _written(mirrored)
    assert "chess" in _written(mirrored)
