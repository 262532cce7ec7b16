from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import text

from core.consolidation import echo
from core.consolidation.echo import Served
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict, Later, Never
from core.events.publishing import Author
from core.extraction import session as extraction
from core.extraction.configured_extractor import RuleExtractor
from core.extraction.protocol import ExtractedUnit, Reading, Window
from core.extraction.session import FailedWindow, MessageRange, SessionReader
from core.extraction.windows import Sizes
from core.inference.client import Call, OnCall
from core.inference.embedders import HashEmbedder
from core.memory import memories, writer
from core.memory.changes import Add, Confirm, Ignore, Owner
from core.sessions import hidden_messages, sessions
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Message, Topic
from tests.samples import TENANT, accept, accept_all, said

CHESS = "Ada plays chess on Sunday with Bob."
PERSON = Author("key:test")


@pytest.fixture
def consolidation(app: Database) -> Consolidation:
    return Consolidation(app, HashEmbedder())


@dataclass(frozen=True, slots=True)
class Believing:
    """Takes every message of these roles for a statement about Ada, and every window for a unit."""

    roles: frozenset[str]
    prompt: str | None = None
    unwilling: frozenset[str] = frozenset()
    name: str = "believing"

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        for message in window.fresh:
            if message.content in self.unwilling:
                raise Never(f"Not {message.content!r}.")
        stated = [statement(m) for m in window.fresh if m.role in self.roles]
        told = ExtractedUnit([m.id for m in window.fresh], "All", "All.", "All of it.", (), self.prompt)
        return Reading(stated, [told])


def statement(m: Message) -> Candidate:
    cited = (Evidence(m.session_id, m.id, m.event_id, m.content),)
    return Candidate(m.content, Category.FACT, Topic.OTHER, "ada", cited, m.occurred_at)


def believing(*roles: str, **more: Any) -> SessionReader:
    return SessionReader(Believing(frozenset(roles), **more), no_call)


def no_call(call: Call) -> None:
    raise AssertionError(call)


def handed_out(app: Database, consolidation: Consolidation) -> None:
    """Chess is known, and was handed out just now."""
    accept(app, said(CHESS, session="before"))
    found = extraction.extract_new(consolidation, TENANT, "before", believing("user"), limit=9)
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
        row = tx.execute(text("SELECT id, content FROM memories")).one()
        echo.note(tx, TENANT, "ada", [Served(row.content, row.id)])


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_was_handed_out_and_comes_back_in_words_of_no_person_is_not_learnt(
    app: Database, consolidation: Consolidation, role: str
) -> None:
    handed_out(app, consolidation)
    accept(app, said(CHESS, role=role))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing(role), limit=9)
    ((owner, decided),) = found.changes
    assert (owner, [type(c) for c in decided]) == (Owner("ada"), [Ignore])
    with app.tenant(TENANT) as tx:
        assert found.write(tx, PERSON) == {"messages": 1, "windows": 1, "skipped": {}, "ignored": 1}


def test_a_person_who_says_it_again_confirms_it(app: Database, consolidation: Consolidation) -> None:
    handed_out(app, consolidation)
    accept(app, said(CHESS))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9)
    assert [[type(c) for c in decided] for _, decided in found.changes] == [[Confirm]]


def test_each_statement_belongs_to_the_user_who_said_it(app: Database, consolidation: Consolidation) -> None:
    accept(app, said("Ada plays chess."), said("Ada sings.", user="bob", group_id="g1"))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9)
    assert {owner for owner, _ in found.changes} == {Owner("ada"), Owner("bob", "g1")}
    assert [type(c) for _, decided in found.changes for c in decided] == [Add, Add]


