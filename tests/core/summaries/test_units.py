from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import text

from core.errors import Conflict, NotFound
from core.extraction.protocol import ExtractedUnit
from core.index import search_index
from core.inference.embedders import Floats, HashEmbedder
from core.sessions import sessions
from core.storage.db import Database
from core.summaries import units
from core.types import Json
from tests.core.summaries.conversations import (
    BEIJING,
    GAP,
    HIKE,
    NOON,
    SOUP,
    TAXES,
    a_slice,
    at,
    planned,
    seen,
    spans,
    talk,
    words,
    write,
    wrote,
)
from tests.samples import TENANT, accept, accept_all, said


def test_a_session_becomes_units_that_say_what_each_is_about(app: Database) -> None:
    accept_all(app, talk([*HIKE, "By the way, I moved to Lisbon yesterday.", *TAXES[:3]], speaker="Ada"))
    assert wrote(app) == {"units": 2, "grown": 0}
    hike, taxes = seen(app)
    assert spans([hike, taxes]) == [(1, 6, "start"), (7, 10, "marker")]
    assert {"trail", "tents"} <= set(hike.keywords)
    assert hike.subject.split(", ") == list(hike.keywords[:3])
    assert (hike.participants, hike.prompt, hike.group_id) == (["Ada"], None, None)
    assert (hike.started_at, hike.ended_at) == (NOON, NOON + timedelta(minutes=5))
    assert "Ada packed the tents and the hiking boots for the mountain." in hike.narrative
    assert hike.summary.count(".") <= 2 < hike.narrative.count(".")
    assert "tax" not in words([hike])
    (moved,) = [fact for fact in taxes.facts if "Lisbon" in fact["text"]]
    assert moved == {
        "at": "2026-11-20T00:00:00+00:00", "text": moved["text"], "message_ids": ["m6"], "by": "Ada",
    }  # fmt: skip
    assert "20 November 2026" in moved["text"]


def test_a_chinese_session_becomes_units_in_chinese(app: Database) -> None:
    accept_all(app, talk([*BEIJING, "对了，我昨天搬到上海了。", *SOUP[:3]]))
    wrote(app)
    flight, soup = seen(app)
    assert spans([flight, soup]) == [(1, 6, "start"), (7, 10, "marker")]
    assert {"机票", "航班"} <= set(flight.keywords)
    assert flight.subject.split("、") == list(flight.keywords[:3])
    assert "ada问：“下午的航班到北京以后，机票还可以改签吗？”" in flight.narrative
    assert "上海" in soup.narrative
    assert [fact["at"][:10] for fact in soup.facts if "上海" in fact["text"]] == ["2026-11-20"]
    assert "上海" not in words([flight])


def test_the_last_unit_grows_in_place_and_those_before_it_stand(app: Database) -> None:
    accept_all(app, talk(HIKE[:4]))
    assert wrote(app) == {"units": 1, "grown": 0}
    (first,) = seen(app)
    accept_all(app, talk(HIKE[4:], 4))
    assert wrote(app) == {"units": 0, "grown": 1}
    (grown,) = seen(app)
    assert (grown.id, grown.from_position, grown.to_position) == (first.id, 1, 6)
    assert HIKE[4].split()[-1] in grown.narrative
    accept_all(app, talk(TAXES, 40))
    assert wrote(app) == {"units": 1, "grown": 0}
    stands, opened = seen(app)
    assert (stands, opened.boundary, opened.from_position) == (grown, "gap", 7)


@pytest.mark.parametrize("page", [1, 3, 100])
def test_however_it_is_cut_as_it_grows_it_ends_as_if_cut_at_once(app: Database, page: int) -> None:
    lines = [*HIKE, *TAXES, "By the way, the soup.", *BEIJING, *SOUP]
    for start in range(0, len(lines), page):
        accept_all(app, talk(lines[start : start + page], start))
        wrote(app)
    accept_all(app, talk(lines, session="s2"))
    wrote(app, "s2")
    one, other = seen(app), seen(app, session="s2")
    assert spans(one) == spans(other)
    assert len(one) >= 4
    assert [(u.subject, u.narrative) for u in one] == [(u.subject, u.narrative) for u in other]


