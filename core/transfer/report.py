"""Report on what an import would take over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from core.transfer.archive_reader import ArchiveReader
from core.transfer.reading import PathReading
from core.transfer.records import Conversation, Record, Skipped, Statement
from core.types import Json

EXAMPLES: Final = 3
"""Places that are named for each reason."""

REASONS: Final = 100
"""Reasons that are told apart: some name what only a file knows."""

OTHER: Final = "something else"


@dataclass(slots=True)
class Report:
    """Result of a reading. `odd`: how much of what is left out is not as its format has it."""

    formats: list[str] = field(default_factory=list)
    conversations: set[str] = field(default_factory=set)
    sessions: int = 0
    messages: int = 0
    statements: int = 0
    documents: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    odd: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def count(self, record: Record) -> None:
        if isinstance(record, Skipped):
            self._skip(record)
            return
        if isinstance(record, Conversation):
            self.conversations.add(record.id)
            self.messages += len(record.turns)
            for turn in record.turns:
                self._date(turn.at)
            return
        if isinstance(record, Statement):
            self.statements += 1
        else:
            self.documents += 1
        self._date(record.at)

    def _skip(self, record: Skipped) -> None:
        reason = record.reason if record.reason in self.skipped or len(self.skipped) < REASONS else OTHER
        self.skipped[reason] += record.number
        self.odd += record.odd * record.number
        examples = self.examples.setdefault(reason, [])
        if len(examples) < EXAMPLES:
            examples.append(record.where)

    def _date(self, at: datetime | None) -> None:
        if at is not None:
            self.first = at if self.first is None else min(self.first, at)
            self.last = at if self.last is None else max(self.last, at)

    @classmethod
    def of(cls, reading: PathReading) -> Report:
        """Read everything once. Unreadable: a file is broken, or nothing is known."""
        report = cls()
        for record in reading.records():
            report.count(record)
        report.formats = sorted(reading.recognised)
        return report

    @classmethod
    def of_archive(cls, archive: ArchiveReader) -> Report:
        """Read and check an archive of Imprint as a whole. Invalid: something in it is wrong; Unreadable."""
        lines = archive.check()
        report = cls(
            ["imprint"], messages=lines["messages"], statements=lines["memories"], documents=lines["documents"]
        )
        report.sessions = lines["sessions"]
        report.first, report.last = archive.span
        return report

    @property
    def talks(self) -> int:
        """The number of conversations, or of the sessions of an archive."""
        return self.sessions or len(self.conversations)

    def as_json(self) -> Json:
        return {
            "formats": self.formats,
            "conversations": self.talks,
            "messages": self.messages,
            "statements": self.statements,
            "documents": self.documents,
            "skipped": dict(self.skipped.most_common()),
            "examples": self.examples,
            "odd": self.odd,
            "first": self.first and self.first.isoformat(),
            "last": self.last and self.last.isoformat(),
        }
