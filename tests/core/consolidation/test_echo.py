from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.consolidation import echo
from core.consolidation.echo import Served
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Topic
from tests.samples import TENANT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR = 3600
CAT = "Ada has a black cat named Mia."


def a_candidate(content: str = CAT, *quotes: str, said_at: datetime = NOW, **fields: object) -> Candidate:
    cited = tuple(Evidence("s1", f"m{place}", "e1", quote) for place, quote in enumerate(quotes))
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", cited, said_at)
    return replace(plain, **fields)


def a_known(memory_id: UUID, content: str = CAT, similarity: float = 0.99, **fields: object) -> KnownMemory:
    return replace(KnownMemory(memory_id, 1, content, "ada", None, None, NOW, similarity), **fields)


def serve(app: Database, *served: Served, user: str = "ada", at: datetime = NOW) -> None:
    with app.tenant(TENANT) as tx:
        echo.note(tx, TENANT, user, served, now=at)


def reason(
    app: Database,
    candidate: Candidate,
    *known: KnownMemory,
    user: str = "ada",
    within: float = HOUR,
    now: datetime = NOW,
) -> str | None:
    with app.tenant(TENANT) as tx:
        return echo.echo_reasons(tx, user, [candidate], [known], within, now=now)[0]


def count(app: Database) -> int:
    with app.tenant(TENANT) as tx:
        return int(tx.execute(text("SELECT count(*) FROM servings")).scalar_one())