def test_a_session_is_read_on_from_where_it_was_left_and_once(app: Database, consolidation: Consolidation) -> None:
    accept(app, *(said(f"Ada keeps {n} bees.") for n in range(2, 7)))
    first = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=3)
    rival = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=3)
    assert (first.read_from, first.read_to, first.more) == (0, 3, True)
    with app.tenant(TENANT) as tx:
        first.write(tx, PERSON)
    with app.tenant(TENANT) as tx, pytest.raises(Conflict):
        rival.write(tx, PERSON)
    rest = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=3)
    assert (rest.read_from, rest.read_to, rest.more) == (3, 5, False)
    with app.tenant(TENANT) as tx:
        rest.write(tx, PERSON)
        assert memories.count(tx, "ada") == 5
    nothing = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=3)
    assert (nothing.changes, nothing.more) == ([], False)


def test_where_the_writing_fails_the_session_is_read_again(
    app: Database, consolidation: Consolidation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise Conflict

    accept(app, said(CHESS))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9)
    with monkeypatch.context() as broken:
        broken.setattr(writer, "apply", fails)
        with pytest.raises(Conflict), app.tenant(TENANT) as tx:
            found.write(tx, PERSON)
    again = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9)
    assert again.read_from == 0


BY_MODEL = "test.v1"
KITES = [f"Ada has flown kite number {n} over Tarifa." for n in range(1, 13)]


def two_windows(app: Database, **fields: Any) -> None:
    """Accept ten kites by themselves and two in a group: a window each."""
    accept_all(app, [said(kite, **fields) for kite in KITES[:10]])
    accept_all(app, [said(kite, group_id="g1", **fields) for kite in KITES[10:]])


def test_a_window_that_cannot_be_read_is_told_and_the_others_are_written(
    app: Database, consolidation: Consolidation
) -> None:
    two_windows(app)
    reader = believing("user", prompt=BY_MODEL, unwilling=frozenset({KITES[11]}))
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert found.failed == [FailedWindow(MessageRange(11, 12, "g1"), f"Not {KITES[11]!r}.")]
    with app.tenant(TENANT) as tx:
        counts = found.write(tx, PERSON)
        assert (counts["messages"], counts["windows"], counts["failed"], counts["added"]) == (12, 2, 1, 10)
    assert extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99).read_from == 12


def test_the_window_can_be_read_once_more_and_the_cursor_stays_where_it_is(
    app: Database, consolidation: Consolidation
) -> None:
    two_windows(app)
    once = extraction.extract_new(
        consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL, unwilling=frozenset({KITES[11]})), limit=99
    )
    with app.tenant(TENANT) as tx:
        once.write(tx, PERSON)
    accept(app, said("Ada sings."))
    again = extraction.extract_range(
        consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), MessageRange(11, 12, "g1")
    )
    assert [m.position for m in again.messages] == [11, 12]
    with app.tenant(TENANT) as tx:
        assert again.write(tx, PERSON)["added"] == 2
        assert memories.count(tx, "ada") == 12
    assert extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99).read_from == 12


def test_where_it_fails_once_more_it_never_will_be_read(app: Database, consolidation: Consolidation) -> None:
    accept(app, said(CHESS))
    reader = believing("user", prompt=BY_MODEL, unwilling=frozenset({CHESS}))
    with pytest.raises(Never, match="Not 'Ada plays chess"):
        extraction.extract_range(consolidation, TENANT, "s1", reader, MessageRange(1, 1))


def test_a_reader_by_prompt_reads_one_window_and_the_rest_in_a_run_of_its_own(
    app: Database, consolidation: Consolidation
) -> None:
    accept_all(app, [said(f"Ada owns umbrella number {n}.") for n in range(60)])
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=200)
    assert (found.read_to, found.more, found.seen["windows"]) == (40, True, 1)
    rules = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=200)
    assert (rules.read_to, rules.more, rules.seen["windows"]) == (60, False, 1)


def test_what_says_nothing_is_not_put_to_a_model_and_counted(app: Database, consolidation: Consolidation) -> None:
    accept(app, said("ok, thanks!"), said("You're welcome!", role="assistant"), said("哈哈，好的"))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert (found.changes, found.read_to, found.seen) == ([], 3, {"windows": 1, "skipped": {"trivial": 1}})
    rules = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99)
    assert [len(decided) for _, decided in rules.changes] == [2]


