"""Erasing as the tests do it, and looking for what should be gone."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from core.config import Settings
from core.erasure import group as erasure_group
from core.erasure import memory, names
from core.erasure import user as erasure_user
from core.erasure.memory import Erased
from core.events.publishing import Author
from core.extraction import rule_extractor
from core.memory.changes import Derive, Part
from core.storage import tables
from core.storage.db import Database
from core.types import Category, DispatchStatus, Json, Message
from rules.registry import store
from tests.core.changing import Bench, an_add
from tests.factories import a_candidate
from tests.rules.samples import a_document
from tests.samples import NOON, TENANT, accept_all, ended, event, said
from tests.works import Works
from workers.dispatch import insertion, model

AUTHOR = Author("key:test")


def a_word() -> str:
    """A word of syllables that occurs nowhere else, and that the rules keep from "I keep … at home.".

    Of one with digits readers take parts, and none without vowels. By its letters one in fifty makes the sentence look
    like small talk: another is drawn.
    """
    return next(word for word in iter(_syllables, "") if _is_kept(word))


def _syllables() -> str:
    digits = [int(digit, 16) for digit in uuid4().hex[:12]]
    pairs = zip(digits[::2], digits[1::2], strict=True)
    return "".join("bcdfghjklmnprstv"[one] + "aeiou"[other % 5] for one, other in pairs) + "k"


def _is_kept(word: str) -> bool:
    said_alone = Message("s1", "m1", 1, "e1", "ada", "user", f"I keep {word} at home.", datetime.fromisoformat(NOON))
    return any(word in candidate.content for candidate in rule_extractor.extract([said_alone]))


def erased(app: Database, memory_id: UUID, *, evidence: bool = False) -> Erased:
    with app.tenant(TENANT) as tx:
        return memory.erase(tx, TENANT, memory_id, AUTHOR, evidence=evidence)


def user_erased(app: Database, settings: Settings, user: str = "ada") -> Erased:
    with app.tenant(TENANT) as tx:
        return erasure_user.erase(tx, TENANT, user, AUTHOR, settings)


def group_erased(app: Database, group: str) -> Erased:
    with app.tenant(TENANT) as tx:
        return erasure_group.erase(tx, TENANT, group, AUTHOR)


def holding(app: Database, word: str) -> list[str]:
    """The tables in which a row holds a word, in any column."""
    with app.tenant(TENANT) as tx:
        found = []
        for table in tables.TENANT_TABLES:
            query = text(f"SELECT count(*) FROM {table.name} t WHERE strpos(lower(t::text), lower(:word)) > 0")
            if tx.execute(query, {"word": word}).scalar_one():
                found.append(table.name)
        return found


def rows(app: Database, query: str, **values: Any) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text(query), values))


def told(app: Database, event_type: str) -> list[Json]:
    return [
        row.payload for row in rows(app, "SELECT payload FROM events WHERE event_type = :t ORDER BY seq", t=event_type)
    ]


def names_forgotten(app: Database) -> int:
    with app.tenant(TENANT) as tx:
        return names.forget(tx, TENANT)


def lived_in(app: Database, works: Works, user: str, word: str) -> None:
    """A user who has left their word in every table that can hold it; their name stands in their ids, too."""
    with app.tenant(TENANT) as tx:
        if all(one.document["name"] != "echoes" for one in store.in_force(tx)):
            store.save(tx, TENANT, a_document(**ECHOES), author="test")
    session = f"s-{user}"
    words = [f"I live in {word.capitalize()}.", f"I work at {word.capitalize()}.", "I play chess.", f"{word}, again"]
    spoken = [
        said(one, session=session, user=user, id=f"{user}-{n}", group_id=f"g-{word}") for n, one in enumerate(words)
    ]
    accept_all(app, [*spoken, ended(session, user, message_count=4, id=f"{user}-end")])
    works.settle()
    Bench(app, user).apply(an_add(f"Something of {word}.", importance=0.9))
    works.settle()
    accept_all(
        app, [event("order.placed", {"user_id": user, "word": word}), said(word, session=f"{session}-2", user=user)]
    )
    _by_hand(app, user, word)


def picture(app: Database, user: str) -> dict[str, list[str]]:
    """All rows in which a user is named."""
    with app.tenant(TENANT) as tx:
        return {
            table.name: list(
                tx.execute(
                    text(f"SELECT t::text FROM {table.name} t WHERE strpos(t::text, :user) > 0 ORDER BY 1"),
                    {"user": user},
                ).scalars()
            )
            for table in tables.TENANT_TABLES
        }


ECHOES: Json = {
    "name": "echoes",
    "event_type": ["message.added", "memory.created"],
    "flow": {"cooldown": {"seconds": 3600, "key": ["payload.user_id", "payload.content"]}},
    "actions": [{"action_type": "emit", "event_type": "said.again", "payload": {"words": "{{payload.content}}"}}],
}
"""A rule that leaves what was said in parameters, events and keys."""


def _by_hand(app: Database, user: str, word: str) -> None:
    """What other parts of the service write."""
    letter = model.NewDispatch(
        tenant_id=TENANT,
        action_type="accept",
        target="bus",
        queue="io",
        params={"body": json.dumps({"user_id": user, "content": word})[:-1]},
        event_seq=None,
        root_seq=0,
        correlation_id="",
        hop=0,
        status=DispatchStatus.DEAD,
        error="It is no JSON.",
    )
    shadow = f"rebuild-{uuid4().hex}"
    values = {"t": TENANT, "u": user, "w": word, "id": uuid4(), "at": NOON, "shadow": shadow}
    with app.tenant(TENANT) as tx:
        insertion.insert(tx, [letter], resend_s=0)
        for statement in BY_HAND.split(";\n"):
            tx.execute(text(statement), values)
    with app.tenant(shadow) as tx:
        tx.execute(text("INSERT INTO tenants (id) VALUES (:shadow)"), values)
        tx.execute(text("INSERT INTO profiles (tenant_id, owner, version) VALUES (:shadow, :u, 1)"), values)


BY_HAND = """
    INSERT INTO profiles VALUES (:t, 'user:' || :u, 1, jsonb_build_object('city', cast(:w AS text)))
        ON CONFLICT DO NOTHING;
    INSERT INTO mirrors (tenant_id, user_id, file, content) VALUES (:t, :u, 'memory.md', :w) ON CONFLICT DO NOTHING;
    INSERT INTO notices (tenant_id, id, channel, digest, text, user_id, event_id, due_at)
        VALUES (:t, :id, 'log', 'd', :w, :u, 'e', :at);
    INSERT INTO servings (tenant_id, user_id, hash) VALUES (:t, :u, 'h');
    INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status, difference)
        VALUES (:t, :id, :u, :shadow, 'ready', jsonb_build_object('added', cast(:w AS text)));
    INSERT INTO replays (tenant_id, id, mode, status, params, cursor, upto)
        SELECT :t, :id, 'live', 'running', jsonb_build_object('filter', jsonb_build_object('user_id', f.u)), 0, 0
        FROM (SELECT cast(:u AS text) AS u) AS f;
    INSERT INTO replay_decisions (tenant_id, replay_id, event_seq, rule, version, verdict)
        SELECT :t, :id, seq, 'r', 1, 'fired' FROM events WHERE user_id = :u;
    INSERT INTO schedules (tenant_id, rule, schedule, fired_to, due_at, page_after)
        VALUES (:t, 'r-' || cast(:id AS text), '{}', :at, :at, :u);
    INSERT INTO verdicts (tenant_id, id, user_id, kind, reason, candidate)
        VALUES (:t, :id, :u, 'ignore', :w, jsonb_build_object('content', cast(:w AS text)));
    UPDATE dispatches SET error = :w WHERE event_seq IN (SELECT seq FROM events WHERE user_id = :u);
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, answer)
        SELECT :t, id, 'm', 'p', 'unusable', :w FROM dispatches
        WHERE event_seq IN (SELECT seq FROM events WHERE user_id = :u) LIMIT 1
"""


def _drawn(bench: Bench, *, retires: bool, unique: str) -> tuple[UUID, UUID, UUID]:
    one, other = an_add(f"Ada keeps {unique}."), an_add("Ada keeps bees.", 1)
    bench.apply(one, other)
    whole = a_candidate(f"Ada keeps {unique} and bees.", 2, category=Category.PATTERN)
    derive = Derive(whole, [Part(one.id, 1), Part(other.id, 1)], "drawn", retires=retires)
    bench.apply(derive)
    return one.id, other.id, derive.id


COMPOUND = "I moved to Lisbon in May and I am allergic to {}."