def test_what_is_read_in_pages_is_cut_in_pages(app: Database) -> None:
    accept_all(app, talk([*HIKE, *TAXES]))
    first = planned(app, limit=7)
    assert first.more
    write(app, first)
    last = planned(app, limit=7)
    assert not last.more
    write(app, last)
    assert spans(seen(app)) == [(1, 6, "start"), (7, 12, "shift")]


def test_however_often_it_runs_nothing_is_written_twice(app: Database) -> None:
    accept_all(app, talk(HIKE))
    wrote(app)
    before = seen(app)
    assert [wrote(app) for _ in range(2)] == [{"units": 0, "grown": 0}] * 2
    assert seen(app) == before


def test_of_two_workers_that_cut_at_once_one_writes(app: Database) -> None:
    accept_all(app, talk(HIKE[:3]))
    one, other = planned(app), planned(app)
    write(app, one)
    with pytest.raises(Conflict, match="Another worker"):
        write(app, other)
    accept_all(app, talk(HIKE[3:], 3))
    one, other = planned(app), planned(app)
    write(app, one)
    with pytest.raises(Conflict, match="Another worker"):
        write(app, other)
    assert spans(seen(app)) == [(1, 6, "start")]


def test_a_session_that_never_was_has_no_units_to_read_or_to_show(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        with pytest.raises(NotFound):
            units.read(tx, "nowhere")
        with pytest.raises(NotFound):
            units.of_session(tx, "nowhere")


def test_where_only_tools_spoke_nothing_is_shown_and_nothing_is_read_again(app: Database) -> None:
    accept(app, said("ran", role="tool", session="s3"), said(" ", session="s3"))
    assert wrote(app, "s3") == {"units": 1, "grown": 0}
    assert seen(app, session="s3") == []
    assert wrote(app, "s3") == {"units": 0, "grown": 0}


def test_in_a_group_every_member_sees_who_said_what(app: Database) -> None:
    here: Json = {"group_id": "team", "participants": ["ada", "dan"]}
    accept(
        app,
        said("Shall we hike on Sunday?", speaker="Ada", **here),
        said("I will bring the tent.", user="bob", speaker="Bob", group_id="team"),
        said("Agreed, the hike starts at eight.", user="cai", speaker="Cai", group_id="team"),
        said("I am elsewhere.", user="eve", session="other", group_id="team"),
    )
    wrote(app)
    (one,) = seen(app)
    assert (one.group_id, one.participants) == ("team", ["Ada", "Bob", "Cai"])
    assert one.narrative.split("\n") == [
        "Ada asked: “Shall we hike on Sunday?”", "Bob will bring the tent.", "Cai: Agreed, the hike starts at eight.",
    ]  # fmt: skip
    assert [fact["by"] for fact in one.facts] == ["Bob"]
    assert [seen(app, who) for who in ("ada", "bob", "cai", "dan")] == [[one]] * 4
    assert [seen(app, who) for who in ("eve", "Bob", "", "team")] == [[]] * 4


def test_what_one_says_outside_of_the_group_in_the_same_session_only_they_see(app: Database) -> None:
    here: Json = {"group_id": "team"}
    lines = [
        said("Shall we hike on Sunday with a tent?", time=at(0), **here),
        said("Privately, I pawned my wombat yesterday.", time=at(1)),
        said("I will bring the tent for the hike.", user="bob", time=at(2), **here),
        said("I owe a platypus to my sister.", user="bob", time=at(3)),
        said("Noted, the wombat.", role="assistant", time=at(4)),
        said("The hike with the tent starts at eight.", user="bob", time=at(5), **here),
    ]
    accept_all(app, lines)
    wrote(app)
    assert spans(seen(app)) == [(1, 6, "start"), (2, 5, "start"), (4, 4, "start")]
    ada, bob = words(seen(app, "ada")), words(seen(app, "bob"))
    assert "wombat" in ada
    assert "platypus" not in ada
    assert "platypus" in bob
    assert "wombat" not in bob
    assert all("tent" in one for one in (ada, bob))
    assert seen(app, "cai") == []


def test_users_who_share_a_session_without_a_group_see_each_their_own(app: Database) -> None:
    for minute, (hers, his) in enumerate(zip(HIKE, TAXES, strict=True)):
        accept(app, said(hers, time=at(2 * minute)), said(his, user="bob", time=at(2 * minute + 1)))
        wrote(app)
    (ada,), (bob,) = seen(app, "ada"), seen(app, "bob")
    assert spans([ada, bob]) == [(1, 11, "start"), (2, 12, "start")]
    assert "tax" not in words([ada])
    assert "tent" not in words([bob])


def test_a_direct_message_is_seen_by_those_it_names_and_nobody_else(app: Database) -> None:
    here: Json = {"participants": ["ada", "bob"]}
    accept(
        app,
        said("The wombat is my secret.", **here),
        said("I will keep the wombat secret.", user="bob", **here),
        said("I bought a canary.", user="cai", participants=["cai", "ada"]),
    )
    wrote(app)
    assert ["wombat" in words(seen(app, who)) for who in ("ada", "bob", "cai", "dan")] == [True, True, False, False]
    assert ["canary" in words(seen(app, who)) for who in ("ada", "bob", "cai", "dan")] == [True, False, True, False]


def test_pages_go_from_the_newest_unit_back(app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100), *talk(SOUP, 200)])
    wrote(app)
    with app.tenant(TENANT) as tx:
        first = units.of_session(tx, "s1", limit=2)
        rest = units.of_session(tx, "s1", before=first[-1].from_position)
    assert [one.from_position for one in [*first, *rest]] == [13, 7, 1]


