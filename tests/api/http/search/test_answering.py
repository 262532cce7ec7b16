"""`POST /v1/answer`: a question answered from what is remembered, or not known."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from core.answering import answer as answering
from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of, opened
from tests.faults.model import serving
from tests.samples import TENANT, accept, said
from tests.works import Works

PATH = "/v1/answer"
WHERE = "Where does Ada live?"
HOME = "Ada live where: in Porto."
"""Near the question by its words: the embedder of tests knows no meaning."""


def stated(door: Doors, content: str, **more: Any) -> str:
    answer = door.post("/v1/memories", {"user_id": "ada", "content": content, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["memory"]["id"])


def ask(door: Doors, question: str = WHERE, **more: Any) -> Json:
    answer = door.post(PATH, {"user_id": "ada", "question": question, **more})
    assert answer.status_code == 200, answer.text
    given: Json = answer.json()
    return given


def test_a_statement_answers_word_for_word_with_its_source(door: Doors) -> None:
    home = stated(door, HOME)
    stated(door, "Ada has a dog called Bruno.")
    given = ask(door)
    assert (given["answer"], given["outcome"], given["by"], given["note"]) == (HOME, "answered", "statement", None)
    assert ([source["id"] for source in given["sources"]], given["model"]) == ([home], None)
    assert given["certainty"] >= 0.5


def test_a_message_answers_before_it_has_become_a_memory(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("Where do I live? I live in Porto.", speaker="Ada"))
    works.settle()
    given = ask(door, "Where do I live?")
    assert (given["answer"], given["sources"][0]["type"]) == ("Where do I live? I live in Porto.", "message")


def test_a_statement_under_another_name_answers(door: Doors) -> None:
    stated(door, "Evelyn is Ada's mother.")
    told = stated(door, "Evelyn is allergic to nuts and what not.")
    given = ask(door, "What is my mother allergic to?", min_certainty=0)
    assert [source["id"] for source in given["sources"]] == [told]


def test_what_was_never_told_is_not_known(door: Doors) -> None:
    assert ask(door)["certainty"] is None
    stated(door, "Ada's brother lives in Rome.")
    stated(door, "Ada has a dog called Bruno.")
    given = ask(door, "Which dentist?")
    assert (given["answer"], given["outcome"], given["sources"]) == (None, "unknown", [])
    assert given["certainty"] < 0.5


def test_the_certainty_asked_for_decides(door: Doors) -> None:
    stated(door, HOME)
    assert ask(door, min_certainty=1.0)["outcome"] == "unknown"
    assert ask(door, "Which dentist?", min_certainty=0.0)["outcome"] == "answered"


def test_a_superseded_value_is_no_answer(door: Doors) -> None:
    stated(door, "Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    new = stated(door, "Ada lives in Porto.", attribute="home.city", value="Porto")
    assert [source["id"] for source in ask(door)["sources"]] == [new]


def test_a_hidden_message_answers_nothing(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("Where do I live? I live in Porto.", speaker="Ada", message_id="m1"))
    works.settle()
    assert ask(door, "Where do I live?")["sources"][0]["id"] == "m1"
    assert door.post("/v1/sessions/s1/messages/m1/hide", {}).is_success
    assert "m1" not in [source["id"] for source in ask(door, "Where do I live?", min_certainty=0)["sources"]]


def test_a_model_that_takes_too_long_is_stood_in_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SECONDS", 0.2)
    with serving() as model:
        model.script, model.slow_seconds = ["slow"], 30.0
        with opened(settings.model_copy(update={"llm_base_url": model.url})) as door:
            stated(door, HOME)
            given = ask(door)
    assert (given["answer"], given["by"], bool(given["note"])) == (HOME, "statement", True)
    assert given["took_ms"] < 20_000


def test_nothing_of_another_tenant_user_or_audience_answers(door: Doors, settings: Settings) -> None:
    stated(door, HOME, audience_labels=["family"])
    assert ask(door)["outcome"] == "unknown"
    assert ask(door, reader_labels=["family"])["outcome"] == "answered"
    assert ask(door, user_id="bob")["outcome"] == "unknown"
    answer = door.post(PATH, {"user_id": "ada", "question": WHERE, "reader_labels": ["*"]}, tenant=OTHER)
    assert answer.json()["outcome"] == "unknown"


def test_a_model_answers_in_its_words_and_is_counted(settings: Settings) -> None:
    with serving() as model:
        model.answers = lambda _: {"answerable": True, "answer": "In Porto, since June.", "lines": [1]}
        chosen = {"llm_base_url": model.url, "llm_input_price": 1.0}
        with opened(settings.model_copy(update=chosen)) as door:
            home = stated(door, HOME)
            given = ask(door)
            costs = door.get("/v1/costs").json()["total"]
            reader = key_of(settings, TENANT, ("read",))
            plain = door.post(PATH, {"user_id": "ada", "question": WHERE}, key=reader).json()
            refused = door.post(PATH, {"user_id": "ada", "question": WHERE, "by": "model"}, key=reader)
    assert (given["answer"], given["by"], given["certainty"]) == ("In Porto, since June.", "model", None)
    assert [source["id"] for source in given["sources"]] == [home]
    assert given["model"]["calls"] == costs["calls"] == 1
    assert (plain["by"], plain["answer"], refused.status_code) == ("statement", HOME, 403)


@pytest.mark.parametrize("script", ["500", "garbage"])
def test_a_statement_stands_in_for_a_model_that_fails(settings: Settings, script: str) -> None:
    with serving() as model:
        model.script = [script] * 20
        with opened(settings.model_copy(update={"llm_base_url": model.url})) as door:
            stated(door, HOME)
            given = ask(door, by="model")
    assert (given["answer"], given["by"]) == (HOME, "statement")
    assert given["note"]


def test_a_spent_budget_asks_no_model(settings: Settings, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        call = "INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, outcome)"
        tx.execute(text(f"{call} VALUES (:t, uuidv7(), 'm', 'p', 7, 'ok')"), {"t": TENANT})
    with serving() as model:
        with opened(settings.model_copy(update={"llm_base_url": model.url, "llm_tokens_per_day": 1})) as door:
            stated(door, HOME)
            given = ask(door)
        assert model.questions == []
    assert (given["answer"], given["by"], "used" in given["note"]) == (HOME, "statement", True)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"question": WHERE}, "/user_id"),
        ({"user_id": "ada"}, "/question"),
        ({"user_id": "ada", "question": ""}, "/question"),
        ({"user_id": "ada", "question": "x" * 1_001}, "/question"),
        ({"user_id": "ada", "question": WHERE, "by": "model"}, "/by"),
        ({"user_id": "ada", "question": WHERE, "by": "magic"}, "/by"),
        ({"user_id": "ada", "question": WHERE, "min_certainty": 2}, "/min_certainty"),
        ({"user_id": "ada", "question": WHERE, "audience": "group"}, "/audience"),
        ({"user_id": "ada", "question": WHERE, "limit": 3}, "/limit"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place(door: Doors, body: Json, pointer: str) -> None:
    refused = door.post(PATH, body)
    assert (refused.status_code, [one["pointer"] for one in refused.json()["errors"]]) == (422, [pointer])
