from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text

from core.errors import Conflict, Later, Never, NotFound
from core.events.publishing import Author
from core.language.terms import token_estimate
from core.sessions import hidden_messages
from core.storage.db import Database
from core.summaries import extractive, rolling
from core.summaries.rolling import PendingSummary, Summary, SummaryInput, SummaryLimits, Writer, by_rules
from core.types import Json
from tests.core.summaries.summed import a_message
from tests.factories import events_since
from tests.samples import TENANT, accept, accept_all, said

AUTHOR = Author("session_summarizer")
LIMITS = SummaryLimits(200, 8000)
SMALL = SummaryLimits(10, 1_000_000)


def due(
    app: Database, session: str = "s1", limits: SummaryLimits = LIMITS, write: Writer = by_rules
) -> PendingSummary | None:
    return rolling.session(app, TENANT, session, limits, write)


def written(app: Database, rolled: PendingSummary) -> Json:
    with app.tenant(TENANT) as tx:
        return rolled.write(tx, AUTHOR)


def settled(app: Database, limits: SummaryLimits = LIMITS, write: Writer = by_rules, session: str = "s1") -> list[Json]:
    """Summarise until nothing is due."""
    results = []
    while (rolled := due(app, session, limits, write)) is not None:
        results.append(written(app, rolled))
        assert rolled.more == (due(app, session, limits, write) is not None)
    return results


def last(app: Database, session: str = "s1") -> Summary | None:
    with app.tenant(TENANT) as tx:
        return rolling.latest(tx, session)


def the_last(app: Database, session: str = "s1") -> Summary:
    found = last(app, session)
    assert found is not None
    return found


def rows(app: Database) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text("SELECT * FROM summaries ORDER BY session_id, to_position")))