def test_a_model_may_come_after_the_rules_and_tell_a_unit_that_is_closed(app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100)])
    wrote(app)
    before = seen(app)
    told = a_slice(0, 1, 2, 3, 4, 5, narrative="They planned a hike.")
    assert wrote(app, retold=[told]) == {"units": 0, "grown": 1}
    hike, taxes = seen(app)
    assert (hike.id, hike.narrative, hike.prompt, taxes) == (before[0].id, "They planned a hike.", "p", before[1])
    assert (hike.from_position, hike.to_position, hike.boundary) == (1, 6, "start")


def test_a_slice_goes_to_the_unit_that_it_shares_most_messages_with(app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100)])
    told = ExtractedUnit(
        ["m4", "m5", "m100", "m101", "m102", "none"], "Taxes", "Taxes.", "They spoke of taxes.", [], "p"
    )
    wrote(app, retold=[told])
    hike, taxes = seen(app)
    assert (hike.prompt, taxes.prompt, taxes.subject) == (None, "p", "Taxes")


def test_slice_by_slice_a_unit_is_told_in_order_and_none_twice(app: Database) -> None:
    accept_all(app, talk(HIKE))
    first = a_slice(0, 1, narrative="First they planned the hike.")
    second = a_slice(2, 3, narrative="Then they packed tents.")
    last = a_slice(4, 5, narrative="It takes two days.")
    wrote(app, retold=[first, last])
    wrote(app, retold=[second, first])
    (unit,) = seen(app)
    lines = unit.narrative.split("\n")
    assert lines == ["First they planned the hike.", "Then they packed tents.", "It takes two days."]


def test_what_a_model_has_told_stays_when_the_talk_goes_on(app: Database) -> None:
    accept_all(app, talk(HIKE[:4]))
    wrote(app, retold=[a_slice(0, 1, 2, 3)])
    accept_all(app, talk(HIKE[4:], 4))
    wrote(app)
    (unit,) = seen(app)
    assert (unit.to_position, unit.subject, unit.prompt) == (6, "Hiking", "p")
    assert unit.narrative.startswith("They planned a hike.\n")
    assert "two days" in unit.narrative