def test_what_is_known_already_is_not_put_to_a_model_and_what_is_new_is(
    app: Database, consolidation: Consolidation
) -> None:
    handed_out(app, consolidation)
    accept(app, said("I play chess on Sunday with Bob."))
    known = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert (known.seen, known.retold) == ({"windows": 1, "skipped": {"known": 1}}, [])
    accept(app, said("I play chess on Monday with Bob.", session="s2"))
    new = extraction.extract_new(consolidation, TENANT, "s2", believing("user", prompt=BY_MODEL), limit=99)
    assert new.seen == {"windows": 1, "skipped": {}}
    anyone = extraction.extract_new(
        consolidation,
        TENANT,
        "s1",
        SessionReader(Believing(frozenset({"user"}), BY_MODEL), no_call, least_novelty=0),
        limit=99,
    )
    assert anyone.seen == {"windows": 1, "skipped": {}}


def test_what_a_person_says_again_confirms_what_is_known_without_a_model_and_makes_nothing_new(
    app: Database, consolidation: Consolidation
) -> None:
    handed_out(app, consolidation)
    accept(app, said("I play chess on Sunday with Bob."), said("I play chess with Bob."))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert [(owner, [type(c) for c in decided]) for owner, decided in found.changes] == [(Owner("ada"), [Confirm])]
    with app.tenant(TENANT) as tx:
        counts = found.write(tx, PERSON)
        assert (counts["confirmed"], memories.count(tx, "ada")) == (1, 1)


def test_what_is_said_again_and_what_is_new_are_written_together(app: Database, consolidation: Consolidation) -> None:
    handed_out(app, consolidation)
    again = "I play chess on Sunday with Bob."
    accept_all(app, [said(again) for _ in range(10)] + [said(kite, group_id="g1") for kite in KITES[:2]])
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert found.seen == {"windows": 2, "skipped": {"known": 1}}
    with app.tenant(TENANT) as tx:
        counts = found.write(tx, PERSON)
    assert (counts["added"], counts["confirmed"]) == (2, 1)


def test_an_instruction_is_read_however_well_known_it_sounds(app: Database, consolidation: Consolidation) -> None:
    accept(app, said("Always play chess on Sunday with Bob.", session="before"))
    with app.tenant(TENANT) as tx:
        extraction.extract_new(consolidation, TENANT, "before", believing("user"), limit=9).write(tx, PERSON)
    accept(app, said("Always play chess on Sunday with Bob."))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert found.seen == {"windows": 1, "skipped": {}}


def test_what_one_user_is_known_for_says_nothing_of_another_or_of_a_group(
    app: Database, consolidation: Consolidation
) -> None:
    handed_out(app, consolidation)
    for more in ({"user": "bob"}, {"group_id": "g1"}):
        accept(app, said("I play chess on Sunday with Bob.", session=f"s-{more}", **more))
        found = extraction.extract_new(consolidation, TENANT, f"s-{more}", believing("user", prompt=BY_MODEL), limit=99)
        assert found.seen == {"windows": 1, "skipped": {}}


def test_a_window_knows_what_was_said_before_the_cursor(app: Database, consolidation: Consolidation) -> None:
    seen: list[Window] = []

    class Watching(Believing):
        def read(self, window: Window, on_call: OnCall) -> Reading:
            seen.append(window)
            return Believing.read(self, window, on_call)

    reader = SessionReader(Watching(frozenset({"user"})), no_call)
    accept_all(app, [said(kite) for kite in KITES[:7]])
    with app.tenant(TENANT) as tx:
        extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99).write(tx, PERSON)
    accept(app, said("It tore."))
    extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert [([m.position for m in w.before], [m.position for m in w.fresh]) for w in seen] == [
        ([], [1, 2, 3, 4, 5, 6, 7]),
        ([2, 3, 4, 5, 6, 7], [8]),
    ]


