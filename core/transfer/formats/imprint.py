"""Imprint's own archive, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, cast

from core.transfer.archive import FORMAT, VERSION
from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Note, Record, Skipped, Statement, Turn

SERVED: Final = frozenset({"candidate", "confirmed"})


def is_manifest(one: Object) -> bool:
    return one.get("format") == FORMAT


def require_readable(manifest: Object) -> str | None:
    """Return why this release cannot read an archive; None: it can."""
    version = manifest.get("version")
    if version == VERSION:
        return None
    return f"is an archive of version {version}; this release reads version {VERSION}: install the one that wrote it"


def is_message(one: Object) -> bool:
    return {"session_id", "ordinal", "role", "content", "occurred_at"} <= one.keys()


def is_memory(one: Object) -> bool:
    return {"ordinal", "content", "versions", "evidence", "status"} <= one.keys()


def is_document(one: Object) -> bool:
    return {"title", "media_type", "content", "version"} <= one.keys()


def turn(one: Object) -> Turn | None:
    content = fields.text(one.get("content"))
    if not content.strip() or one.get("trust") == "quarantined":
        return None
    role = cast("Literal['user', 'assistant', 'system', 'tool']", one["role"])
    return Turn(str(one["id"]), role, content, fields.moment(one["occurred_at"]), one.get("speaker"))


def memory(one: Object, where: str) -> Iterator[Record]:
    """Yield a memory in force; what was superseded or archived is not taken over."""
    if one.get("status") != "active" or one.get("trust") not in SERVED:
        yield Skipped(where, f"a memory that is {one.get('status')} and {one.get('trust')}")
        return
    names = ("kind", "category", "topic", "subject", "attribute", "value", "importance", "structured", "pinned")
    kept = {name: one[name] for name in names if one.get(name) not in (None, {}, False)}
    dated = {n: one[n] for n in ("valid_from", "valid_to", "expires_at", "half_life_days") if one.get(n) is not None}
    identity = f"imprint/{one['ordinal']}/{one['content']}"
    said = fields.moment(one.get("occurred_at")) or fields.moment(one.get("recorded_at"))
    tags = [tag for tag in fields.items(one.get("tags")) if isinstance(tag, str)]
    trusted = one.get("trust") == "confirmed"
    yield Statement(identity, fields.text(one["content"]), said, None, tags, trusted, {**kept, **dated})


def document(one: Object) -> Iterator[Record]:
    name = fields.text(one.get("uri")) or fields.text(one.get("title"))
    yield Note(f"imprint/{name}", fields.text(one.get("title")) or name, fields.text(one["content"]))
