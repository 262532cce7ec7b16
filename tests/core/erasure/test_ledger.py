"""Erasures that a restored database lacks are repeated on it, without a word of them on record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import ledger, resumption, session
from core.errors import Conflict, Misconfigured
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.memory import receipts, tombstones
from core.storage import db, schema
from core.storage.db import Database
from rules.registry import defaults, store
from tests.core.erasing import a_word, holding, rows
from tests.databases import beside, copied
from tests.doors import key_of, opened
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works, at_work

WORDS = {name: a_word() for name in ("user", "memory", "evidence", "session", "group", "request", "kept")}


def talk() -> list[dict[str, Any]]:
    """What is said before the backup: a word of its own in each session."""
    lines = []
    for name, word in WORDS.items():
        more = {"group_id": "crew", "speaker": "Eve"} if name == "group" else {}
        whose = f"u-{name}"
        lines += [said(f"I keep {word} at home.", session=f"s-{name}", user=whose, message_id=name, **more)]
        lines += [ended(f"s-{name}", whose)]
    return lines


@contextmanager
def installation(settings: Settings) -> Iterator[Settings]:
    """A database of its own, in which requests to forget are carried out at once."""
    with beside(settings) as own:
        schema.upgrade(own, (HashEmbedder().name, HashEmbedder().dimension))
        key_of(own, TENANT)
        with closing(db.connect(db.app_url(own), 1)) as app, app.tenant(TENANT) as tx:
            rule = next(rule for rule in defaults.load() if rule["name"] == "find_forget_requests")
            at_once = {"actions": [rule["actions"][0] | {"params": {"mode": "at_once"}}]}
            store.save(tx, TENANT, rule | at_once, author="test")
        yield own


@contextmanager
def open_app(settings: Settings) -> Iterator[Database]:
    with closing(db.connect(db.app_url(settings), 2)) as app:
        yield app


def live(settings: Settings, documents: list[dict[str, Any]]) -> None:
    """Accept events and do all that follows."""
    with open_app(settings) as app, at_work(settings) as works:
        accept_all(app, documents)
        works.settle()


def memory_of(app: Database, name: str) -> str:
    return str(rows(app, "SELECT id FROM memories WHERE user_id = :user", user=f"u-{name}")[0].id)


def erase_everything(settings: Settings) -> list[str]:
    """Erase by every door, after the backup; return the ids of the receipts."""
    with opened(settings) as door, open_app(settings) as app:
        memory, evidence = (memory_of(app, name) for name in ("memory", "evidence"))
        answers = [
            door.ask("DELETE", path)
            for path in ("/v1/users/u-user", f"/v1/memories/{memory}", f"/v1/memories/{evidence}?evidence=true")
        ]
        answers += [door.ask("DELETE", path) for path in ("/v1/groups/crew", "/v1/sessions/s-session")]
        assert [answer.status_code for answer in answers] == [200] * 5
    asking = said(f"Forget {WORDS['request']}.", session="s-request", user="u-request", message_id="please")
    live(settings, [asking])
    return [answer.json()["receipt"]["id"] for answer in answers[:4]]


@pytest.fixture
def both(settings: Settings) -> Iterator[tuple[Settings, Settings, list[str]]]:
    """An installation in which much was erased, its copy of before, and the receipts."""
    with installation(settings) as own:
        live(own, talk())
        with copied(settings, own) as copy:
            yield own, copy, erase_everything(own)


def recorded(settings: Settings) -> list[str]:
    with open_app(settings) as app:
        return list(ledger.record(app, [TENANT], datetime.now(UTC)))


def repeated(settings: Settings, lines: list[str], *, in_use: bool = False) -> Counter[str]:
    with open_app(settings) as app:
        return ledger.repeat(app, settings, lines, in_use=in_use)


def test_what_was_erased_after_a_backup_is_erased_from_what_is_restored(
    both: tuple[Settings, Settings, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resumption, "SLACK", timedelta(0))
    own, copy, receipt_ids = both
    lines = recorded(own)
    assert [word for word in WORDS.values() if word in "".join(lines)] == [], "a record holds no word"
    with open_app(own) as app, open_app(copy) as restored:
        left = {name: holding(app, word) for name, word in WORDS.items()}
        assert all(holding(restored, word) for word in WORDS.values())
        assert left["user"] == left["evidence"] == left["group"] == left["request"] == []
        done = repeated(copy, lines, in_use=True)
        assert {name: holding(restored, word) for name, word in WORDS.items()} == left
    assert set(done) >= {"receipt", "session"}
    assert done["receipt"] >= 5
    again = said("I keep parrots.", session="s-session", user="u-session", message_id="again")
    with open_app(copy) as app:
        accept_all(app, [again])
    assert repeated(copy, lines, in_use=True) == Counter(), "a second time there is nothing to do"
    with open_app(copy) as app:
        assert [row.id for row in rows(app, "SELECT id FROM messages WHERE session_id = 's-session'")] == ["again"]
    with opened(copy) as door:
        answers = [door.get(f"/v1/receipts/{receipt_id}").json() for receipt_id in receipt_ids]
    key = receipts.signer(own).public_key
    assert all(receipts.verify(answer["receipt"], answer["signature"], key) for answer in answers)


def test_after_a_restore_only_what_a_user_says_anew_is_learnt_again(both: tuple[Settings, Settings, list[str]]) -> None:
    """Tombstones keep their times; with that of the restore, a user's would cover what they said in between."""
    own, copy, _ = both
    later = datetime.now(UTC).isoformat()
    repeated(copy, recorded(own))
    same = said(f"I keep {WORDS['memory']} at home.", session="s-new", user="u-memory", message_id="again")
    new = said(f"I keep {WORDS['kept']} at home.", session="s-later", user="u-user", message_id="l")
    live(copy, [same, ended("s-new", "u-memory"), {**new, "time": later}, ended("s-later", "u-user")])
    with open_app(copy) as restored:
        learnt = rows(restored, "SELECT user_id FROM memories WHERE category <> 'episode'")
    assert Counter(row.user_id for row in learnt) == Counter(
        {f"u-{name}": 1 for name in ("session", "request", "kept", "user") if name != "request"}
    )


