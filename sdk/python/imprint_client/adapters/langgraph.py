"""A store for LangGraph, on the documents of one user.

An item is a document: its words are found by searches, and its value is in the metadata, unchanged except for secrets,
which the service never stores. Puts overwrite; nothing is judged or extracted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.embed import get_text_at_path

from imprint_client import Imprint, ImprintError

Json = dict[str, Any]

PREFIX = "langgraph:"
NOT_FOUND = 404
UNINDEXED = "unindexed"
"""Key in the metadata of an item that no search by words finds."""

PAGE = 200
"""Documents, or passages, of one request."""

COMPARISONS: Mapping[str, Any] = {
    "$eq": lambda held, value: held == value,
    "$ne": lambda held, value: held != value,
    "$gt": lambda held, value: held is not None and held > value,
    "$gte": lambda held, value: held is not None and held >= value,
    "$lt": lambda held, value: held is not None and held < value,
    "$lte": lambda held, value: held is not None and held <= value,
}


class ImprintStore(BaseStore):
    """Items by namespace and key; without TTL, which documents do not have."""

    def __init__(self, client: Imprint, *, user_id: str) -> None:
        self._client = client
        self._user_id = user_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in their order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in their order, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"Unknown operation: {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        row = self._find(op.namespace, op.key)
        return None if row is None else Item(**_item(row))

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            row = self._find(op.namespace, op.key)
            if row is not None:
                self._client.delete_document(row["id"])
            return
        held: Json = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value)}
        if op.index is False:
            held[UNINDEXED] = True
        body = {
            "uri": _uri(op.namespace, op.key),
            "user_id": self._user_id,
            "title": op.key,
            "media_type": "text/plain",
        }
        self._client.save_document(_content(op), metadata=held, **body)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _require_operators(op.filter)
        below = _below(op.namespace_prefix)
        ranked = self._ranked(op.query, below) if op.query else ((row, None) for row in self._rows(below))
        passing = (SearchItem(**_item(row), score=score) for row, score in ranked if _passes(row, op.filter))
        return list(islice(passing, op.offset, op.offset + op.limit))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {tuple(row["metadata"]["namespace"]) for row in self._rows(_below(_shared_prefix(conditions)))}
        matching = {one for one in found if all(_matches(one, condition) for condition in conditions)}
        cut = sorted({one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]

    def _find(self, namespace: tuple[str, ...], key: str) -> Json | None:
        rows = self._client.documents(user_id=self._user_id, uri=_uri(namespace, key))
        return rows[0] if rows else None

    def _ranked(self, query: str, below: str) -> Iterator[tuple[Json, float]]:
        """Yield the items whose words answer a question, best first; an item is read when it is asked for."""
        asked: Json = {"query": query, "user_id": self._user_id, "include": ["documents"], "uri_prefix": below}
        seen: set[str] = set()
        while True:
            page = self._client.request("POST", "/v1/search", json={**asked, "limit": PAGE})
            for hit in page["results"]:
                document_id = hit["id"].partition("#")[0]
                row = None if document_id in seen else self._row(document_id)
                seen.add(document_id)
                if row is not None and UNINDEXED not in row["metadata"]:
                    yield row, hit["score"]
            if page["next"] is None:
                return
            asked["after"] = page["next"]

    def _row(self, document_id: str) -> Json | None:
        try:
            row: Json = self._client.request("GET", f"/v1/documents/{document_id}")
        except ImprintError as error:
            if error.status != NOT_FOUND:
                raise
            return None
        return row if row["user_id"] == self._user_id else None

    def _rows(self, below: str) -> Iterator[Json]:
        """Yield the documents of items, newest first; a page is read when it is asked for."""
        asked: Json = {"user_id": self._user_id, "uri_prefix": below, "limit": PAGE}
        while True:
            page = self._client.request("GET", "/v1/documents", params=asked)
            yield from page["items"]
            if page["next"] is None:
                return
            asked["after"] = page["next"]


def _below(namespace: tuple[str, ...]) -> str:
    """Return how the uris of all items begin whose namespace begins with this one."""
    if not namespace:
        return PREFIX
    return _uri(namespace[:-1], namespace[-1])[:-1] + ","


def _shared_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """Return labels with which every namespace begins that meets the conditions."""
    paths = [tuple(one.path) for one in conditions if one.match_type == "prefix"]
    plain = [tuple(takewhile(lambda label: label != "*", path)) for path in paths]
    return max(plain, key=len, default=())


def _uri(namespace: tuple[str, ...], key: str) -> str:
    return PREFIX + json.dumps([*namespace, key], ensure_ascii=False, separators=(",", ":"))


def _item(row: Json) -> Json:
    held = row["metadata"]
    times = {name: datetime.fromisoformat(row[name].replace("Z", "+00:00")) for name in ("created_at", "updated_at")}
    return {"value": held["value"], "key": held["key"], "namespace": tuple(held["namespace"]), **times}


def _content(op: PutOp) -> str:
    """Return the words by which an item is found: all of its value, or those of the fields that it names."""
    whole = json.dumps(dict(op.value or {}))
    # A change of the value alone must not leave the content equal: the service would take it for the same document.
    digest = hashlib.sha256(whole.encode()).hexdigest()
    if op.index is False:
        return digest
    if op.index is None:
        return f"{_words(op.value) or op.key}\n\n{whole}"
    words = [text for path in op.index for text in get_text_at_path(dict(op.value or {}), path)]
    return "\n".join([*words, "", digest])


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(_words, parts)))


def _passes(row: Json, wanted: Mapping[str, Any] | None) -> bool:
    value = row["metadata"]["value"]
    return all(_compares(value.get(name), asked) for name, asked in (wanted or {}).items())


def _require_operators(wanted: Mapping[str, Any] | None) -> None:
    """Refuse a filter with an operator that LangGraph does not have. ValueError."""
    for condition in (wanted or {}).values():
        unknown = next((name for name in condition if name not in COMPARISONS), None) if _operates(condition) else None
        if unknown is not None:
            raise ValueError(f"Unsupported operator: {unknown}; use one of {', '.join(COMPARISONS)}")


def _operates(condition: Any) -> bool:
    return isinstance(condition, Mapping) and any(name.startswith("$") for name in condition)


def _compares(held: Any, asked: Any) -> bool:
    if _operates(asked):
        return all(COMPARISONS[name](held, value) for name, value in asked.items())
    return bool(held == asked)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(asked in ("*", label) for asked, label in zip(path, part, strict=True))
