"""A user who is erased is in no table any more; what is others' stays, without the user's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import tracing
from core.config import Settings
from core.erasure import quotes
from core.errors import Conflict
from core.memory import tombstones
from core.memory.changes import Confirm, Derive, Part
from core.storage.db import Database
from core.types import Category, Evidence
from rules.registry import store
from tests.core.changing import Bench, an_add
from tests.core.erasing import holding, lived_in, names_forgotten, picture, rows, told, user_erased
from tests.factories import a_candidate
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.spans import CARRIER, PARENT, recording
from tests.works import Works
from workers.dispatch.model import Job, Outcome
from workers.dispatch.relay import DispatchRef


def test_a_user_is_in_no_table_any_more(app: Database, works: Works, settings: Settings) -> None:
    user, word = "u-7f3a9c", "zyxomma"
    lived_in(app, works, user, word)
    assert len(holding(app, word)) > 6
    done = user_erased(app, settings, user)
    assert holding(app, word) == []
    assert set(holding(app, user)) == {"events"}, "user.erased says whose agents have to follow"
    assert done.tombstones == 1
    works.settle()
    assert names_forgotten(app) == 1
    assert holding(app, user) == []


def test_the_trace_state_of_who_asked_for_it_leaves_with_the_name(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    tell = {"action_type": "notify", "channel": "log", "template": "Someone was erased."}
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="tells", event_type="user.erased", actions=[tell]), author="test")
    accept(app, said("I play chess."))
    carrier = {**CARRIER, "tracestate": f"caller={unique}"}
    with recording(), tracing.span("request", "server", carrier):
        user_erased(app, settings)
    works.settle()
    assert {"events", "dispatches"} <= set(holding(app, unique))
    assert names_forgotten(app) == 1
    assert holding(app, unique) == []


def test_the_trace_state_of_what_others_learnt_from_goes_too(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    own = {"traceparent": PARENT, "tracestate": f"publisher={unique}"}
    talk = [
        said("I play chess.", user="bob", group_id="g", message_id="m1"),
        said("I live in Porto.", user=WHO, group_id="g", message_id="m2") | own,
        ended(user=WHO, message_count=2, id="end") | own,
    ]
    accept_all(app, talk)
    works.settle()
    assert {"events", "dispatches"} <= set(holding(app, unique))
    user_erased(app, settings, WHO)
    works.settle()
    assert rows(app, "SELECT FROM memories WHERE user_id = 'bob'")
    assert holding(app, unique) == []


def test_others_are_untouched(app: Database, works: Works, settings: Settings) -> None:
    lived_in(app, works, "ada", "zyxomma")
    lived_in(app, works, "bob", "quagga")
    before = picture(app, "bob")
    user_erased(app, settings, "ada")
    # One dispatch has both in hand: the indexer of what was accepted together.
    shared = [row.replace('""s-ada-2"", ', "") for row in before["dispatches"]]
    assert picture(app, "bob") == before | {"dispatches": shared}


def test_erasing_again_finds_nothing_and_says_nothing(app: Database, works: Works, settings: Settings) -> None:
    lived_in(app, works, "ada", "zyxomma")
    assert user_erased(app, settings).counts["messages"] == 5
    works.settle()
    again = user_erased(app, settings)
    assert not again.counts
    works.settle()
    assert len(told(app, "user.erased")) == 1


def test_who_was_erased_begins_anew(app: Database, works: Works, settings: Settings) -> None:
    lived_in(app, works, "ada", "zyxomma")
    user_erased(app, settings)
    accept(app, said("I live in Porto.", session="s9", time="2999-01-01T00:00:00+00:00"), ended("s9", message_count=3))
    works.settle()
    assert [row.value for row in rows(app, "SELECT value FROM memories WHERE status = 'active'")] == ["Porto"]


def test_what_was_said_before_teaches_nothing_when_it_is_delivered_again(
    app: Database, works: Works, settings: Settings
) -> None:
    spoken = said("I live in Porto.", session="s9", id="late"), ended("s9", message_count=3, id="end")
    accept(app, *spoken)
    user_erased(app, settings)
    accept(app, *spoken)
    works.settle()
    assert rows(app, "SELECT FROM memories") == []


WHO = "yolanda"
"""A name that does not stand in any id by chance."""


def _group(app: Database, unique: str) -> None:
    accept_all(
        app,
        [
            said("I work at Acme.", user="bob", group_id="g", message_id="m1", participants=[WHO, "bob"]),
            said(f"I keep {unique} at home.", user=WHO, group_id="g", message_id="m2", speaker="Ada"),
            said("I play chess.", user="bob", group_id="g", message_id="m3"),
            ended(user=WHO, message_count=3, id=f"{WHO}-ended"),
        ],
    )


def test_in_a_group_the_words_of_others_stay_where_they_stood(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    _group(app, unique)
    works.settle()
    user_erased(app, settings, WHO)
    works.settle()
    user_erased(app, settings, WHO)
    assert holding(app, unique) == []
    assert holding(app, WHO) == []
    stands = rows(app, "SELECT position, user_id, content FROM messages ORDER BY position")
    assert [tuple(row) for row in stands] == [(1, "bob", "I work at Acme."), (2, "", ""), (3, "bob", "I play chess.")]
    known = {row.content for row in rows(app, "SELECT content FROM memories")}
    assert known == {"bob works at Acme.", "bob plays chess."}


def test_the_assistant_repeats_nothing_of_who_was_erased_from_a_group(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    """Sentences of the assistant that name the user, or repeat a word of what they answer, are blanked."""
    accept_all(
        app,
        [
            said(f"I grow {unique} at home.", user=WHO, group_id="g", message_id="m1", speaker="Ada Byron"),
            said(f"Plants of {unique} like shade. Shall we begin?", user="helper", role="assistant", message_id="m2"),
            said("I play chess.", user="bob", group_id="g", message_id="m3"),
            said(f"As Ada said, {unique} grows fast. Chess is fine.", user="helper", role="assistant", message_id="m4"),
            said("Ada is my neighbour.", user="bob", group_id="g", message_id="m5"),
            ended(user="bob", message_count=5),
        ],
    )
    works.settle()
    user_erased(app, settings, WHO)
    works.settle()
    user_erased(app, settings, WHO)
    assert holding(app, unique) == []
    left = rows(app, "SELECT content FROM messages WHERE content <> '' ORDER BY position")
    assert [row.content for row in left] == [
        "[erased] Shall we begin?",
        "I play chess.",
        "[erased] Chess is fine.",
        "Ada is my neighbour.",
    ]


def test_a_session_in_which_all_were_erased_is_gone(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    _group(app, unique)
    works.settle()
    user_erased(app, settings, WHO)
    user_erased(app, settings, "bob")
    assert rows(app, "SELECT FROM messages") == []
    assert rows(app, "SELECT FROM sessions") == []


def test_the_chain_of_someone_elses_memory_can_still_be_walked(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    _group(app, unique)
    works.settle()
    user_erased(app, settings, WHO)
    found = rows(
        app,
        """
        SELECT e.id, e.payload, c.causation_id, c.correlation_id FROM memory_versions v
        JOIN dispatches d ON d.id = v.dispatch_id JOIN events e ON e.seq = d.event_seq
        JOIN events c ON c.dispatch_id = d.id AND c.event_type = 'memory.created'
        """,
    )
    assert found
    for row in found:
        assert row.causation_id == row.id == row.correlation_id
        assert row.id.startswith("erased:")
        assert row.payload == {"erased": True}


def test_the_counts_of_a_group_stand_as_if_the_user_had_said_nothing(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    _group(app, unique)
    for n, (who, words) in enumerate([("bob", "I work at Acme."), ("bob", "I play chess.")]):
        accept(app, said(words, user=who, group_id="h", session="s2", message_id=f"h{n}"))
    works.settle()
    user_erased(app, settings, WHO)
    counts = "SELECT term, documents FROM term_counts WHERE owner = :owner ORDER BY term"
    assert rows(app, counts, owner="group:g") == rows(app, counts, owner="group:h")
    assert rows(app, counts, owner=f"user:{WHO}") == []


def test_anothers_memory_loses_the_users_quotes_and_stays_if_it_rests_on_others(
    app: Database, settings: Settings, unique: str
) -> None:
    _group(app, unique)
    bobs = Bench(app, "bob")
    own = Evidence("s1", "m3", "e3", "I play chess and drink tea.")
    both = an_add("Bob plays chess.", subject="bob", evidence=(own, Evidence("s1", "m2", "e2", f"Chess? {unique}!")))
    alone = an_add(f"Bob knows {unique}.", 1, subject="bob", evidence=(Evidence("s1", "m2", "e2", f"{unique}!"),))
    worded = an_add(f"Bob drinks tea from {unique}.", 2, subject="bob", evidence=both.candidate.evidence)
    bobs.apply(both, alone, worded)
    user_erased(app, settings, WHO)
    assert holding(app, unique) == []
    assert [row.id for row in bobs.rows("active")] == [both.id]
    assert bobs.quotes(both.id) == ["m3"]
    assert {one for payload in told(app, "memory.erased") for one in payload["memory_ids"]} == {
        str(alone.id),
        str(worded.id),
    }


def test_anothers_memory_that_was_drawn_from_the_users_goes(app: Database, settings: Settings, unique: str) -> None:
    bench, bobs = Bench(app, WHO), Bench(app, "bob")
    part = an_add(f"Ada keeps {unique}.")
    bench.apply(part)
    drawn = Derive(a_candidate(f"They keep {unique}.", category=Category.PATTERN), [Part(part.id, 1)], "drawn")
    bobs.apply(drawn)
    user_erased(app, settings, WHO)
    assert holding(app, unique) == []


def test_what_others_tell_of_a_conversation_with_the_user_goes(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    unique = f"w{unique}"  # A word, and not by chance a number, which an episode may leave out.
    _group(app, unique)
    works.settle()
    told_by_bob = "SELECT m::text AS told FROM memories m WHERE category = 'episode' AND user_id = 'bob'"
    assert any(unique in row.told for row in rows(app, told_by_bob))
    user_erased(app, settings, WHO)
    assert rows(app, told_by_bob) == []


@pytest.mark.parametrize(
    ("content", "gone", "left", "rests"),
    [
        ("Bob plays chess.", ["Bob plays chess"], [], True),
        ("Bob plays chess.", ["chess, really?"], ["I play chess."], False),
        ("Bob plays chess in Rome.", ["in Rome"], ["I play chess."], True),
        ("Bob plays chess in Rome.", ["who knows"], ["I play chess."], False),
        ("Bob plays chess.", ["Bob, hello"], ["I play chess."], False),
    ],
)
def test_a_statement_rests_on_what_nobody_else_says(
    content: str, gone: list[str], left: list[str], *, rests: bool
) -> None:
    assert quotes.rests_on(content, "Bob", gone, left) is rests


@given(content=st.text(max_size=40), left=st.text(max_size=40), gone=st.lists(st.text(max_size=40), max_size=3))
def test_what_the_quotes_that_stay_say_word_for_word_never_rests_on_those_that_go(
    content: str, left: str, gone: list[str]
) -> None:
    assert not quotes.rests_on(content, "", gone, [content, left])


def test_what_a_worker_had_in_hand_is_not_written_any_more(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    accept(app, said(f"I live in {unique.capitalize()}."), ended(message_count=3))
    _interrupted(works, "memory_consolidator", lambda: user_erased(app, settings))
    works.settle()
    assert holding(app, unique) == []
    assert rows(app, "SELECT FROM memories") == []


@pytest.mark.parametrize("agent", ["memory_consolidator", "knowledge_indexer"])
def test_what_a_worker_had_read_of_a_group_is_read_again(
    app: Database, works: Works, settings: Settings, unique: str, agent: str
) -> None:
    accept_all(
        app,
        [
            said(f"I live in {unique.capitalize()}.", user="ada", message_id="m1"),
            said("I play chess.", user="bob", message_id="m2"),
            ended(user="bob", message_count=3),
        ],
    )
    _interrupted(works, agent, lambda: user_erased(app, settings))
    _sent_again(app, works)
    works.settle()
    assert holding(app, unique) == []
    assert [row.user_id for row in rows(app, "SELECT user_id FROM memories")] == ["bob"]
    assert rows(app, "SELECT FROM search_index WHERE user_id = 'ada'") == []
    found = rows(app, "SELECT ref FROM search_index WHERE user_id = 'bob' AND type = 'message'")
    assert [row.ref for row in found] == ["m2"]


def test_whoever_waits_for_the_users_lock_finds_nothing_to_change(app: Database, settings: Settings) -> None:
    bench = Bench(app)
    add = an_add("Ada lives in Lisbon.")
    bench.apply(add)
    known = bench.known(add.id)
    user_erased(app, settings)
    with pytest.raises(Conflict):
        bench.apply(Confirm(known, a_candidate("Ada lives in Lisbon.", 1), "again"))


def test_all_of_it_or_nothing(app: Database, works: Works, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    lived_in(app, works, "ada", "zyxomma")
    before = picture(app, "ada")
    monkeypatch.setattr(tombstones, "lay_user", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        user_erased(app, settings)
    assert picture(app, "ada") == before


def _interrupted(works: Works, agent: str, meanwhile: Callable[[], object]) -> None:
    """Let the agent read and think, do something else meanwhile, and then let it try to write."""
    thought, agents = works.ledger.agents[agent], dict(works.ledger.agents)
    left = [meanwhile]

    def think(job: Job) -> Outcome:
        outcome = thought(job)
        while left:
            left.pop()()
        return outcome

    agents[agent] = think
    Works(works.router, replace(works.ledger, agents=agents)).settle()
    assert not left, f"{agent} had nothing to do"


def _sent_again(app: Database, works: Works) -> None:
    """What the clock would send again."""
    owed = rows(app, "SELECT id, queue FROM dispatches WHERE status = 'retrying'")
    works.run([DispatchRef(TENANT, row.queue, row.id) for row in owed])


def test_a_guest_who_said_one_thing_leaves_the_session_to_the_others(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    accept(app, said("I play chess.", user="bob"), said(f"So does {unique}.", user=WHO), said("I see.", user="bob"))
    works.settle()
    assert user_erased(app, settings, WHO).sessions == ["s1"]
    assert holding(app, unique) == []
    assert [row.user_id for row in rows(app, "SELECT user_id FROM participants")] == ["bob"]
    assert [row.user_id for row in rows(app, "SELECT user_id FROM messages ORDER BY position")] == ["bob", "", "bob"]


def test_a_bulk_job_that_named_a_memory_of_the_user_keeps_no_words(
    app: Database, settings: Settings, unique: str
) -> None:
    add, others = an_add(f"Ada keeps {unique}."), an_add("Bob plays chess.", subject="bob")
    Bench(app).apply(add)
    Bench(app, "bob").apply(others)
    for job, memory_id in (("j1", add.id), ("j2", others.id)):
        rows(app, JOB, t=TENANT, job=job, reason=f"Because of {unique if job == 'j1' else 'chess'}.", memory=memory_id)
    user_erased(app, settings)
    assert holding(app, unique) == []
    found = rows(app, "SELECT params, erased FROM bulk_jobs ORDER BY asked")
    assert [tuple(row) for row in found] == [({}, True), ({"reason": "Because of chess."}, False)]
    assert [row.detail for row in rows(app, "SELECT detail FROM bulk_rows ORDER BY detail")] == [
        "Because of chess.",
        None,
    ]


JOB = """
    WITH job AS (
        INSERT INTO bulk_jobs (tenant_id, id, asked, action, status, params, chosen)
        VALUES (:t, gen_random_uuid(), :job, 'archive', 'done',
                jsonb_build_object('reason', cast(:reason AS text)), '{}')
        RETURNING id)
    INSERT INTO bulk_rows (tenant_id, job_id, place, memory_id, detail)
    SELECT :t, id, 1, cast(:memory AS uuid), :reason FROM job RETURNING place