def test_a_session_that_began_anew_after_its_erasure_is_kept(app: Database, settings: Settings) -> None:
    """The backup is from after the erasure, whose record reaches back a day further."""
    accept_all(app, [said("I keep cats.", session="s1", user="ada", message_id="old")])
    with app.tenant(TENANT) as tx:
        session.erase(tx, TENANT, "s1", Author("test"))
    accept_all(app, [said("I keep dogs.", session="s1", user="ada", message_id="new")])
    assert repeated(settings, recorded(settings)) == Counter()
    assert [row.content for row in rows(app, "SELECT content FROM messages")] == ["I keep dogs."]


NOW = datetime.now(UTC)
OLD = NOW - timedelta(hours=2)


def on_record(app: Database, kind: str, name: str) -> list[str]:
    """The record of an erasure an hour ago, which the database lacks because it was restored."""
    at = (NOW - timedelta(hours=1)).isoformat()
    entry: dict[str, Any] = {"kind": kind, "tenant": TENANT, "id": name, "event": "lost", "at": at}
    if kind not in {"session", "document"}:
        scope, _, evidence = kind.partition(" ")
        with app.tenant(TENANT) as tx:
            digest = tombstones.digest(tx, TENANT, scope, name)
        body = {"id": str(uuid4()), "scope": scope, "subject_hash": digest, "at": at}
        body["statement"] = receipts.STATEMENTS[kind if evidence else scope]
        entry = {"kind": "receipt", "tenant": TENANT, "body": body, "signature": "none"}
    return [json.dumps({"format": ledger.FORMAT}), json.dumps(entry)]


def age(app: Database, *message_ids: str) -> None:
    """Have messages come before the erasure on record."""
    with app.tenant(TENANT) as tx:
        for message_id in message_ids:
            tx.execute(_AGE, {"at": OLD, "id": message_id})


_AGE = text("UPDATE events SET received_at = :at WHERE payload ->> 'message_id' = :id")


@pytest.mark.parametrize(("kind", "name"), [("session", "s1"), ("user", "ada"), ("group", "crew")])
def test_in_a_database_that_was_used_an_erasure_leaves_alone_what_came_after_it(
    app: Database, settings: Settings, kind: str, name: str
) -> None:
    def tell(message_id: str) -> None:
        accept_all(app, [said("I keep cats.", session="s1", user="ada", group_id="crew", message_id=message_id)])

    def told() -> list[str]:
        return [row.id for row in rows(app, "SELECT id FROM messages ORDER BY id")]

    lines = on_record(app, kind, name)
    tell("old")
    age(app, "old")
    tell("young")
    for _ in range(2):  # Nothing says that it was done, so it is not left out the second time.
        with pytest.raises(Conflict, match=f"{kind} {name}"):
            repeated(settings, lines, in_use=True)
        assert told() == ["old", "young"]
    age(app, "young")
    assert repeated(settings, lines, in_use=True).total() == 1
    assert told() == []
    tell("young")
    assert repeated(settings, [*lines, *on_record(app, kind, name)[1:]], in_use=True)["session"] == 0
    assert told() == ["young"]


def test_a_document_that_replaced_the_erased_one_stays(app: Database, settings: Settings) -> None:
    with opened(settings) as door:
        body = {"title": "Cats", "content": "Cats purr.", "uri": "https://example.com/cats", "user_id": "ada"}
        document = door.ask("POST", "/v1/documents", json=body).json()["id"]
        assert repeated(settings, on_record(app, "document", document), in_use=True) == Counter()
        with app.tenant(TENANT) as tx:
            tx.execute(text("UPDATE documents SET created_at = :at, updated_at = :at"), {"at": OLD})
        assert repeated(settings, on_record(app, "document", document), in_use=True) == Counter(document=1)


