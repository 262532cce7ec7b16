from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from api.http.memories import provenance
from api.http.memories.answers import ModelCall
from core.errors import NotFound
from core.memory.changes import Edit
from core.storage.db import Database
from core.types import Json
from tests.core.expiry.sweeping import choose, swept
from tests.factories import a_memory, carry_out, memory_row
from tests.samples import TENANT, accept, ended, said
from tests.works import Works


def of(app: Database, memory_id: UUID) -> Json:
    with app.tenant(TENANT) as tx:
        return provenance.of(tx, memory_id)


def learnt(app: Database, works: Works) -> UUID:
    accept(app, said("I live in Lisbon.", message_id="m1"), ended(message_count=1))
    works.settle()
    with app.tenant(TENANT) as tx:
        found: UUID = tx.execute(text("SELECT id FROM memories WHERE attribute = 'home.city'")).scalar_one()
    return found


def test_each_step_names_the_rule_the_dispatch_and_the_event_that_led_to_it(app: Database, works: Works) -> None:
    shown = of(app, learnt(app, works))
    assert [one["message_id"] for one in shown["memory"]["sources"]] == ["m1"]
    step = shown["steps"][0]
    assert (step["change"], step["version"]) == ("add", 1)
    assert step["rule"]["name"] == step["dispatch"]["rule"]
    assert step["rule"]["version"] >= 1
    assert step["event"]["event_type"] in {"session.ended", "message.added"}


def test_a_step_of_a_person_has_an_author_and_neither_event_nor_dispatch(app: Database) -> None:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    carry_out(app, Edit(add.id, memory_row(app, add.id).version, {"importance": 0.9}, "sure"))
    for step in of(app, add.id)["steps"]:
        assert step["author"]["name"] == "key:1"
        assert not {"event", "dispatch", "rule", "model_calls", "snapshot"} & step.keys()


def test_the_answer_of_a_model_is_not_shown(app: Database, works: Works) -> None:
    memory = learnt(app, works)
    call = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, answer)
        SELECT tenant_id, dispatch_id, 'm', 'extract.1', 'misshapen', 'I live on the moon.'
        FROM memory_versions WHERE memory_id = :id AND version = 1
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(call), {"id": memory})
    (made,) = of(app, memory)["steps"][0]["model_calls"]
    assert (made["model"], made["outcome"]) == ("m", "misshapen")
    assert "moon" not in str(made)
    assert made.keys() == ModelCall.model_fields.keys(), "as declared"


def test_a_memory_that_is_not_there_is_not_found(app: Database) -> None:
    with pytest.raises(NotFound):
        of(app, UUID(int=7))


def test_a_source_that_has_left_says_so_and_so_does_a_dispatch(app: Database, works: Works) -> None:
    memory = learnt(app, works)
    assert [one["expired"] for one in of(app, memory)["memory"]["sources"]] == [False]
    choose(app, messages_days=1)
    assert swept(app)["messages"] == 1
    (source,) = of(app, memory)["memory"]["sources"]
    assert (source["expired"], source["message_id"], source["quote"]) == (True, "m1", "I live in Lisbon.")
    step = of(app, memory)["steps"][0]
    assert step["event"]["payload"]["expired"] is True
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM dispatches"))
    step = of(app, memory)["steps"][0]
    assert step["expired"] is True
    assert "dispatch" not in step