"""


def test_a_dispatch_of_anothers_event_that_lists_the_users_session_lists_it_no_longer(
    app: Database, works: Works, settings: Settings
) -> None:
    accept(app, said("Hi.", session="s-ada"), said("Hello.", session="s-bob", user="bob"))
    works.settle()
    listing = "SELECT params, lists_others FROM dispatches WHERE jsonb_exists(params, 'sessions') ORDER BY id"
    assert {row.lists_others for row in rows(app, listing)} == {True}
    user_erased(app, settings)
    assert {str(row.params["sessions"]) for row in rows(app, listing)} == {"['s-bob']"}


def test_what_another_published_as_belonging_to_the_users_event_refers_to_a_hash(
    app: Database, works: Works, settings: Settings
) -> None:
    accept(app, said("Hi.", id=f"{WHO}-1", user=WHO))
    accept(app, {**said("Hello.", session="s2", user="bob"), "correlation_id": f"{WHO}-1"})
    works.settle()
    user_erased(app, settings, WHO)
    assert set(holding(app, WHO)) == {"events"}, "user.erased says whose agents have to follow"
    found = rows(
        app,
        "SELECT e.correlation_id AS e, d.correlation_id AS d FROM events e JOIN dispatches d ON d.event_seq = e.seq",
    )
    assert {row.e.partition(":")[0] for row in found} == {row.d.partition(":")[0] for row in found} >= {"erased"}