def test_a_memory_that_a_new_message_supports_is_not_erased_with_that_message(
    app: Database, settings: Settings, works: Works
) -> None:
    accept_all(app, [said("I keep cats at home.", session="s1", user="ada", message_id="old"), ended("s1", "ada")])
    works.settle()
    memory = rows(app, "SELECT id FROM memories WHERE category <> 'episode'")[0].id
    lines = on_record(app, "memory with evidence", str(memory))
    with pytest.raises(Conflict, match=f"memory with evidence {memory}"):
        repeated(settings, lines, in_use=True)
    age(app, "old")
    assert repeated(settings, lines, in_use=True) == Counter(receipt=1)
    assert rows(app, "SELECT content FROM messages")[0].content == ""


def test_another_message_with_the_id_of_a_blanked_one_keeps_its_text(app: Database, settings: Settings) -> None:
    accept_all(app, [said("I keep [erased].", session="s1", user="ada", message_id="m1")])
    with app.tenant(TENANT) as tx:
        tx.execute(text(_A_RECEIPT), {"tenant": TENANT, "id": uuid4(), "scope": "request"})
    lines = [line for line in recorded(settings) if '"kind": "receipt"' not in line]
    with app.tenant(TENANT) as tx:
        session.erase(tx, TENANT, "s1", Author("test"))
    accept_all(app, [said("I keep dogs.", session="s1", user="ada", message_id="m1")])
    assert repeated(settings, lines) == Counter()
    assert rows(app, "SELECT content FROM messages")[0].content == "I keep dogs."


def test_a_message_that_lost_more_words_since_the_backup_loses_its_text(app: Database, settings: Settings) -> None:
    """What another request had blanked before does not hide that; nor is a message touched that has lost nothing."""
    before = {
        "more": "I keep [erased] and dogs.",
        "emptied": "I keep cats.",
        "same": "I keep [erased] and fish.",
    }
    after = {**before, "more": "I keep [erased] and [erased].", "emptied": ""}
    accept_all(app, [said(content, session="s1", user="ada", message_id=name) for name, content in before.items()])
    say(app, after)
    with app.tenant(TENANT) as tx:
        for scope in ("request", "memory"):
            values = {"tenant": TENANT, "id": uuid4(), "scope": scope}
            tx.execute(text(_A_RECEIPT), values)
    lines = [line for line in recorded(settings) if '"kind": "message"' in line]
    assert [word for word in ("keep", "cats", "fish") if word in "".join(lines)] == []
    say(app, before)
    assert repeated(settings, [json.dumps({"format": ledger.FORMAT}), *lines]) == Counter(message=2)
    left = {row.id: row.content for row in rows(app, "SELECT id, content FROM messages")}
    assert left == {"more": "[erased]", "emptied": "[erased]", "same": before["same"]}


_A_RECEIPT = "INSERT INTO receipts (tenant_id, id, scope, signature) VALUES (:tenant, :id, :scope, '')"


def say(app: Database, contents: dict[str, str]) -> None:
    with app.tenant(TENANT) as tx:
        for name, content in contents.items():
            values = {"id": name, "content": content}
            tx.execute(text("UPDATE messages SET content = :content WHERE id = :id"), values)


def test_subjects_of_receipts_are_hashed_once(app: Database, settings: Settings, works: Works) -> None:
    accept_all(app, [said("I keep cats.", session=f"s-{n}", user=f"u-{n}", message_id=f"m-{n}") for n in range(3)])
    works.settle()
    restored = ledger._Restored(settings)
    with app.tenant(TENANT) as tx:
        hashes = {f"u-{n}": tombstones.digest(tx, TENANT, "user", f"u-{n}") for n in range(3)}
        assert [restored.find(tx, TENANT, "user", hashed) for hashed in hashes.values()] == list(hashes)
        tx.execute(text("DELETE FROM owners"))
        assert restored.find(tx, TENANT, "user", hashes["u-0"]) == "u-0"
        assert restored.find(tx, TENANT, "user", "unknown") is None


def test_entries_of_a_tenant_that_began_after_the_backup_are_skipped(app: Database, settings: Settings) -> None:
    more: list[dict[str, Any]] = [
        {"kind": "receipt", "body": {"scope": "user", "subject_hash": "00"}, "signature": "none"},
        {"kind": "session", "id": "s1"},
        {"kind": "tombstone", "hash": "00", "at": datetime.now(UTC).isoformat()},
    ]
    lines = [json.dumps({"format": ledger.FORMAT}), *(json.dumps({"tenant": "newcomer", **entry}) for entry in more)]
    assert ledger.repeat(app, settings, lines) == Counter()


@pytest.mark.parametrize(
    ("lines", "number"), [([], 1), (["{}"], 1), (['{"format": "imprint-erasures/1"}', '{"kind": "cat"}'], 2)]
)
def test_what_is_no_record_is_refused_with_its_line(app: Database, settings: Settings, lines: Any, number: int) -> None:
    with pytest.raises(Misconfigured, match=f"Line {number}"):
        ledger.repeat(app, settings, lines)
