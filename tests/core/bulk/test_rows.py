"""The next rows of a bulk job, carried out in one transaction: each by the rules of its single route."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from api.ingress import error_responses
from core.bulk import jobs, rows
from core.bulk.rows import RowPage
from core.config import Settings
from core.consolidation import manual_merge
from core.errors import Conflict, ImprintError, Invalid
from core.events.publishing import Author
from core.memory import memories, receipts
from core.memory.changes import Add, Derive, Part
from core.storage.db import Database
from core.types import Json
from tests.core.bulk.asking import CONTENTS, a_job, begin, rows_of, standing, stored
from tests.factories import EMBEDDER, PERSON, a_candidate, a_memory, carry_out, changes_of, events_since, memory_row
from tests.samples import TENANT, accept, said

WORKER = Author("bulk_changer", rule="change_on_request", rule_version=3)


def work(app: Database, settings: Settings, job_id: UUID, merge: Any = None) -> Json:
    """Carry out the next page of a job."""
    page = RowPage(TENANT, job_id, receipts.signer(settings), merge)
    with app.tenant(TENANT) as tx:
        return page.write(tx, WORKER)


def prepared(app: Database, adds: Sequence[Add], content: str | None = None) -> Any:
    try:
        return manual_merge.prepare(app, EMBEDDER, TENANT, [add.id for add in adds], content=content)
    except ImprintError as error:
        return error


def told(app: Database, job_id: UUID) -> list[tuple[str, int, str | None]]:
    return [(row.outcome, row.status, row.detail) for row in rows_of(app, job_id)]


def completed(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        return [event.payload for event in events_since(tx, 0, 1000) if event.event_type == jobs.COMPLETED]


def of(adds: Sequence[Add], version: int | None = 1) -> list[jobs.ChosenRow]:
    return [(add.id, version) for add in adds]


def test_each_row_has_the_outcome_that_its_single_route_would_have_had(app: Database, settings: Settings) -> None:
    one, two, three = stored(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET pinned = true WHERE id = :id"), {"id": two.id})
    job_id = begin(app, a_job("pin", params={"reason": "Dear."}), [*of([one, two]), (three.id, 2), (uuid4(), None)])
    assert work(app, settings, job_id) == {"left": 0, "more": False, "changes": {"pinned": 1}}
    outcomes = told(app, job_id)
    assert [row[:2] for row in outcomes] == [("done", 200), ("unchanged", 200), ("refused", 409), ("refused", 404)]
    assert "at version 1 now, not 2" in str(outcomes[2][2])
    assert [memory_row(app, add.id).pinned for add in (one, two, three)] == [True, True, False]
    with app.tenant(TENANT) as tx:
        version = memories.history(tx, one.id)[-1]
    assert (version.reason, version.change_id) == ("Dear.", rows_of(app, job_id)[0].change_id)
    author = {"name": PERSON.name, "rule": WORKER.rule, "rule_version": WORKER.rule_version}
    assert version.author == author, "the person asked for it, by a rule"


def test_a_job_ends_with_its_last_row_and_says_how_many_became_what(app: Database, settings: Settings) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("archive"), [*of(adds), (uuid4(), None)])
    work(app, settings, job_id)
    row = standing(app, job_id).row
    assert (row.status, row.ended_at is not None) == ("done", True)
    assert completed(app) == [{"job_id": str(job_id), "action": "archive", "done": 3, "unchanged": 0, "refused": 1}]


@pytest.mark.parametrize(("action", "kind"), [("pin", "pinned"), ("archive", "archived"), ("erase", "")])
def test_a_preview_tells_the_outcome_of_each_row_and_changes_nothing(
    app: Database, settings: Settings, action: jobs.Action, kind: str
) -> None:
    adds = stored(app)
    job_id = begin(app, a_job(action, preview=True), [*of(adds), (uuid4(), None)])
    assert work(app, settings, job_id) == {"left": 0, "more": False, "changes": {}}
    assert [row[:2] for row in told(app, job_id)] == [("done", 200)] * 3 + [("refused", 404)]
    assert all(row.change_id is None and row.receipt_id is None for row in rows_of(app, job_id))
    assert [changes_of(app, add.id) for add in adds] == [["add"]] * 3
    assert completed(app) == []
    assert standing(app, job_id).row.status == "done"
    assert kind or standing(app, job_id).counts["memories"] == 3


def test_a_page_takes_so_many_rows_and_the_next_one_goes_on(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PAGE", 2)
    adds = stored(app)
    job_id = begin(app, a_job("archive"), of(adds))
    assert work(app, settings, job_id) == {"left": 1, "more": True, "changes": {"archived": 2}}
    assert standing(app, job_id).row.status == "running"
    assert [memory_row(app, add.id).status for add in adds] == ["archived", "archived", "active"]
    assert work(app, settings, job_id) == {"left": 0, "more": False, "changes": {"archived": 1}}
    assert completed(app) == [{"job_id": str(job_id), "action": "archive", "done": 3, "unchanged": 0, "refused": 0}]


def test_a_page_whose_time_is_over_begins_no_further_row(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SECONDS", 1e-9)
    job_id = begin(app, a_job("archive"), of(stored(app)))
    assert work(app, settings, job_id)["left"] == 3
    monkeypatch.setattr(rows, "SECONDS", 60)
    assert work(app, settings, job_id)["left"] == 0


@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_a_job_that_has_ended_is_left_alone(app: Database, settings: Settings, status: str) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("archive"), of(adds))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE bulk_jobs SET status = :status"), {"status": status})
    assert work(app, settings, job_id) == {"job": "ended", "more": False}
    assert [memory_row(app, add.id).status for add in adds] == ["active"] * 3


def test_an_erasure_has_a_receipt_for_each_row_and_keeps_no_words(app: Database, settings: Settings) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("erase"), of(adds))
    work(app, settings, job_id)
    with app.tenant(TENANT) as tx:
        assert memories.of_ids(tx, [add.id for add in adds]) == {}
        for row in rows_of(app, job_id):
            receipt = receipts.get(tx, row.receipt_id)
            assert (receipt.body["scope"], receipt.body["requested_by"]) == ("memory", PERSON.name)
        kept = str(tx.execute(text("SELECT string_agg(r::text, ' ') FROM bulk_rows r")).scalar_one())
    assert not any(content in kept for content in CONTENTS)
    assert standing(app, job_id).counts["memories"] == 3


@pytest.mark.parametrize(("preview", "words"), [(True, "Goes with"), (False, "Went with")])
def test_what_goes_with_an_earlier_row_is_erased_once(
    app: Database, settings: Settings, preview: bool, words: str
) -> None:
    part, other = stored(app, "Ada swims on Mondays.", "Ada has a cat.")
    whole = Derive(a_candidate("Ada swims."), [Part(part.id, 1)], "a pattern")
    carry_out(app, whole)
    version = memory_row(app, part.id).version
    chosen = [(part.id, version), (whole.id, None), (other.id, None)]
    job_id = begin(app, a_job("erase", preview=preview), chosen)
    work(app, settings, job_id)
    first, second, third = rows_of(app, job_id)
    assert set(first.erased) == {part.id, whole.id}
    assert (second.outcome, second.with_id, second.detail) == ("done", part.id, f"{words} {part.id}.")
    assert (second.receipt_id, third.with_id) == (first.receipt_id, None)
    assert standing(app, job_id).along == 0, "both were chosen"


def test_an_erasure_refuses_a_row_at_another_version(app: Database, settings: Settings) -> None:
    [one] = stored(app, "Ada has a cat.")
    job_id = begin(app, a_job("erase"), [(one.id, 9)])
    work(app, settings, job_id)
    assert [row[:2] for row in told(app, job_id)] == [("refused", 409)]
    assert memory_row(app, one.id).status == "active"


@pytest.mark.parametrize(("params", "left"), [({}, "Ada has a cat."), ({"evidence": True}, "")])
def test_cited_messages_are_blanked_only_where_it_was_asked_for(
    app: Database, settings: Settings, params: Json, left: str
) -> None:
    accept(app, said("Ada has a cat.", message_id="Ada has a cat."))
    [one] = stored(app, "Ada has a cat.")
    job_id = begin(app, a_job("erase", params=params), of([one]))
    work(app, settings, job_id)
    assert told(app, job_id) == [("done", 200, None)]
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT content FROM messages")).scalar_one() == left


def test_a_merge_is_one_change_of_all_rows(app: Database, settings: Settings) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("merge"), of(adds))
    merge = prepared(app, adds, "Ada has a cat, a cello and an allergy.")
    result = work(app, settings, job_id, merge)
    assert (result["left"], result["changes"]) == (0, {"merged": 2})
    assert told(app, job_id) == [
        ("done", 200, "Kept, with the evidence of all."),
        ("done", 200, "Absorbed by the first."),
        ("done", 200, "Absorbed by the first."),
    ]
    assert {row.change_id for row in rows_of(app, job_id)} == {merge.change_id}
    assert [memory_row(app, add.id).status for add in adds] == ["active", "archived", "archived"]
    assert memory_row(app, adds[0].id).content == "Ada has a cat, a cello and an allergy."


def test_a_preview_of_a_merge_changes_nothing(app: Database, settings: Settings) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("merge", preview=True), of(adds))
    assert work(app, settings, job_id, prepared(app, adds))["changes"] == {}
    assert [row[:2] for row in told(app, job_id)] == [("done", 200)] * 3
    assert {row.change_id for row in rows_of(app, job_id)} == {None}
    assert [memory_row(app, add.id).status for add in adds] == ["active"] * 3


def test_memories_that_cannot_be_merged_are_all_refused(app: Database, settings: Settings) -> None:
    [one] = stored(app, "Ada has a cat.")
    labelled = a_memory("Ada has a dog.", audience_labels=("hr",))
    carry_out(app, labelled)
    job_id = begin(app, a_job("merge"), of([one, labelled]))
    error = prepared(app, [one, labelled])
    assert isinstance(error, Invalid)
    assert work(app, settings, job_id, error)["left"] == 0
    assert told(app, job_id) == [("refused", 422, error.detail)] * 2


@pytest.mark.parametrize("versions", [(1, 7), (7, 1)])
def test_a_merge_of_a_memory_at_another_version_is_refused_whole(
    app: Database, settings: Settings, versions: tuple[int, int]
) -> None:
    adds = stored(app, "Ada has a cat.", "Ada has a dog.")
    job_id = begin(app, a_job("merge"), [(add.id, version) for add, version in zip(adds, versions, strict=True)])
    work(app, settings, job_id, prepared(app, adds))
    assert [row[:2] for row in told(app, job_id)] == [("refused", 409)] * 2
    assert [memory_row(app, add.id).status for add in adds] == ["active", "active"]


def test_a_merge_that_nobody_prepared_is_refused(app: Database, settings: Settings) -> None:
    job_id = begin(app, a_job("merge"), of(stored(app)))
    work(app, settings, job_id)
    assert told(app, job_id) == [("refused", 409, "The merge was not prepared.")] * 3


def test_what_fails_otherwise_takes_the_whole_page_back(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    adds = stored(app)
    job_id = begin(app, a_job("erase"), of(adds))
    sign = receipts.issue
    issued: list[Any] = []

    def third_fails(*given: Any, **more: Any) -> Any:
        issued.append(given)
        if len(issued) == 3:
            raise KeyError("words")
        return sign(*given, **more)

    monkeypatch.setattr(receipts, "issue", third_fails)
    with pytest.raises(KeyError):
        work(app, settings, job_id)
    assert told(app, job_id) == [(None, None, None)] * 3
    assert [memory_row(app, add.id).status for add in adds] == ["active"] * 3
    monkeypatch.undo()
    assert work(app, settings, job_id)["left"] == 0


def test_a_refused_row_has_the_status_that_the_single_route_answers() -> None:
    assert {kind: error_responses.STATUS[kind] for kind in rows.STATUS} == dict(rows.STATUS)
    assert Conflict in rows.STATUS