def test_of_messages_that_are_erased_nothing_is_left_in_units(app: Database) -> None:
    accept_all(app, [*talk(HIKE[:2]), *talk(["I pawned my wombat yesterday."], 2), *talk(TAXES, 100)])
    wrote(app, retold=[a_slice(0, 1, 2, narrative="They spoke of a hike and a wombat.")])
    assert "wombat" in words(seen(app))
    before = seen(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = '', extras = NULL WHERE id = 'm2'"))
        assert units.forget_messages(tx, [("s1", "m2"), ("s1", "none"), ("s2", "m0")]) == 1
    hike, taxes = seen(app)
    assert "wombat" not in words([hike])
    assert (hike.id, hike.prompt, hike.to_position, taxes) == (before[0].id, None, 3, before[1])
    assert "trail" in hike.narrative


def test_what_was_erased_while_it_was_thought_about_is_not_written(app: Database) -> None:
    accept_all(app, talk([*HIKE[:2], "My wombat is ill."]))
    plan = planned(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = '' WHERE id = 'm2'"))
    with pytest.raises(Conflict, match="erased"):
        write(app, plan)
    wrote(app)
    assert "wombat" not in words(seen(app))
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM units"))
    gone = planned(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM messages"))
        tx.execute(text("DELETE FROM sessions"))
    with pytest.raises(Conflict, match="erased"):
        write(app, gone)


def test_units_that_were_deleted_are_cut_anew(app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100)])
    wrote(app)
    before = spans(seen(app))
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM units"))
    assert wrote(app) == {"units": 2, "grown": 0}
    assert spans(seen(app)) == before


class Recording(HashEmbedder):
    """Notes what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        return super().embed(texts)


def index(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
        rows = search_index.plan(session, search_index.unindexed_messages(tx, session))
        search_index.put_messages(tx, TENANT, [(session, rows)])


def cut(app: Database, embedder: HashEmbedder) -> units.PendingUnits:
    with app.tenant(TENANT) as tx:
        found = units.read(tx, "s1")
    return units.plan(TENANT, found, embedder, GAP)


def test_a_message_that_is_indexed_with_its_vector_is_not_embedded_again(app: Database) -> None:
    accept_all(app, talk(HIKE, speaker="Ada"))
    index(app)
    with app.tenant(TENANT) as tx:
        rows = search_index.rows_to_embed(tx, ["s1"], salt="")
        search_index.put_vectors(tx, rows, HashEmbedder().embed([row.text for row in rows]))
    embedder = Recording()
    draft = cut(app, embedder)
    assert embedder.texts == [one.search_text for one in draft.drafts]
    assert write(app, draft)["units"] == len(draft.drafts) == 1


def test_what_a_cut_had_to_embed_is_left_in_the_index(app: Database) -> None:
    accept_all(app, talk(HIKE, speaker="Ada"))
    index(app)
    embedder = Recording()
    write(app, cut(app, embedder))
    assert embedder.texts[: len(HIKE)] == [f"Ada: {line}" for line in HIKE]
    with app.tenant(TENANT) as tx:
        assert search_index.rows_to_embed(tx, ["s1"], salt="") == []
        kept = search_index.vectors_of_messages(tx, "s1", ["m0"])
    assert kept["m0"] == pytest.approx(HashEmbedder().embed([f"Ada: {HIKE[0]}"])[0], abs=1e-3)


def test_a_row_that_another_transaction_writes_is_not_waited_for(app: Database) -> None:
    accept_all(app, talk(HIKE))
    index(app)
    with app.tenant(TENANT) as writer:
        (first, *_) = rows = search_index.rows_to_embed(writer, ["s1"], salt="")
        vectors = HashEmbedder().embed([row.text for row in rows])
        search_index.put_vectors(writer, [first], vectors[:1])
        with app.tenant(TENANT) as tx:
            search_index.offer_vectors(tx, rows, vectors)
        with app.tenant(TENANT) as tx:
            assert [row.ref for row in search_index.rows_to_embed(tx, ["s1"], salt="")] == [first.ref]
    with app.tenant(TENANT) as tx:
        assert search_index.rows_to_embed(tx, ["s1"], salt="") == []