@pytest.mark.parametrize("prompt", [None, BY_MODEL])
def test_what_was_said_in_a_group_tells_nothing_outside_of_it(
    app: Database, consolidation: Consolidation, prompt: str | None
) -> None:
    groups = ("g1", None, "g1", "g2", None, "g1")
    accept_all(app, [said(kite, group_id=group) for kite, group in zip(KITES, groups, strict=False)])
    seen: list[Window] = []

    class Watching(Believing):
        def read(self, window: Window, on_call: OnCall) -> Reading:
            seen.append(window)
            raise Never("no")

    reader = SessionReader(Watching(frozenset({"user"}), prompt), no_call)
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert [[m.position for m in w.fresh] for w in seen] == [[1, 3, 6], [2, 5], [4]]
    stretches = [MessageRange(1, 6, "g1"), MessageRange(2, 5), MessageRange(4, 4, "g2")]
    assert [failed.where for failed in found.failed] == stretches
    for where in stretches:
        with pytest.raises(Never):
            extraction.extract_range(consolidation, TENANT, "s1", reader, where)
    assert [[m.position for m in w.fresh] for w in seen[3:]] == [[1, 3, 6], [2, 5], [4]]
    assert all({m.group_id for m in (*w.before, *w.fresh)} == {w.fresh[0].group_id} for w in seen)


def test_what_is_hidden_is_neither_read_nor_shown_and_the_cursor_passes_it(
    app: Database, consolidation: Consolidation
) -> None:
    accept(app, *(said(f"Ada keeps {n} bees.", message_id=f"m{n}") for n in range(2, 5)))
    with app.tenant(TENANT) as tx:
        for name in ("m3", "m4"):
            hidden_messages.hide(tx, TENANT, "s1", name, PERSON)
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99)
    assert ([m.id for m in found.messages], found.read_to, found.more) == (["m2"], 3, False)
    with app.tenant(TENANT) as tx:
        assert found.write(tx, PERSON)["hidden"] == 2
    accept(app, said("Ada keeps 9 bees."))
    later = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99)
    assert [m.position for m in later.messages] == [4]


def test_what_rests_on_nothing_that_is_new_is_refused_whoever_says_it(
    app: Database, consolidation: Consolidation
) -> None:
    class Inventing(Believing):
        def read(self, window: Window, _on_call: OnCall) -> Reading:
            shown = [*window.before, *window.fresh]
            invented = replace(statement(shown[0]), evidence=(Evidence("s1", "nobody", "e", "x"),))
            nothing = replace(statement(shown[0]), evidence=())
            return Reading(
                [*map(statement, shown), invented, nothing], [ExtractedUnit(["nobody"], "", "", "")], refused=1
            )

    accept(app, said("Ada keeps 2 bees."))
    with app.tenant(TENANT) as tx:
        extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9).write(tx, PERSON)
    accept(app, said("Ada keeps 3 cats."))
    found = extraction.extract_new(consolidation, TENANT, "s1", SessionReader(Inventing(frozenset()), no_call), limit=9)
    ((_, decided),) = found.changes
    assert [type(c) for c in decided] == [Add]
    assert (found.seen["refused"], found.retold) == (4, [])


def test_units_are_passed_on_as_the_extractor_tells_them(app: Database, consolidation: Consolidation) -> None:
    two_windows(app)
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user", prompt=BY_MODEL), limit=99)
    assert [len(unit.message_ids) for unit in found.retold] == [10, 2]
    assert {unit.prompt for unit in found.retold} == {BY_MODEL}


def test_nothing_is_written_where_the_model_refuses_for_now(app: Database, consolidation: Consolidation) -> None:
    class Busy(Believing):
        def read(self, window: Window, on_call: OnCall) -> Reading:
            if window.fresh[0].group_id:
                raise Later("slow down")
            return Believing.read(self, window, on_call)

    two_windows(app)
    with pytest.raises(Later):
        extraction.extract_new(
            consolidation, TENANT, "s1", SessionReader(Busy(frozenset({"user"}), BY_MODEL), no_call), limit=99
        )
    assert extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=99).read_from == 0


