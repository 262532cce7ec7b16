from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

from core.index import search_index
from core.search import passages

DOCUMENT = UUID(int=7)


def test_a_passage_is_named_by_its_document_and_place() -> None:
    assert passages.key(DOCUMENT, 3) == f"{DOCUMENT}#3"
    _, values = passages.passages_query([passages.key(DOCUMENT, 3)])
    assert values == {"documents": [DOCUMENT], "positions": [3]}


def test_counts_are_kept_apart_by_owner() -> None:
    _, values = passages.counts_query("ada", None, ["tea"])
    owner = values["owners"][0]
    found = passages.counts_by_owner("ada", None, [SimpleNamespace(owner=owner, term=5, documents=2)])
    assert found[owner] == {5: 2}
    assert set(found) == set(values["owners"])


def test_without_any_passage_nothing_is_summed() -> None:
    assert passages.sum_counts({search_index.TENANT_PASSAGES: {}, "u:ada": {5: 2}}) is None
    total = passages.sum_counts({search_index.TENANT_PASSAGES: {search_index.DOCUMENTS: 1, 5: 1}, "u:ada": {5: 2}})
    assert total is not None
    assert total[5] == 3
