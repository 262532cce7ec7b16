"""Gemini's activity in Google Takeout: one record for each prompt with its answer, and no word of conversations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from itertools import groupby
from typing import Final

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, FileEntry, Record, Skipped, Turn

PROMPT: Final = re.compile(
    r"(?:prompted with|prompted|asked gemini|asked bard|asked|said|branched|answered)\b:?\s*", re.IGNORECASE
)
"""Verb before what the user wrote, in the title of a record."""

OTHER: Final = re.compile(
    r"(?:created|used|added|gave|selected|shared|deleted|viewed|visited|searched|edited|pinned|renamed|exported|"
    r"updated|opened|cancelled|canceled|turned)\b",
    re.IGNORECASE,
)
"""Verb of a record of something else that the user did."""

ATTACHED: Final = re.compile(r"\s*Attached \d+ files?\.?\s*$", re.IGNORECASE)

BLOCKS: Final = frozenset("p br li div h1 h2 h3 h4 tr pre ul ol table blockquote".split())

NO_PROMPT: Final = "an activity that is no prompt"
OTHER_PRODUCT: Final = "an activity of another product"


def recognises(entry: Object) -> bool:
    return _is_activity(entry) and _is_gemini(entry)


def read(entries: Iterable[FileEntry]) -> Iterator[Record]:
    """Yield a conversation for each day: records say when, but not to which conversation they belong."""
    for day, several in groupby(entries, lambda entry: _day(entry.value)):
        turns = list[Turn]()
        for entry in several:
            reason = _left_out(entry.value)
            if reason is None:
                turns += _turns(entry.value)
                yield from (Skipped(entry.where, "an attached file") for _ in _files(entry.value))
            else:
                yield Skipped(entry.where, reason, odd=not _is_activity(entry.value))
        if turns:
            turns.sort(key=lambda turn: turn.at or datetime.min.replace(tzinfo=UTC))
            yield Conversation(f"gemini/{day or 'undated'}", turns)


def _is_activity(entry: Object) -> bool:
    return isinstance(entry.get("title"), str) and "time" in entry and not {"header", "products"}.isdisjoint(entry)


def _is_gemini(entry: Object) -> bool:
    names = [entry.get("header"), *fields.items(entry.get("products"))]
    return any("gemini" in fields.text(name).lower() or "bard" in fields.text(name).lower().split() for name in names)


def _day(record: Object) -> date | None:
    at = fields.moment(record.get("time"))
    return at and at.astimezone(UTC).date()


def _left_out(record: Object) -> str | None:
    """Return why a record is left out; None: it is a prompt. Of other languages, what was answered is one."""
    title = fields.text(record.get("title")).strip()
    if not _is_activity(record):
        return "an entry that is no activity"
    if not _is_gemini(record):
        return OTHER_PRODUCT
    match = PROMPT.match(title)
    if (match is None and (OTHER.match(title) or not _answer(record))) or not _prompt(title):
        return NO_PROMPT
    return None


def _turns(record: Object) -> list[Turn]:
    at, prompt, answer = fields.moment(record.get("time")), _prompt(fields.text(record.get("title"))), _answer(record)
    turns = [Turn(fields.digest(record.get("time"), "user", prompt), "user", prompt, at)]
    if answer:
        turns.append(Turn(fields.digest(record.get("time"), "assistant", answer), "assistant", answer, at))
    return turns


def _prompt(title: str) -> str:
    match = PROMPT.match(title.strip())
    return ATTACHED.sub("", title.strip()[match.end() if match else 0 :]).strip()


def _answer(record: Object) -> str:
    html = record.get("safeHtmlItem")
    several = [html] if isinstance(html, dict) else fields.objects(html)
    return fields.paragraphs(_words(fields.first_text(item, "html", "htmlValue")) for item in several)


def _files(record: Object) -> list[object]:
    return [*fields.items(record.get("attachedFiles")), *fields.items(record.get("imageFile"))]


def _words(html: str) -> str:
    parser = _Words()
    parser.feed(html)
    parser.close()
    return re.sub(r"[ \t]*\n\s*", "\n", "".join(parser.texts)).strip()


class _Words(HTMLParser):
    """The words of HTML, with a line for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in BLOCKS:
            self.texts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.texts.append("\n")