def test_the_memory_that_was_handed_out_is_an_echo_in_its_words_and_in_others(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    assert str(mia) in (reason(app, a_candidate("ada has a black cat named Mia"), a_known(mia)) or "")
    assert str(mia) in (reason(app, a_candidate("A black cat named Mia is what Ada has."), a_known(mia)) or "")


def test_the_value_of_a_slot_that_was_handed_out_is_an_echo_in_any_words(app: Database) -> None:
    home = uuid4()
    serve(app, Served("Ada lives in Lisbon.", home))
    known = a_known(home, "Ada lives in Lisbon.", 0.4, attribute="home.city", value="Lisbon")
    again = a_candidate("Lisbon is where you are at home.", attribute="home.city", value="lisbon")
    assert reason(app, again, known) is not None
    assert reason(app, replace(again, value="Porto"), known) is None


def test_what_says_something_else_is_no_echo_of_its_neighbour(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    assert reason(app, a_candidate("Ada has a black cat named Zoe."), a_known(mia)) is None
    assert reason(app, a_candidate("Ada has no black cat named Mia."), a_known(mia)) is None
    assert reason(app, a_candidate(), a_known(mia, subject="bob"), a_known(uuid4())) is not None
    assert reason(app, a_candidate("Ada has a dog."), a_known(uuid4())) is None


def test_one_sentence_of_a_message_that_was_handed_out_is_an_echo_also_in_the_second_person(app: Database) -> None:
    serve(app, Served("Hello! I moved to Lisbon in May. My brother's name is Tom, by the way."))
    assert reason(app, a_candidate("Ada moved to Lisbon.", "You moved to Lisbon in May!")) is not None
    tom = a_candidate("Ada has a brother.", "As you said. Your brother's name is Tom, by the way.")
    assert reason(app, tom) is not None
    assert reason(app, a_candidate("Ada moved to Porto.", "You moved to Porto in May!")) is None


def test_an_echo_is_known_in_chinese(app: Database) -> None:
    serve(app, Served("你好。我五月搬到了里斯本。我哥哥叫汤姆。"))
    assert reason(app, a_candidate("五月搬家", "您五月搬到了里斯本。")) is not None
    assert reason(app, a_candidate("五月搬家", "您六月搬到了里斯本。")) is None


def test_what_rests_on_something_new_too_is_no_echo(app: Database) -> None:
    serve(app, Served("I moved to Lisbon in May."))
    both = a_candidate("Ada moved.", "You moved to Lisbon in May.", "The flat has two rooms in Alfama.")
    assert reason(app, both) is None


def test_a_sentence_that_everyone_says_is_no_echo(app: Database) -> None:
    serve(app, Served("Sounds good. Yes!"))
    assert count(app) == 0
    assert reason(app, a_candidate("Ada agrees.", "Sounds good.")) is None


def test_an_echo_is_one_for_its_user_and_its_time_alone(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    assert reason(app, a_candidate(), a_known(mia), user="bob") is None
    assert reason(app, a_candidate(), within=0) is None
    later = NOW + timedelta(seconds=HOUR + 1)
    assert reason(app, a_candidate(said_at=later), a_known(mia), now=later) is None
    assert reason(app, a_candidate(said_at=later), a_known(mia), now=later - timedelta(seconds=2)) is not None


def test_when_it_was_said_counts_however_late_it_is_read(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    tomorrow = NOW + timedelta(days=1)
    assert reason(app, a_candidate(said_at=NOW + timedelta(minutes=1)), a_known(mia), now=tomorrow) is not None
    assert reason(app, a_candidate(said_at=NOW - timedelta(minutes=1)), a_known(mia), now=tomorrow) is None


def test_nobody_else_sees_what_a_tenant_was_handed_out(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    with app.tenant("globex") as tx:
        assert echo.echo_reasons(tx, "ada", [a_candidate()], [[a_known(mia)]], HOUR, now=NOW) == [None]


def test_many_candidates_are_answered_in_their_order(app: Database) -> None:
    mia = uuid4()
    serve(app, Served(CAT, mia))
    with app.tenant(TENANT) as tx:
        found = echo.echo_reasons(
            tx, "ada", [a_candidate("Ada has a dog."), a_candidate()], [[], [a_known(mia)]], HOUR, NOW
        )
        assert [one is None for one in found] == [True, False]
        assert echo.echo_reasons(tx, "ada", [], [], HOUR) == []


def test_what_is_handed_out_again_counts_from_then_and_keeps_its_memory(app: Database) -> None:
    mia, later = uuid4(), NOW + timedelta(minutes=50)
    serve(app, Served(CAT, mia))
    serve(app, Served(CAT), at=later)
    serve(app, Served(CAT), at=NOW)
    assert count(app) == 1
    much_later = NOW + timedelta(minutes=100)
    found = reason(app, a_candidate(said_at=much_later), a_known(mia), now=much_later)
    assert str(mia) in (found or "")


def test_what_is_handed_out_again_at_once_is_not_written_again(app: Database) -> None:
    serve(app, Served(CAT, uuid4()))
    with app.tenant(TENANT) as tx:
        before = tx.execute(text("SELECT ctid, at FROM servings")).one()
    serve(app, Served(CAT), at=NOW + timedelta(seconds=echo.AGAIN_SECONDS / 2))
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT ctid, at FROM servings")).one() == before


def test_what_is_old_is_forgotten_a_page_at_a_time(app: Database) -> None:
    serve(app, *(Served(f"Ada has seen city number {n}.", uuid4()) for n in range(5)))
    serve(app, Served(CAT, uuid4()), at=NOW + timedelta(hours=2))
    forgotten = []
    for _ in range(4):
        with app.tenant(TENANT) as tx:
            forgotten.append(echo.forget(tx, NOW + timedelta(hours=1), page=2))
    assert forgotten == [2, 2, 1, 0]
    assert count(app) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("I've moved; my cat is ill.", "You have moved, your cat is ill"), ("I’m Ada’s sister", "you're Ada's sister")],
)
def test_who_speaks_makes_no_difference(one: str, other: str) -> None:
    assert echo.digest(one) == echo.digest(other)
    assert echo.digest(one) != echo.digest(one + " not")


def test_only_hashes_are_kept(app: Database) -> None:
    serve(app, Served(CAT, uuid4()))
    with app.tenant(TENANT) as tx:
        row = tx.execute(text("SELECT * FROM servings")).one()
    assert "Mia" not in str(row)
