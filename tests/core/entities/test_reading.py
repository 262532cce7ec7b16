"""Entities by what is stored, and for whom."""

from __future__ import annotations

from core.memory.changes import Edit
from core.sessions import hidden_messages
from core.storage.db import Database
from core.types import Trust
from tests.core.changing import PERSON, Bench, an_add
from tests.core.entities.introducing import bearer
from tests.samples import TENANT, accept, ended, said
from tests.works import Works


def test_messages_and_memories_introduce_people(app: Database, works: Works, bench: Bench) -> None:
    accept(app, said("My sister Nora moved to Lyon.", speaker="Ada"), ended())
    works.settle()
    bench.apply(an_add("Ada's boss is Graham Miller."))
    assert (bearer(app, "my sister"), bearer(app, "my boss")) == ("Nora", "Graham Miller")
    assert bearer(app, "my sister", "bob") is None


def test_where_several_speak_as_one_user_nobodys_sister_is_the_users(app: Database, works: Works) -> None:
    accept(app, said("My sister Nora sings.", speaker="Ada"), said("My sister Kim dances.", speaker="Jonas"))
    works.settle()
    assert (bearer(app, "Ada's sister"), bearer(app, "Jonas's sister")) == ("Nora", "Kim")
    assert bearer(app, "my sister", "jonas") is None


def test_what_an_assistant_says_introduces_nobody(app: Database, works: Works) -> None:
    accept(app, said("Your sister Nora called. My sister Kim, too.", role="assistant"))
    works.settle()
    assert bearer(app, "my sister") is None


def test_a_hidden_message_and_a_rejected_memory_introduce_nobody(app: Database, works: Works, bench: Bench) -> None:
    accept(app, said("By the way, my colleague Nora sings.", message_id="m1"))
    works.settle(flush=False)
    assert bearer(app, "my colleague") == "Nora"
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", "m1", PERSON)
    add = an_add("Ada's boss is Graham Miller.")
    bench.apply(add)
    bench.apply(Edit(add.id, 1, {"trust": Trust.REJECTED.value}, "wrong"))
    assert (bearer(app, "my colleague"), bearer(app, "my boss")) == (None, None)


def test_other_names_that_come_with_a_memory_count_and_may_be_edited(app: Database, bench: Bench) -> None:
    add = an_add("Caz moved out.", subject="Caz", structured={"also": ["Caroline", "my sister"]})
    bench.apply(add)
    assert bearer(app, "Caroline") == bearer(app, "my sister") == "Caroline"
    bench.apply(Edit(add.id, 1, {"structured": {}}, "not her"))
    assert bearer(app, "Caroline") is None


def test_who_may_not_read_a_text_does_not_learn_its_names(app: Database, works: Works) -> None:
    accept(app, said("My sister Nora is ill.", audience_labels=["family"]))
    works.settle()
    assert bearer(app, "my sister") == "Nora"
    assert bearer(app.as_reader(["family"]), "my sister") == "Nora"
    assert bearer(app.as_reader([]), "my sister") is None
