"""The graph of an owner's memories: bounded, the best connected first, by the owner's index alone."""

from __future__ import annotations

from unittest import mock
from uuid import UUID

from sqlalchemy import text

from core.browsing import graph
from core.browsing.graph import MemoryGraph
from core.config import Settings
from core.memory.changes import Link, Owner
from core.storage.db import Database
from core.types import Relation
from tests import databases
from tests.factories import a_memory, carry_out, many_memories
from tests.samples import TENANT


def graph_of(app: Database, user: str | None = "ada", group: str | None = None, limit: int = 10) -> MemoryGraph:
    with app.tenant(TENANT) as tx:
        return graph.of_owner(tx, user, group, statuses=["active"], trusts=["candidate"], limit=limit)


def made(app: Database, count: int, owner: Owner = Owner("ada")) -> list[UUID]:
    adds = [a_memory(f"Ada has {n} cats.") for n in range(count)]
    carry_out(app, *adds, owner=owner)
    return [one.id for one in adds]


def test_edges_join_shown_memories_alone(app: Database) -> None:
    one, two, three = made(app, 3)
    carry_out(app, Link(one, Relation.SUPPORTS, two), Link(one, Relation.ABOUT, three))
    found = graph_of(app)
    assert found.nodes[0].id == one
    assert {(edge.from_id, edge.to_id) for edge in found.edges} == {(one, two), (one, three)}
    few = graph_of(app, limit=2)
    assert ([node.id for node in few.nodes], few.more) == ([one, three], True)
    assert [(edge.from_id, edge.to_id) for edge in few.edges] == [(one, three)]


def test_a_group_has_the_memories_of_all_its_members(app: Database) -> None:
    made(app, 1)
    mine, theirs = made(app, 1, Owner("ada", "g")), made(app, 1, Owner("bob", "g"))
    assert {node.id for node in graph_of(app, None, "g").nodes} == {*mine, *theirs}
    assert [node.id for node in graph_of(app, "bob", "g").nodes] == theirs


def test_others_memories_are_not_read(app: Database, settings: Settings) -> None:
    many_memories(app, 5_000, due=0)
    made(app, 2)
    databases.analyzed(settings, "memories")
    with mock.patch.object(graph, "LOOKED_AT", 100), app.tenant(TENANT) as tx:
        values = {"user": "ada", "group": None, "statuses": ["active"], "trusts": ["candidate"], "most": 101}
        plan = tx.execute(text(f"EXPLAIN (FORMAT JSON) {graph._LATEST.text}"), values).scalar_one()
    assert "user_id" in str(plan)
    assert "Seq Scan" not in str(plan)
