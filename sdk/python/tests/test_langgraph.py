"""LangGraph's store: the adapter does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from imprint_client import Imprint
from imprint_client.adapters.langgraph import ImprintStore

SPACE = ("ada", "memories")
VALUE = {"content": "Ada likes green tea.", "nested": {"list": [1, 2.5, None, True, "ü"]}, "rank": 3}


@pytest.fixture
def store(service: tuple[str, str], user: str) -> Iterator[ImprintStore]:
    with Imprint(*service) as client:
        yield ImprintStore(client, user_id=user)


def test_what_was_put_is_got_unchanged_until_it_is_deleted(store: ImprintStore) -> None:
    store.put(SPACE, "k1", VALUE)
    item = store.get(SPACE, "k1")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (VALUE, "k1", SPACE)
    store.delete(SPACE, "k1")
    assert store.get(SPACE, "k1") is None


def test_a_put_overwrites(store: ImprintStore) -> None:
    store.put(SPACE, "k1", VALUE)
    store.put(SPACE, "k1", {**VALUE, "rank": 4})
    item = store.get(SPACE, "k1")
    assert item is not None
    assert item.value["rank"] == 4
    assert len(store.search(SPACE)) == 1


def test_a_search_ranks_by_words_within_the_namespace(store: ImprintStore) -> None:
    store.put(SPACE, "tea", {"content": "Ada likes green tea."})
    store.put(SPACE, "cello", {"content": "Her sister plays the cello."})
    store.put(("bob",), "cello", {"content": "Bob sold his cello."})
    found = store.search(SPACE, query="cello")
    assert found[0].key == "cello"
    assert found[0].score is not None
    assert {item.namespace for item in found} == {SPACE}


def test_filters_compare_values(store: ImprintStore) -> None:
    for rank in range(4):
        store.put(SPACE, f"k{rank}", {"rank": rank})
    assert {item.key for item in store.search(SPACE, filter={"rank": {"$gte": 2}})} == {"k2", "k3"}
    assert [item.key for item in store.search(SPACE, filter={"rank": 1})] == ["k1"]


def test_namespaces_are_listed_by_prefix_and_depth(store: ImprintStore) -> None:
    store.put(("ada", "work"), "k", {"n": 1})
    store.put(("ada", "home", "cats"), "k", {"n": 1})
    store.put(("bob", "work"), "k", {"n": 1})
    assert store.list_namespaces(prefix=("ada",)) == [("ada", "home", "cats"), ("ada", "work")]
    assert store.list_namespaces(suffix=("work",)) == [("ada", "work"), ("bob", "work")]
    assert store.list_namespaces(max_depth=1) == [("ada",), ("bob",)]


def test_the_asynchronous_methods_do_the_same(store: ImprintStore) -> None:
    async def put_and_get() -> object:
        await store.aput(SPACE, "k1", VALUE)
        item = await store.aget(SPACE, "k1")
        return item.value if item else None

    assert asyncio.run(put_and_get()) == VALUE
