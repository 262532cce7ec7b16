"""Exports of other memory services: mem0, Hindsight, LangGraph's stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import FileEntry, Note, Record, Skipped, Statement

CONTENT: Final = ("content", "text", "memory", "data", "fact")
"""Fields under which a LangGraph store keeps the words of a value."""

AGENT: Final = "assistant"
"""Subject of what an agent has noted of itself."""

EXPERIENCE: Final = "experience"
"""Hindsight's type of facts about what the agent did, in its first person."""

NO_TEXT: Final = "a memory without text"
EXPIRED: Final = "a memory that had expired when it was recorded, or has no time and has expired"

METADATA: Final = 50_000
"""Characters of the metadata of a memory that are kept."""

DAY: Final = len("2025-01-31")


def is_mem0(entry: Object) -> bool:
    """Return whether it is a memory of mem0, or a page: an object with a list of memories."""
    return _is_memory(entry) or any(_is_memory(item) for item in fields.objects(entry.get("results")))


def is_hindsight(entry: Object) -> bool:
    return isinstance(entry.get("facts"), list) and "original_text" in entry


def is_langgraph(entry: Object) -> bool:
    return {"key", "value"} <= entry.keys() and not {"prefix", "namespace"}.isdisjoint(entry)


def mem0(entry: FileEntry) -> Iterator[Record]:
    """Yield a memory of mem0, or those of a page."""
    if _is_memory(entry.value) or not isinstance(entry.value.get("results"), list):
        yield from _mem0(entry.value, entry.where)
        return
    for number, item in enumerate(entry.value["results"]):
        yield from _mem0(fields.mapping(item), f"{entry.where}/results/{number}")


def hindsight(entry: FileEntry) -> Iterator[Record]:
    """Yield a document of Hindsight with its facts."""
    document = entry.value
    identity = fields.text(document.get("id")) or entry.where
    original, at = fields.text(document.get("original_text")), fields.moment(document.get("created_at"))
    if original.strip():
        yield Note(f"hindsight/{identity}", identity, original, at)
    for number, item in enumerate(fields.items(document.get("facts"))):
        fact = fields.mapping(item)
        content = fields.text(fact.get("text")).strip()
        if content:
            about = {"subject": AGENT} if fact.get("fact_type") == EXPERIENCE else {}
            recorded = fields.moment(fact.get("mentioned_at")) or at
            yield Statement(f"hindsight/{identity}/{number}", content, recorded, metadata=about)
        else:
            yield Skipped(f"{entry.where}/facts/{number}", NO_TEXT, odd=True)


def langgraph(entry: FileEntry) -> Iterator[Record]:
    """Yield an item of a LangGraph store, if its value has words. SQLite keeps the value as text of JSON."""
    row = entry.value
    value = _parsed(row.get("value"))
    content = _words(value)
    if not content:
        yield Skipped(entry.where, "an item without text (looked for " + ", ".join(CONTENT) + ")", odd=True)
        return
    prefix = row.get("prefix", row.get("namespace"))
    identity = fields.digest(json.dumps([prefix, row.get("key")], default=str))
    kept = fields.storable({"namespace": prefix, "key": row.get("key")})
    at = fields.moment(row.get("created_at"))
    statement = Statement(f"langgraph/{identity}", content, at, metadata=kept)
    yield _until(statement, fields.moment(row.get("expires_at")), entry.where)


def _is_memory(entry: Object) -> bool:
    return "memory" in entry and "id" in entry


def _mem0(memory: Object, where: str) -> Iterator[Record]:
    content = fields.text(memory.get("memory")).strip()
    if not content or "id" not in memory:
        yield Skipped(where, NO_TEXT, odd=True)
        return
    metadata = fields.mapping(memory.get("metadata"))
    is_large = len(json.dumps(metadata)) > METADATA
    if is_large:
        yield Skipped(where, f"metadata of over {METADATA} characters")
    kept = {"metadata": fields.storable(metadata)} if metadata and not is_large else {}
    expires = memory.get("expiration_date") or metadata.get("expiration_date")
    statement = Statement(f"mem0/{memory['id']}", content, fields.moment(memory.get("created_at")), metadata=kept)
    yield _until(statement, _end_of_day(expires), where)


def _end_of_day(value: object) -> datetime | None:
    """Return when a memory of mem0 expires: behind the day that it names."""
    at = fields.moment(value)
    return at + timedelta(days=1) if at and isinstance(value, str) and len(value.strip()) == DAY else at


def _until(statement: Statement, expires: datetime | None, where: str) -> Record:
    """Return a statement that expires; it is left out where it had expired before it could be kept."""
    if expires is None:
        return statement
    if expires <= (statement.at or datetime.now(UTC)):
        return Skipped(where, EXPIRED)
    kept = {**statement.metadata, "expires_at": expires.astimezone(UTC).isoformat()}
    return Statement(statement.id, statement.content, statement.at, metadata=kept)


def _words(value: object) -> str:
    """Return the words of a value: its own, or those of its `content`, as LangMem nests them."""
    if isinstance(value, str):
        return fields.text(value).strip()
    own = fields.mapping(value)
    inner = fields.mapping(_parsed(own.get("content")))
    return fields.first_text(inner, *CONTENT) or fields.first_text(own, *(CONTENT[1:] if inner else CONTENT))


def _parsed(value: Any) -> Any:
    """Return the value of a text of JSON; any other text, and any other value, as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