def test_who_reads_a_conversation_from_its_beginning_is_told_all_that_is_found(app: Database) -> None:
    accept_all(app, [said("ok"), *(said(kite) for kite in KITES), *(said("thanks!") for _ in range(5))])
    with app.tenant(TENANT) as tx:
        messages = sessions.transcript(tx, "s1")
    by_rules = extraction.candidate_reader(believing("user"))(messages)
    by_fives = replace(believing("user", prompt=BY_MODEL), sizes=Sizes(fresh=5))
    by_model = extraction.candidate_reader(by_fives)(messages)
    assert len(by_rules) == 18
    assert [c.content for c in by_model] == ["ok", *KITES, "thanks!", "thanks!"], (
        "windows that say nothing are left out"
    )
    assert extraction.candidate_reader(believing("user"))([]) == []
    with pytest.raises(Never):
        extraction.candidate_reader(believing("user", unwilling=frozenset({"ok"})))(messages)


def test_tags_of_messages_reach_the_memories_drawn_from_them(app: Database, consolidation: Consolidation) -> None:
    accept(app, said(CHESS, tags=["games", "sunday"], message_id="m1"), said("Ada has a cat named Tom."))
    found = extraction.extract_new(consolidation, TENANT, "s1", believing("user"), limit=9)
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
    accept(app, said(CHESS, session="s2", tags=["club"]))
    again = extraction.extract_new(consolidation, TENANT, "s2", believing("user"), limit=9)
    with app.tenant(TENANT) as tx:
        again.write(tx, PERSON)
        rows = tx.execute(text("SELECT content, tags FROM memories ORDER BY id")).all()
    assert {row.content: row.tags for row in rows} == {
        CHESS: ["games", "sunday", "club"],
        "Ada has a cat named Tom.": [],
    }
    where = MessageRange(1, 2)
    once_more = extraction.extract_range(consolidation, TENANT, "s1", believing("user"), where)
    assert {c.candidate.tags for _, changes in once_more.changes for c in changes} == {("games", "sunday"), ()}


TOM = "I have a cat named Tom."


@dataclass(frozen=True, slots=True)
class Late(Believing):
    """Reads nothing of a group."""

    def read(self, window: Window, on_call: OnCall) -> Reading:
        if window.fresh[0].group_id:
            raise Later("slow down")
        return Believing.read(self, window, on_call)


def beside_rules(extractor: Believing) -> SessionReader:
    return SessionReader(extractor, no_call, RuleExtractor())


def found_in(found: extraction.SessionExtraction) -> set[str]:
    return {one.candidate.content for _, decided in found.changes for one in decided if isinstance(one, Add)}


def test_rules_read_everything_at_once_beside_the_windows_of_a_model(
    app: Database, consolidation: Consolidation
) -> None:
    seen: list[Window] = []

    class Watching(RuleExtractor):
        def read(self, window: Window, on_call: OnCall) -> Reading:
            seen.append(window)
            return RuleExtractor.read(self, window, on_call)

    accept_all(app, [said("thanks!"), *(said(kite) for kite in KITES), said(TOM)])
    reader = SessionReader(Believing(frozenset({"user"}), BY_MODEL), no_call, Watching())
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert [[m.position for m in window.fresh] for window in seen] == [list(range(1, 15))]
    assert found.seen == {"windows": 1, "skipped": {}}
    assert found_in(found) == {*KITES, TOM}, "what the model has read is its own"


def test_a_window_that_a_model_cannot_read_costs_no_statement_of_the_rules(
    app: Database, consolidation: Consolidation
) -> None:
    accept_all(app, [*(said(kite) for kite in KITES), said(TOM, group_id="g1")])
    reader = beside_rules(Believing(frozenset({"user"}), BY_MODEL, frozenset({TOM})))
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert found.failed == [FailedWindow(MessageRange(13, 13, "g1"), f"Not {TOM!r}.")]
    assert "ada has a cat named Tom." in found_in(found)
    with app.tenant(TENANT) as tx:
        assert found.write(tx, PERSON)["failed"] == 1


