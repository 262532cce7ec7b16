from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from core.errors import Invalid
from core.events import parsing
from core.sessions import hidden_messages, pinned
from core.sessions.pinned import Pinned
from core.storage.db import Database
from tests.core.sessions.spoken import started
from tests.factories import PERSON
from tests.samples import TENANT, accept_all, said

BOT = "You are the bakery's assistant."


def read(app: Database, session: str = "s1", *, heard: bool = True, **reader: str) -> Pinned:
    with app.tenant(TENANT) as tx:
        return pinned.read(tx, session, reader, heard=heard)


def test_the_state_pins_a_system_prompt_and_a_task(app: Database) -> None:
    accept_all(app, [started(state={"pinned": {"system_prompt": BOT, "task": "Sell bread."}})])
    assert read(app) == Pinned(BOT, "Sell bread.")
    accept_all(app, [started(state={"pinned": {"task": None}})])
    assert read(app) == Pinned(BOT)


def test_a_first_message_of_the_system_is_its_prompt_unless_it_is_hidden(app: Database) -> None:
    accept_all(app, [said(BOT, role="system", message_id="m1"), said("Hi.", message_id="m2")])
    assert read(app) == Pinned(BOT, "", "m1")
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", "m1", PERSON, None)
    assert read(app) == pinned.NOTHING


def test_a_prompt_in_the_state_goes_before_another_one_in_the_first_message(app: Database) -> None:
    accept_all(app, [started(state={"pinned": {"system_prompt": "New."}}), said(BOT, role="system", message_id="m1")])
    assert read(app) == Pinned("New.")


def test_a_later_message_of_the_system_is_an_ordinary_one(app: Database) -> None:
    accept_all(app, [said("Hi."), said(BOT, role="system")])
    assert read(app) == pinned.NOTHING


def test_of_an_empty_session_only_its_owner_reads_them(app: Database) -> None:
    accept_all(app, [started(state={"pinned": {"task": "Sell bread."}})])
    assert read(app, heard=False, user="ada").task == "Sell bread."
    assert read(app, heard=False, user="bob") == pinned.NOTHING
    assert read(app, "nowhere") == pinned.NOTHING


def test_what_an_older_state_holds_under_the_name_pins_nothing(app: Database) -> None:
    accept_all(app, [said("Hi.")])
    with app.tenant(TENANT) as tx:
        tx.execute(text("""UPDATE sessions SET state = '{"pinned": ["a"]}' WHERE id = 's1'"""))
    assert read(app) == pinned.NOTHING


@pytest.mark.parametrize(
    ("texts", "pointer"),
    [
        ("x", "/0/payload/state/pinned"),
        ({"task": 3}, "/0/payload/state/pinned/task"),
        ({"goal": "x"}, "/0/payload/state/pinned/goal"),
    ],
)
def test_what_cannot_be_pinned_is_refused_with_its_place(texts: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        parsing.check([started(state={"pinned": texts})])
    assert [problem.pointer for problem in refused.value.problems] == [pointer]
