"""A store for LangGraph, on the documents of one user.

An item is a document: its words are found by searches, and its value is in the metadata, unchanged except for secrets,
which the service never stores. Puts overwrite; nothing is judged or extracted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
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

from imprint_client import Imprint

Json = dict[str, Any]

PREFIX = "langgraph:"
CONSIDERED = 100
"""Passages that are asked for to rank the items of a namespace."""

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
            return self._put(op)
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
        held = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value)}
        words = op.key if op.index is False else _words(op.value) or op.key
        body = {
            "uri": _uri(op.namespace, op.key),
            "user_id": self._user_id,
            "title": op.key,
            "media_type": "text/plain",
        }
        # A change of the value alone leaves the words equal, which the service would take for the same document.
        self._client.save_document(f"{words}\n\n{json.dumps(held['value'])}", metadata=held, **body)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        rows = [row for row in self._rows() if _is_within(row, op.namespace_prefix) and _passes(row, op.filter)]
        scores: dict[str, float] = {}
        if op.query:
            asked = {"include": ["documents"], "limit": CONSIDERED}
            for hit in self._client.search(op.query, user_id=self._user_id, **asked):
                scores.setdefault(hit["id"].partition("#")[0], hit["score"])
            rows = sorted((row for row in rows if row["id"] in scores), key=lambda row: -scores[row["id"]])
        chosen = rows[op.offset : op.offset + op.limit]
        return [SearchItem(**_item(row), score=scores.get(row["id"])) for row in chosen]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {tuple(row["metadata"]["namespace"]) for row in self._rows()}
        matching = {one for one in found if all(_matches(one, condition) for condition in op.match_conditions or ())}
        cut = sorted({one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]

    def _find(self, namespace: tuple[str, ...], key: str) -> Json | None:
        rows = self._client.documents(user_id=self._user_id, uri=_uri(namespace, key))
        return rows[0] if rows else None

    def _rows(self) -> list[Json]:
        rows = self._client.documents(user_id=self._user_id)
        return [row for row in rows if (row["uri"] or "").startswith(PREFIX)]


def _uri(namespace: tuple[str, ...], key: str) -> str:
    return PREFIX + json.dumps([*namespace, key], ensure_ascii=False, separators=(",", ":"))


def _item(row: Json) -> Json:
    held = row["metadata"]
    times = {name: datetime.fromisoformat(row[name].replace("Z", "+00:00")) for name in ("created_at", "updated_at")}
    return {"value": held["value"], "key": held["key"], "namespace": tuple(held["namespace"]), **times}


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(_words, parts)))


def _is_within(row: Json, prefix: tuple[str, ...]) -> bool:
    return tuple(row["metadata"]["namespace"][: len(prefix)]) == prefix


def _passes(row: Json, wanted: Mapping[str, Any] | None) -> bool:
    value = row["metadata"]["value"]
    return all(_compares(value.get(name), asked) for name, asked in (wanted or {}).items())


def _compares(held: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping) and any(name.startswith("$") for name in asked):
        return all(COMPARISONS[name](held, value) for name, value in asked.items())
    return bool(held == asked)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(asked in ("*", label) for asked, label in zip(path, part, strict=True))