def test_a_model_that_refuses_for_now_postpones_its_windows_and_nothing_else(
    app: Database, consolidation: Consolidation
) -> None:
    two_windows(app)
    accept_all(app, [*(said("thanks!", group_id="g2") for _ in range(8)), said(TOM, group_id="g3")])
    reader = beside_rules(Late(frozenset({"user"}), BY_MODEL))
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert [(part.where, part.cause.detail) for part in found.postponed] == [
        (MessageRange(11, 12, "g1"), "slow down"),
        (MessageRange(21, 21, "g3"), "slow down"),
    ], "a window that says nothing is no work for later"
    assert found.seen == {"windows": 4, "skipped": {"trivial": 1}, "postponed": 2}
    assert found_in(found) >= {*KITES[:10], "ada has a cat named Tom."}
    with app.tenant(TENANT) as tx:
        found.write(tx, PERSON)
    again = beside_rules(Believing(frozenset({"user"}), BY_MODEL))
    read = extraction.extract_range(consolidation, TENANT, "s1", again, found.postponed[0].where)
    assert found_in(read) == set(KITES[10:]), "the rules have read it before"
    with pytest.raises(Later):
        extraction.extract_range(consolidation, TENANT, "s1", reader, MessageRange(11, 12, "g1"))


def test_what_is_known_already_the_rules_have_read(app: Database, consolidation: Consolidation) -> None:
    handed_out(app, consolidation)
    accept(app, said("I play chess on Sunday with Bob."))
    reader = beside_rules(Believing(frozenset({"user"}), BY_MODEL))
    found = extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)
    assert found.seen == {"windows": 1, "skipped": {"known": 1}}
    ((_, decided),) = found.changes
    (confirmed,) = [change for change in decided if isinstance(change, Confirm)]
    assert confirmed.known.content == CHESS
    assert found_in(found) == set()


def test_who_reads_from_the_beginning_gets_what_both_find_or_nothing(app: Database) -> None:
    accept_all(app, [*(said(kite) for kite in KITES), said(TOM, group_id="g1")])
    with app.tenant(TENANT) as tx:
        messages = sessions.transcript(tx, "s1")
    both = extraction.candidate_reader(beside_rules(Believing(frozenset({"user"}), BY_MODEL)))(messages)
    assert {candidate.content for candidate in both} == {*KITES, TOM}
    with pytest.raises(Later):
        extraction.candidate_reader(beside_rules(Late(frozenset({"user"}), BY_MODEL)))(messages)
    unwilling = Believing(frozenset({"user"}), BY_MODEL, frozenset({TOM}))
    with pytest.raises(Never):
        extraction.candidate_reader(beside_rules(unwilling))(messages)


def test_a_model_that_takes_long_leaves_time_to_write_what_was_read(
    app: Database, consolidation: Consolidation
) -> None:
    class Slow(Believing):
        def read(self, window: Window, on_call: OnCall) -> Reading:
            time.sleep(0.2)
            return Believing.read(self, window, on_call)

    accept_all(app, [said(f"Ada owns umbrella number {n}.", group_id=f"g{n % 5}") for n in range(30)])
    slow = Slow(frozenset({"user"}), BY_MODEL)

    def read_by(beside: RuleExtractor | None, seconds: float) -> extraction.SessionExtraction:
        reader = SessionReader(slow, no_call, beside, seconds)
        return extraction.extract_new(consolidation, TENANT, "s1", reader, limit=99)

    found = read_by(RuleExtractor(), 0.3)
    assert (found.read_to, found.seen["windows"], found.seen["postponed"]) == (30, 5, 4), "a second one could not end"
    assert {one.cause.detail for one in found.postponed} == {extraction.OUT_OF_TIME}
    assert "postponed" not in read_by(RuleExtractor(), 60).seen
    assert "postponed" not in read_by(None, 0.3).seen, "without rules there is nothing to write in time"
