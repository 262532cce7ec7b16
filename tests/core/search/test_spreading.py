from __future__ import annotations

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory import writer
from core.memory.changes import Link, Owner
from core.search import spreading
from core.search.spreading import FAN, WEIGHTS, Active
from core.storage.db import Database
from core.types import Relation
from tests.core.changing import PERSON
from tests.core.search.searching import apart
from tests.samples import TENANT

IDS = [str(UUID(int=n)) for n in range(6)]


LINKS = st.lists(
    st.builds(
        spreading.ActivationLink,
        st.sampled_from(IDS),
        st.sampled_from(sorted(WEIGHTS)),
        st.sampled_from(IDS),
        st.just(None),
    ),
    max_size=30,
)


@given(LINKS)
def test_activation_lies_between_nothing_and_all_and_never_comes_back_to_where_it_began(
    links: list[spreading.ActivationLink],
) -> None:
    start = Active(IDS[0], 1.0)
    first = list(spreading.step([start], links, FAN))
    second = list(spreading.step(spreading.gather(first), links, FAN))
    for one in spreading.gather([*first, *second]):
        assert 0 < one.activation < 1
        assert one.key != start.key
        assert one.links[0].source == start.key
        assert one.links[-1].target == one.key
        assert len({link.target for link in one.links}) == len(one.links)


def a_link(source: int, by: str, target: int) -> spreading.ActivationLink:
    return spreading.ActivationLink(IDS[source], by, IDS[target])


def test_links_of_one_kind_share_what_their_source_gives_and_those_of_another_do_not() -> None:
    links = [a_link(0, "about", 1), a_link(0, "about", 2), a_link(0, "follows", 3)]
    shares = {target: way.share for target, way in spreading.step([Active(IDS[0], 1.0)], links)}
    assert shares[IDS[1]] == shares[IDS[2]] == pytest.approx(WEIGHTS["about"] / (1 + math.log(2)))
    assert shares[IDS[3]] == WEIGHTS["follows"]


def test_a_link_that_is_found_twice_counts_once() -> None:
    once = list(spreading.step([Active(IDS[0], 1.0)], [a_link(0, "about", 1)]))
    assert list(spreading.step([Active(IDS[0], 1.0)], [a_link(0, "about", 1)] * 2)) == once


def test_of_many_links_those_of_the_heaviest_kind_go_first_and_of_these_the_newest() -> None:
    links = [a_link(0, "evidence", 5), a_link(0, "refines", 1), a_link(0, "refines", 3), a_link(0, "refines", 2)]
    assert [target for target, _ in spreading.step([Active(IDS[0], 1.0)], links, 2)] == [IDS[3], IDS[2]]


def test_ways_to_one_memory_add_up_and_the_strongest_is_told() -> None:
    weak, strong = (spreading.Way(share, (a_link(n, "about", 3),)) for n, share in enumerate((0.25, 0.5)))
    (found,) = spreading.gather([(IDS[3], weak), (IDS[3], strong)])
    assert found.activation == pytest.approx(1 - 0.75 * 0.5)
    assert found.links == strong.links


def test_equals_are_told_in_the_order_of_their_keys() -> None:
    ways = [(key, spreading.Way(0.5)) for key in reversed(IDS)]
    assert [one.key for one in spreading.gather(ways)] == IDS


def test_every_relation_of_memories_carries_activation() -> None:
    assert set(Relation) <= WEIGHTS.keys()
    assert all(0 < share < 1 for share in WEIGHTS.values())


def test_a_group_shares_its_links_while_who_browses_sees_their_own(app: Database) -> None:
    mine, theirs = apart("Ada has a cat.", 1), apart("Bob has a cat.", 2)
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, Owner("ada", "crew"), [mine], PERSON)
        writer.apply(tx, TENANT, Owner("bob", "crew"), [theirs, Link(mine.id, Relation.ABOUT, theirs.id)], PERSON)
        asking, browsing = (spreading.Visibility("ada", "crew", browsing=around) for around in (False, True))
        found = [spreading.links(tx, [str(mine.id)], reader, reach=10) for reader in (asking, browsing)]
    assert [[one.target for one in links] for links in found] == [[str(theirs.id)], []]
