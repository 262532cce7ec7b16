"""Exports of other memory services: mem0, Hindsight, LangGraph's store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Note, Record, Skipped, Statement

CONTENT: Final = ("content", "text", "memory", "data", "fact")
"""Fields under which a LangGraph store keeps the words of a value."""


def is_mem0(one: Object) -> bool:
    return isinstance(one.get("memory"), str) and "id" in one


def is_page(one: Object) -> bool:
    """Return whether it is a page of mem0: an object with a list of memories."""
    return any(is_mem0(item) for item in fields.objects(one.get("results"))[:1])


def is_hindsight(one: Object) -> bool:
    return isinstance(one.get("facts"), list) and "original_text" in one


def is_langgraph(one: Object) -> bool:
    return {"prefix", "key", "value"} <= one.keys() or {"namespace", "key", "value"} <= one.keys()


def mem0(one: Object, where: str) -> Iterator[Record]:
    """Yield a memory of mem0."""
    content = fields.text(one.get("memory")).strip()
    if not content:
        yield Skipped(where, "a memory without text")
        return
    at = fields.moment(one.get("created_at"))
    kept = {"metadata": dict(metadata)} if (metadata := fields.mapping(one.get("metadata"))) else {}
    yield Statement(f"mem0/{one['id']}", content, at, metadata=kept)


def hindsight(one: Object, where: str) -> Iterator[Record]:
    """Yield a document of Hindsight with its facts."""
    identity = fields.text(one.get("id")) or where
    original = fields.text(one.get("original_text"))
    if original.strip():
        yield Note(f"hindsight/{identity}", identity, original, fields.moment(one.get("created_at")))
    for number, fact in enumerate(fields.objects(one.get("facts"))):
        content = fields.text(fact.get("text")).strip()
        if content:
            at = fields.moment(fact.get("mentioned_at")) or fields.moment(one.get("created_at"))
            yield Statement(f"hindsight/{identity}/{number}", content, at)


def langgraph(one: Object, where: str) -> Iterator[Record]:
    """Yield an item of a LangGraph store, if its value has words."""
    value = one.get("value")
    found = fields.mapping(value)
    inner = fields.mapping(found.get("content"))
    content = next(
        (said for of in (found, inner) for name in CONTENT if (said := fields.text(of.get(name)).strip())),
        fields.text(value).strip(),
    )
    if not content:
        yield Skipped(where, "an item without text (looked for " + ", ".join(CONTENT) + ")")
        return
    prefix = one.get("prefix", one.get("namespace"))
    place = json.dumps([prefix, one.get("key")], default=str)
    identity = hashlib.sha256(place.encode()).hexdigest()[:32]
    kept = {"namespace": prefix, "key": one.get("key")}
    yield Statement(f"langgraph/{identity}", content, fields.moment(one.get("created_at")), metadata=kept)
