"""Searches on a replica show what their caller has written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from httpx import Response
from sqlalchemy import text

from api.ingress.log_positions import HEADER
from bench.standby import Standby
from core.config import Settings
from core.erasure import user as user_erasure
from core.index.resident import filling
from core.index.resident.filling import Filler
from core.search import opening
from core.storage import positions, replica
from core.storage.db import Database
from core.types import Json
from tests.api.console.calling import ask
from tests.api.mcp.asking import sent
from tests.counts import growth
from tests.doors import Doors, key_of, opened
from tests.factories import PERSON
from tests.patience import PATIENCE_SECONDS
from tests.replicas import answered_by, is_fit, opened_with_replica
from tests.samples import TENANT, said

QUERY = {"user_id": "ada", "query": "What does Ada like?", "method": "keyword"}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a replica for slow, paused or silent only where a test says so, however busy the machine is."""
    for name in ("ANSWER_SECONDS", "WAIT_SECONDS"):
        monkeypatch.setattr(replica, name, 60.0)
    monkeypatch.setattr(replica, "STALE_SECONDS", 3600.0)


@pytest.fixture
def impatient(patience: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait in vain only for a moment."""
    monkeypatch.setattr(replica, "WAIT_SECONDS", 0.05)


@pytest.fixture
def door(replicated: Settings) -> Iterator[Doors]:
    with opened_with_replica(replicated) as door:
        yield door


def add(door: Doors, content: str, **fields: object) -> Response:
    answer = door.post("/v1/memories", {"user_id": "ada", "content": content, **fields})
    assert answer.status_code < 300, answer.text
    return answer


def position_of(answer: Response) -> dict[str, str]:
    """The header that shows a later request what this answer has seen."""
    return {HEADER: answer.headers[HEADER]}


def contents(answer: Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return sorted(result["content"] for result in answer.json()["results"])


@pytest.mark.usefixtures("impatient")
def test_a_search_that_names_the_position_of_a_write_shows_it(door: Doors, standby: Standby) -> None:
    add(door, "Ada likes tea.")
    standby.catch_up()
    with standby.paused():
        seen = position_of(add(door, "Ada likes rain."))
        with answered_by("replica"):
            assert contents(door.post("/v1/search", QUERY)) == ["Ada likes tea."]
        with answered_by("behind"):
            primary = door.post("/v1/search", QUERY, headers=seen)
        assert contents(primary) == ["Ada likes rain.", "Ada likes tea."]
    standby.catch_up()
    with answered_by("replica"):
        copy = door.post("/v1/search", QUERY, headers=seen)
    assert contents(copy) == ["Ada likes rain.", "Ada likes tea."]
    assert positions.parse(copy.headers[HEADER]) >= positions.parse(seen[HEADER])


def test_a_search_waits_for_a_moment_for_what_its_caller_has_seen(
    door: Doors, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = replica.Replica._wait

    def resume(*args: Any) -> None:
        standby.run("SELECT pg_wal_replay_resume()")
        standby.advance()
        wait(*args)

    monkeypatch.setattr(replica.Replica, "_wait", resume)
    with standby.paused():
        seen = position_of(add(door, "Ada likes tea."))
        with answered_by("replica"):
            assert contents(door.post("/v1/search", QUERY, headers=seen)) == ["Ada likes tea."]


def test_a_replica_that_was_never_seen_to_replay_is_not_read_from(replicated: Settings, standby: Standby) -> None:
    with standby.paused():
        standby.advance()
        standby.flush()
        with opened(replicated) as door:
            door.client.app.state.deps.replica.look()  # type: ignore[attr-defined]
            assert not is_fit(door)
            add(door, "Ada likes tea.")
            with answered_by("unfit"):
                assert contents(door.post("/v1/search", QUERY)) == ["Ada likes tea."]


@pytest.mark.usefixtures("impatient")
def test_after_a_wait_in_vain_nobody_waits_for_a_while(
    door: Doors, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "IMPATIENT_SECONDS", 600.0)
    with standby.paused():
        seen = position_of(add(door, "Ada likes tea."))
        with answered_by("behind"):
            door.post("/v1/search", QUERY, headers=seen)
        with answered_by("behind", 2), pytest.MonkeyPatch.context() as patched:
            patched.setattr(replica.Replica, "_wait", None)
            assert contents(door.post("/v1/search", QUERY, headers=seen)) == ["Ada likes tea."]
            assert contents(door.post("/v1/search", QUERY, headers=seen)) == ["Ada likes tea."]


@pytest.mark.parametrize("position", ["FFFFFFFF/FFFFFFFF", "7FFFFFFF/0"])
def test_a_position_of_another_log_is_read_on_the_primary_without_a_wait(
    door: Doors, position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(door, "Ada likes tea.")
    monkeypatch.setattr(replica.Replica, "_wait", None)
    with answered_by("behind"):
        assert contents(door.post("/v1/search", QUERY, headers={HEADER: position})) == ["Ada likes tea."]


@pytest.mark.usefixtures("impatient")
def test_the_latest_position_shows_everything(door: Doors, standby: Standby) -> None:
    with standby.paused():
        add(door, "Ada likes tea.")
        with answered_by("behind"):
            answer = door.post("/v1/search", QUERY, headers={HEADER: positions.NEWEST})
        assert contents(answer) == ["Ada likes tea."]


READS: Sequence[tuple[str, Json]] = (
    ("/v1/search", QUERY),
    ("/v1/search/why", {**QUERY, "id": "x"}),
    ("/v1/context", {"user_id": "ada", "query": "What?", "max_tokens": 500}),
    ("/v1/answer", {"user_id": "ada", "question": "What?"}),
)


def test_a_malformed_position_is_refused(door: Doors) -> None:
    for path, body in READS:
        for position in ("", "0", "0/", "/0", "0/G", "0/123456789", "0/0/0", "newest", "-1/0", "é"):
            answer = door.post(path, body, headers={HEADER: position.encode()})
            assert (answer.status_code, answer.json()["title"]) == (400, "Malformed"), position
            assert f"`{HEADER}`" in answer.json()["detail"]


def test_every_read_of_that_kind_is_answered_by_the_replica(door: Doors, standby: Standby) -> None:
    memory_id = add(door, "Ada likes tea.").json()["memory"]["id"]
    standby.catch_up()
    reads: list[tuple[str, Json]] = [
        ("/v1/search", QUERY),
        ("/v1/search", {"user_ids": ["ada", "bob"], "query": "tea"}),
        ("/v1/search/why", {**QUERY, "id": memory_id}),
        ("/v1/context", {"user_id": "ada", "query": "tea", "max_tokens": 500}),
        ("/v1/answer", {"user_id": "ada", "question": "What does Ada like?", "min_certainty": 0}),
    ]
    for path, body in reads:
        with answered_by("replica"):
            answer = door.post(path, body)
        assert answer.status_code == 200, answer.text
        assert (memory_id if path.endswith("why") else "Ada likes tea.") in answer.text
        assert HEADER in answer.headers


def test_an_agent_and_the_console_read_what_is_newest(
    door: Doors, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = replica.Replica._wait
    monkeypatch.setattr(replica.Replica, "_wait", lambda *args: (standby.advance(), wait(*args)))
    add(door, "Ada likes tea.")
    standby.catch_up()
    with answered_by("replica", 2):
        sent(door, "memory_search", user_id="ada", query="tea")
        ask(door, lambda api: api.post("/v1/search", QUERY))
    monkeypatch.setattr(replica, "WAIT_SECONDS", 0.05)
    with standby.paused():
        add(door, "Ada likes rain.")
        with answered_by("behind", 2):
            assert "Ada likes rain." in str(sent(door, "memory_search", user_id="ada", query="rain"))
            assert "Ada likes rain." in str(ask(door, lambda api: api.post("/v1/search", QUERY)))


@pytest.mark.usefixtures("impatient")
def test_a_settled_token_has_a_position_behind_the_work(door: Doors, standby: Standby) -> None:
    accepted = door.post("/v1/events", [said("I like tea.")])
    settled = door.get("/v1/settle", params={"token": accepted.json()["settle_token"], "timeout": 0})
    assert positions.parse(settled.headers[HEADER]) >= positions.parse(accepted.headers[HEADER])
    with standby.paused(), answered_by("behind"):
        newer = position_of(door.post("/v1/events", [said("I like rain.")]))
        answer = door.post("/v1/search", QUERY, headers=newer)
        assert "I like rain." in contents(answer)


def test_a_session_keeps_its_selection_on_the_primary(door: Doors, standby: Standby) -> None:
    door.post("/v1/events", [said("I like tea.")])
    add(door, "Ada likes tea.")
    standby.catch_up()
    body = {"user_id": "ada", "session_id": "s1", "query": "tea", "max_tokens": 900}
    with answered_by("replica", 2):
        first = door.post("/v1/context", body)
        standby.catch_up()
        second = door.post("/v1/context", body)
    assert first.json()["prefix_hash"] == second.json()["prefix_hash"]
    assert standby.run("SELECT count(*) FROM contexts") == 1


def test_other_tenants_and_labelled_rows_are_invisible_on_the_replica(
    door: Doors, standby: Standby, replicated: Settings
) -> None:
    add(door, "Ada likes tea.")
    add(door, "Ada likes rain.", audience_labels=["family"])
    standby.catch_up()
    family = key_of(replicated, TENANT, ("read",))
    standby.catch_up()
    for labels, shown in ((None, ["Ada likes tea."]), (["family"], ["Ada likes rain.", "Ada likes tea."])):
        for _ in range(2):  # From the rows read first, and from those that are cached.
            with answered_by("replica"):
                answer = door.post("/v1/search", {**QUERY, "reader_labels": labels}, key=family)
            assert contents(answer) == shown
    with answered_by("replica"):
        assert contents(door.post("/v1/search", QUERY, tenant="globex")) == []


def test_rows_of_a_large_owner_are_cached_from_the_replica(
    door: Doors, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = Filler()
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(filling, "FILLER", filler)
    add(door, "Ada likes tea.")
    standby.catch_up()
    with standby.paused():
        add(door, "Ada likes rain.")
        with growth("imprint_search_reads_total", kind="uncached") as uncached, answered_by("replica"):
            assert contents(door.post("/v1/search", QUERY)) == ["Ada likes tea."]
        assert filler.wait(PATIENCE_SECONDS)
        with growth("imprint_search_reads_total", kind="nothing") as cached, answered_by("replica"):
            assert contents(door.post("/v1/search", QUERY)) == ["Ada likes tea."]
    assert (uncached.by, cached.by) == (1, 1)


def test_what_a_replica_shows_of_an_erased_user_is_not_recorded(
    door: Doors, standby: Standby, replicated: Settings, app: Database
) -> None:
    add(door, "Ada likes tea.")
    door.post(
        "/v1/events",
        [said("I like black tea from Assam."), said("I like green tea from Japan.", user="bob", session="s2")],
    )
    standby.catch_up()
    with standby.paused():
        with app.tenant(TENANT) as tx:
            user_erasure.erase(tx, TENANT, "ada", PERSON, replicated)
        with answered_by("replica", 2):
            assert contents(door.post("/v1/search", QUERY)) == ["Ada likes tea.", "I like black tea from Assam."]
            assert contents(door.post("/v1/search", QUERY | {"user_id": "bob", "query": "tea"})) == [
                "I like green tea from Japan."
            ]
        door.client.app.state.deps.recalls.close()  # type: ignore[attr-defined]
    with app.tenant(TENANT) as tx:
        assert set(tx.execute(text("SELECT user_id FROM servings")).scalars()) == {"bob"}


def test_without_a_replica_there_are_no_positions(settings: Settings) -> None:
    with opened(settings) as door:
        answer = door.post("/v1/search", QUERY, headers={HEADER: "nothing"})
    assert answer.status_code == 200
    assert HEADER not in answer.headers
