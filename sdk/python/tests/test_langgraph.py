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


def test_an_item_that_is_not_to_be_indexed_is_found_by_no_word(store: ImprintStore) -> None:
    store.put(SPACE, "cello", {"content": "Her sister plays the cello."}, index=False)
    assert store.search(SPACE, query="cello") == []
    assert [item.key for item in store.search(SPACE)] == ["cello"]
    item = store.get(SPACE, "cello")
    assert item is not None
    assert item.value == {"content": "Her sister plays the cello."}
    store.put(SPACE, "cello", {"content": "Her sister plays the cello."})
    assert [item.key for item in store.search(SPACE, query="cello")] == ["cello"]


def test_an_item_is_found_by_the_fields_that_it_names_alone(store: ImprintStore) -> None:
    value = {"title": "Music", "notes": [{"text": "She plays the cello."}], "secret": "Her brother sails."}
    store.put(SPACE, "k1", value, index=["title", "notes[*].text"])
    assert [item.value for item in store.search(SPACE, query="cello")] == [value]
    store.put(SPACE, "k2", {"title": "He sails."})
    assert [item.key for item in store.search(SPACE, query="sails") if item.score] == ["k2"]


def test_an_operator_that_langgraph_does_not_have_is_named(store: ImprintStore) -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator: \$in"):
        store.search(SPACE, filter={"rank": {"$in": [1, 2]}})


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


def test_a_search_reads_what_it_returns_and_not_everything(
    store: ImprintStore, service: tuple[str, str], user: str
) -> None:
    asked: list[str] = []
    with Imprint(*service) as client:
        for number in range(5):
            store.put(("ada", "cats"), f"k{number}", {"content": f"Cat {number} purrs."})
        for number in range(150):
            client.save_document(f"Cat {number} purrs in the handbook.", user_id=user, uri=f"cats-{number}")
            if number < 20:
                store.put(("adas", "cats"), f"k{number}", {"content": f"Cat {number} of the neighbours purrs."})
        send = client.request
        client.request = lambda method, path, **more: (asked.append(path), send(method, path, **more))[1]
        counting = ImprintStore(client, user_id=user)
        found = counting.search(("ada",), query="Which cat purrs?", limit=2)
        assert {item.namespace for item in found} == {("ada", "cats")}
        assert asked == ["/v1/search", *(path for path in asked if path.startswith("/v1/documents/"))]
        assert len(asked) == 3
        asked.clear()
        assert [item.key for item in counting.search(("ada",), limit=2, offset=1)] == ["k3", "k2"]
        assert asked == ["/v1/documents"]
        assert len(counting.search(("ada", "cats"), query="purrs", limit=10)) == 5


def test_what_was_recalled_and_put_again_becomes_no_memory(
    store: ImprintStore, service: tuple[str, str], user: str
) -> None:
    with Imprint(*service) as client:
        stated = client.remember("Ada is allergic to peanuts.", user_id=user)["memory"]
        (known,) = client.search("peanuts", user_id=user, include=["memories"])
        store.put(SPACE, "note", {"content": known["content"]})
        assert client.memories(user_id=user)[0]["version"] == stated["version"]
        assert len(client.memories(user_id=user)) == 1