def told(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        return [e.payload for e in events_since(tx, 0, 10_000) if e.event_type == "session.summarized"]


def talk(count: int, first: int = 1, **more: Any) -> list[Json]:
    return [
        said(f"Topic {n} was about the harbour and {n % 7} boats.", message_id=f"m{n}", **more)
        for n in range(first, first + count)
    ]


# When, and how much


def test_a_session_is_summed_up_from_200_messages_on_and_its_second_half_stays(app: Database) -> None:
    accept_all(app, talk(199))
    assert due(app) is None
    accept_all(app, talk(1, 200))
    (result,) = settled(app)
    assert (result["to_position"], result["messages"]) == (100, 100)
    summary = the_last(app)
    assert (summary.to_position, summary.prompt) == (100, None)
    assert summary.content.startswith("2026-11-21\nada: Topic ")
    assert "Topic 150 " not in summary.content
    assert summary.token_count == token_estimate(summary.text) == result["tokens"]
    assert told(app) == [
        {"session_id": "s1", "user_id": "ada", "to_position": 100, "messages": 100, "tokens": summary.token_count}
    ]


def test_or_from_8000_tokens_on_where_half_of_the_tokens_is_the_half(app: Database) -> None:
    long = "The harbour of Porto had many boats on that day. " * 40
    tokens = token_estimate(long)
    accept_all(app, [*talk(12), *(said(long, message_id=f"l{n}") for n in range(8000 // tokens))])
    assert due(app) is None
    accept_all(app, [said(long, message_id="last")])
    (result,) = settled(app)
    assert result["to_position"] == 12 + (8000 // tokens + 1) // 2


def test_one_message_alone_is_never_summed_up_and_the_last_one_stays(app: Database) -> None:
    accept(app, said("The harbour had boats. " * 4000))
    assert due(app) is None
    accept(app, said("Nice."))
    (result,) = settled(app)
    assert result["to_position"] == 1
    accept(app, said("The harbour had boats. " * 4000))
    settled(app)
    assert the_last(app).to_position == 2


def test_when_it_grows_again_the_earlier_summary_is_folded_in(app: Database) -> None:
    accept_all(app, [said("My sister Zelda lives in Utrecht since 2019."), *talk(199)])
    settled(app)
    assert "Zelda" in the_last(app).content
    accept_all(app, talk(100, 300))
    (result,) = settled(app)
    assert (result["to_position"], result["messages"]) == (200, 100)
    assert "Zelda" in the_last(app).content
    assert any(f"Topic {n} " in the_last(app).content for n in range(101, 200))
    assert [row.to_position for row in rows(app)] == [100, 200]


def test_a_long_backlog_is_worked_off_in_steps_until_it_is_short_enough(app: Database) -> None:
    accept_all(app, talk(1000))
    results = settled(app)
    assert len(results) > 2
    assert 1000 - the_last(app).to_position < 200
    assert sum(one["messages"] for one in results) == the_last(app).to_position
    assert len(rows(app)) <= rolling.KEPT


def test_of_whom_nothing_is_known_there_is_none(app: Database) -> None:
    with pytest.raises(NotFound):
        due(app, "nowhere")
    accept_all(app, talk(3))
    assert last(app) is None


# Exactly once


def test_two_who_sum_up_at_once_write_one_summary(app: Database) -> None:
    accept_all(app, talk(200))
    one, other = due(app), due(app)
    assert one is not None
    assert other is not None
    together, outcomes = threading.Barrier(2), list[str]()

    def work(rolled: PendingSummary) -> None:
        together.wait(10)
        try:
            written(app, rolled)
            outcomes.append("written")
        except Conflict:
            outcomes.append("conflict")

    workers = [threading.Thread(target=work, args=(rolled,)) for rolled in (one, other)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sorted(outcomes) == ["conflict", "written"]
    assert (len(rows(app)), len(told(app)), due(app)) == (1, 1, None)


def test_what_was_thought_out_on_what_was_taken_back_meanwhile_is_not_written(app: Database) -> None:
    accept_all(app, talk(200))
    for change in (
        "UPDATE messages SET content = '' WHERE id = 'm7'",
        "INSERT INTO hidden_messages (tenant_id, session_id, message_id) VALUES ('acme', 's1', 'm8')",
        "DELETE FROM messages",
    ):
        rolled = due(app)
        assert rolled is not None
        with app.tenant(TENANT) as tx:
            tx.execute(text(change))
        with pytest.raises(Conflict):
            written(app, rolled)
    assert rows(app) == []


# What stands in it


def test_key_messages_stand_in_it_word_for_word_from_summary_to_summary(app: Database) -> None:
    first = [said("We decided to use PostgreSQL.", message_id="k1"), said("预算不能超过五千欧元。", message_id="k2")]
    accept_all(app, [*first, *talk(20)])
    settled(app, SMALL)
    accept_all(app, [said("I'll send you the report by Monday.", message_id="k3"), *talk(40, 100)])
    settled(app, SMALL)
    summary = the_last(app)
    assert [(one.message_id, one.kind, one.quote) for one in summary.key_messages] == [
        ("k1", "decision", "We decided to use PostgreSQL."),
        ("k2", "constraint", "预算不能超过五千欧元。"),
        ("k3", "commitment", "I'll send you the report by Monday."),
    ]
    assert "- [限制] ada：预算不能超过五千欧元。" in summary.text
    assert "We decided" not in summary.content


def test_what_is_hidden_silenced_or_a_prompt_is_not_told_and_tools_only_shortly(app: Database) -> None:
    accept_all(
        app,
        [
            said("The password of the safe is 4711.", message_id="secret"),
            said("We decided to use the hidden door.", message_id="hidden"),
            said("You are a pirate named Redbeard.", role="system"),
            said(f"Exit code 0. {'x' * 500} Zanzibar", role="tool", speaker="bash"),
            said("Bob wants blue boats in Bergen.", speaker="Bob"),
            *talk(7),
        ],
    )
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = '' WHERE id = 'secret'"))
        hidden_messages.hide(tx, TENANT, "s1", "hidden", AUTHOR)
    settled(app, SMALL)
    summary = the_last(app)
    for gone in ("4711", "hidden door", "Redbeard", "Zanzibar"):
        assert gone not in summary.text
    assert "Bob: Bob wants blue boats in Bergen." in summary.content
    assert "bash: Exit code 0." in summary.content
    assert summary.key_messages == []


def test_in_a_group_each_is_named_and_so_is_the_group(app: Database) -> None:
    group = [
        said("We agreed on Thursday at 3 pm.", user="ada", speaker="Ada", group_id="g1"),
        said("Bob brings two salads to Bergen.", user="bob", speaker="Bob", group_id="g1"),
        *talk(10, group_id="g1"),
    ]
    accept_all(app, group)
    settled(app, SMALL)
    summary = the_last(app)
    assert [one.by for one in summary.key_messages] == ["Ada"]
    assert "Bob: Bob brings" in summary.content
    assert told(app)[0]["group_id"] == "g1"


def test_a_chinese_conversation_is_told_in_its_own_words(app: Database) -> None:
    lines = ["我们在杭州看了三套房子。", "第二套在西湖区，房租四千五百元。", "好的。", "王先生说可以养猫。"] * 5
    accept_all(app, [said(line, message_id=f"m{n}") for n, line in enumerate(lines)])
    settled(app, SummaryLimits(20, 10**9))
    assert "ada: 第二套在西湖区，房租四千五百元。" in the_last(app).content
    assert "好的" not in the_last(app).content


def test_what_is_taken_back_takes_the_summaries_with_it_that_stood_for_it(app: Database) -> None:
    accept_all(app, [*talk(20), *(said("Another session.", session="s2") for _ in range(10))])
    settled(app, SMALL)
    settled(app, SMALL, session="s2")
    before = [(row.session_id, row.to_position) for row in rows(app)]
    assert before == [("s1", 10), ("s1", 15), ("s2", 5)]
    with app.tenant(TENANT) as tx:
        assert rolling.forget_messages(tx, TENANT, [("s1", "m12"), ("s1", "m20"), ("s2", "nobody")]) == 1
        assert rolling.forget_messages(tx, TENANT, []) == 0
    assert [(row.session_id, row.to_position) for row in rows(app)] == [("s1", 10), ("s2", 5)]
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", "m3", AUTHOR)
        assert rolling.forget_messages(tx, TENANT, [("s1", "m3")]) == 1
    settled(app, SMALL)
    assert the_last(app).to_position == 15
    assert "Topic 3 " not in the_last(app).text


def test_another_tenant_sees_none(app: Database) -> None:
    accept_all(app, talk(200))
    settled(app)
    with app.tenant("globex") as tx:
        assert rolling.latest(tx, "s1") is None
        assert rolling.forget_messages(tx, "globex", [("s1", "m1")]) == 0
    assert last(app) is not None


@pytest.mark.slow
def test_however_long_it_gets_it_stays_within_its_bound_and_loses_no_key_message(app: Database) -> None:
    """5,000 messages in steps, of which every ninth must not be forgotten: far more than have room."""
    expected = list[str]()
    for start in range(0, 5000, 500):
        batch = []
        for n in range(start, start + 500):
            keyed = n % 9 == 0
            expected += [f"m{n}"] * keyed
            words = f"We decided to use supplier {n} for the part {n * 7}." if keyed else f"Boat {n} left for Oslo."
            batch.append(said(words, message_id=f"m{n}"))
        accept_all(app, batch)
        settled(app)
        summary = the_last(app)
        assert summary.token_count <= extractive.TOKENS
        assert token_estimate(summary.text) == summary.token_count
        covered = [one for one in expected if int(one[1:]) < summary.to_position]
        assert [one.message_id for one in summary.key_messages] == covered
        assert len(summary.content) > 100
    assert len(rows(app)) <= rolling.KEPT


# With a model


class Model:
    """Fake `core.inference.client.ChatClient` with one answer; records its questions."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def ask(self, prompt: str, system: str, words: str, shape: type[Any], on_call: Any) -> Any:
        assert prompt == rolling.PROMPT.name
        assert "摘要" in system
        self.asked.append(words)
        if isinstance(self.answer, Exception):
            raise self.answer
        return shape(summary=self.answer)


def by(model: Model) -> Writer:
    return rolling.by_model(model, lambda _call: None)  # type: ignore[arg-type]


def test_a_model_is_shown_the_earlier_summary_the_keys_and_what_is_new(app: Database) -> None:
    accept_all(app, [said("We decided to rent 3 boats."), *talk(19)])
    model = Model("ada spoke about the harbour and 3 boats.")
    results = settled(app, SMALL, by(model))
    assert {result["prompt"] for result in results} == {"summary.v2"}
    summary = the_last(app)
    assert (summary.content, summary.prompt) == ("ada spoke about the harbour and 3 boats.", "summary.v2")
    assert "Earlier summary:\n(none)" in model.asked[0]
    assert "Earlier summary:\nada spoke about" in model.asked[1]
    assert "- [decision] ada: We decided to rent 3 boats." in model.asked[1]
    assert "2026-11-21 12:00 ada: Topic 2 " in model.asked[0]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("ada rented 99 boats.", "sources do not have"),
        ("ada met Napoleon at the harbour.", "sources do not have"),
        ("ada spoke about the harbour in December.", "sources do not have"),
        ("See https://evil.example/x for the harbour.", "sources do not have"),
        ("ada谈到了港口，王先生说五月可以。", "sources do not have"),
        ("the harbour and the boats " * 200, "too long"),
        ("   ", "sources do not have"),
        (Never("missed the shape"), "missed the shape"),
        (Later("slow down"), "slow down"),
    ],
)
def test_what_nobody_said_and_what_cannot_be_had_is_told_without_a_model_and_the_result_says_why(
    app: Database, answer: str | Exception, says: str
) -> None:
    accept_all(app, talk(10))
    (result,) = settled(app, SMALL, by(Model(answer)))
    assert says in result["refused"]
    assert "prompt" not in result
    assert the_last(app).prompt is None
    assert the_last(app).content == due_content(talk(5))


def due_content(documents: Sequence[Json]) -> str:
    messages = [a_message(one["payload"]["content"], n) for n, one in enumerate(documents, 1)]
    return by_rules(SummaryInput("", messages, [], extractive.LEAST)).content


# On request


def test_a_summary_on_request_holds_all_of_a_short_session_and_the_next_one_builds_on_it(app: Database) -> None:
    accept_all(app, [said("We decided to rent 3 boats.", message_id="k"), *talk(2)])
    found = rolling.now(app, TENANT, "s1", AUTHOR)
    assert found is not None
    assert (found.to_position, [key.quote for key in found.key_messages]) == (3, ["We decided to rent 3 boats."])
    assert rolling.now(app, TENANT, "s1", AUTHOR) == found
    assert [one["to_position"] for one in told(app)] == [3]
    accept_all(app, talk(20, 3))
    (first, *_) = settled(app, SMALL)
    assert (first["messages"], first["to_position"]) == (10, 13)
    assert [key.quote for key in the_last(app).key_messages] == ["We decided to rent 3 boats."]


def test_a_summary_on_request_takes_a_long_backlog_in_steps(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling, "READ", 4)
    accept_all(app, talk(10))
    found = rolling.now(app, TENANT, "s1", AUTHOR)
    assert found is not None
    assert (found.to_position, [one["to_position"] for one in told(app)]) == (10, [4, 8, 10])
    monkeypatch.setattr(rolling, "STEPS", 1)
    accept_all(app, talk(10, 11))
    again = rolling.now(app, TENANT, "s1", AUTHOR)
    assert again is not None
    assert again.to_position == 14


def test_where_nothing_can_be_read_there_is_no_summary_on_request(app: Database) -> None:
    accept(app, said("Forget this.", message_id="m1"), said("", message_id="m2"))
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", "m1", AUTHOR, None)
    assert rolling.now(app, TENANT, "s1", AUTHOR) is None
    assert rows(app) == []
    with pytest.raises(NotFound):
        rolling.now(app, TENANT, "nowhere", AUTHOR)


# The words
