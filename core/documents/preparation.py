"""Screens and chunks a document before it is saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from core.config import Settings
from core.documents import chunking
from core.documents.chunking import MediaType
from core.errors import Invalid, Problem
from core.events import parsing
from core.index import passages
from core.index.search_index import NewRow
from core.screening import masking, screen, secret_scanner
from core.types import Json

MOST_PASSAGES: Final = 20_000
"""Maximum passages of a document: more make it a list of short entries, which takes a minute to write."""

METADATA_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document as it was sent. `uri`: its source; without user and group it belongs to the whole tenant."""

    content: str
    media_type: MediaType | None = None
    title: str | None = None
    uri: str | None = None
    user_id: str | None = None
    group_id: str | None = None
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    """A passage with its text, and the reason if it is quarantined."""

    position: int
    headings: Sequence[str]
    content: str
    from_char: int
    to_char: int
    apart: str = ""


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document ready to be written: without secrets, chunked, and with its index rows."""

    sent: SentDocument
    title: str
    media_type: MediaType
    sha256: str
    pieces: Sequence[PreparedPassage]
    rows: Sequence[NewRow]
    at: datetime


def prepare(sent: SentDocument, settings: Settings) -> DocumentDraft:
    """Screen and chunk a document; no transaction is open. Invalid: it cannot be stored, with the reason.

    `secrets`: treatment of secrets. A passage that is hostile, or has a hostile heading, is quarantined.
    """
    _check(sent, settings)
    sent = replace(sent, content=sent.content.removeprefix("\ufeff"))
    clean = _without_secrets(sent, refuse=settings.secrets == "refuse")
    media_type = clean.media_type or chunking.guess_media_type(clean.content)
    title = clean.title or chunking.title_of(clean.content, media_type)
    pieces = [_screen(title, piece) for piece in _cut(clean.content, media_type, settings.passage_tokens)]
    at, digest = datetime.now(UTC), hashlib.sha256(clean.content.encode()).hexdigest()
    indexed = [passages.IndexedPassage(p.position, title, p.headings, p.content) for p in pieces if not p.apart]
    rows = passages.plan(clean.user_id, clean.group_id, at, indexed)
    return DocumentDraft(clean, title, media_type, digest, pieces, rows, at)


def _check(sent: SentDocument, settings: Settings) -> None:
    size = len(sent.content.encode(errors="replace"))
    if size > settings.document_bytes:
        limit = f"at most {settings.document_bytes} are taken (IMPRINT_DOCUMENT_BYTES)"
        raise Invalid([Problem("/content", f"{size} bytes; {limit}. Send it in parts, each with a uri of its own")])
    if "\x00" in sent.content:
        raise Invalid([Problem("/content", "holds the character U+0000: send text, not binary data")])
    if (fault := parsing.unstorable(sent.metadata)) is not None:
        raise Invalid([Problem("/metadata", fault)])
    if len(json.dumps(sent.metadata)) > METADATA_BYTES:
        raise Invalid(
            [
                Problem(
                    "/metadata", f"more than {METADATA_BYTES} bytes; put text that searches should find into /content"
                )
            ]
        )


def _without_secrets(sent: SentDocument, *, refuse: bool) -> SentDocument:
    """Return the document with secrets masked. Invalid: its uri contains one, or secrets are refused."""
    places: dict[str, str] = {"/content": sent.content, "/title": sent.title or "", "/uri": sent.uri or ""}
    secrets_by_path = {path: secret_scanner.find_secrets(text) for path, text in places.items()}
    secrets_by_path["/metadata"] = [
        secret for _, text in masking.texts(sent.metadata) for secret in secret_scanner.find_secrets(text)
    ]
    problems = [
        Problem(path, f"holds a secret: {', '.join(sorted({secret.label for secret in secrets}))}. Remove it")
        for path, secrets in secrets_by_path.items()
        if secrets and (refuse or path == "/uri")
    ]
    if problems:
        raise Invalid(problems)
    title = sent.title and secret_scanner.redact(sent.title, secrets_by_path["/title"])
    content = secret_scanner.redact(sent.content, secrets_by_path["/content"])
    metadata = masking.map_texts(sent.metadata, _redact) if secrets_by_path["/metadata"] else sent.metadata
    return replace(sent, content=content, title=title, metadata=metadata)


def _redact(text: str) -> str:
    return secret_scanner.redact(text, secret_scanner.find_secrets(text))


def _cut(content: str, media_type: MediaType, tokens: int) -> list[PreparedPassage]:
    chunks = chunking.split(content, media_type, tokens)
    if not chunks:
        raise Invalid([Problem("/content", "holds no text")])
    if len(chunks) > MOST_PASSAGES:
        problem = f"falls into {len(chunks)} passages; at most {MOST_PASSAGES} are taken. Send it in parts"
        raise Invalid([Problem("/content", problem)])
    return [PreparedPassage(p.position, p.headings, content[p.start : p.end], p.start, p.end) for p in chunks]


def _screen(title: str, piece: PreparedPassage) -> PreparedPassage:
    """Return the screening of the passage as it would be shown."""
    screened = screen.screen("\n".join(dict.fromkeys((title, *piece.headings, piece.content))))
    if not screened.hostile:
        return piece
    reasons = dict.fromkeys(
        f"{finding.kind}: {finding.detail}" for finding in screened.findings if finding.kind in screen.HOSTILE
    )
    return replace(piece, apart="; ".join(reasons))
