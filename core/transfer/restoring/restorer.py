"""Restores an archive in bounded transactions, each of which moves the cursor of its import.

Whatever stops it, the next attempt goes on behind the last committed line; of two attempts at once, one commits.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.memory import tombstones
from core.sessions.restoration import Fate
from core.storage.db import Tx
from core.transfer import imports
from core.transfer.archive import FILES
from core.transfer.archive_reader import ArchiveReader, ReadLine
from core.transfer.imports import PART_BYTES
from core.transfer.restoring import knowledge, memory, talk
from core.transfer.restoring.context import Context, ErasedUntil, LineTally
from core.transfer.upload import UploadFile

BATCH_BYTES: Final = 1024**2
"""Bytes after which a batch ends, however few lines it has."""


@dataclass(frozen=True, slots=True)
class FileRestorer:
    """How the lines of a file are restored: `lines` of them at once; `prepare` is called outside of a transaction."""

    lines: int
    write: Callable[..., Iterator[Fate | str]]
    prepare: Callable[[Context, Sequence[ReadLine]], Any] | None = None

    def prepared(self, context: Context, batch: Sequence[ReadLine]) -> tuple[Any, ...]:
        return () if self.prepare is None else (self.prepare(context, batch),)


RESTORERS: Final[Mapping[str, FileRestorer]] = {
    "sessions": FileRestorer(500, talk.write_sessions),
    "messages": FileRestorer(500, talk.write_messages),
    "memories": FileRestorer(100, memory.write, memory.prepare),
    "relations": FileRestorer(500, memory.write_relations),
    "documents": FileRestorer(20, knowledge.write, knowledge.prepare),
    "plans": FileRestorer(100, talk.write_plans),
    "profile": FileRestorer(1, memory.write_profile),
    "names": FileRestorer(500, memory.write_names),
}


@dataclass(slots=True)
class Restorer:
    """Restores the upload of one import. `row`: of the import; its cursor moves with each transaction."""

    context: Context
    row: Any

    def run(self, goes_on: Callable[[], bool]) -> bool:
        """Restore from the cursor on, for as long as `goes_on` says; return whether all is done.

        Invalid, Unreadable: the archive is broken, and nothing of it was restored. Conflict: the import was stopped.
        """
        with self._open() as archive:
            if not self.row.file:
                self._begin(archive)
            for file in FILES[FILES.index(self.row.file) :]:
                after = self.row.line if self.row.file == file else 0
                for batch in _batches(archive.lines(file, after), RESTORERS[file].lines):
                    self._restore(file, batch)
                    if not goes_on():
                        return False
        return True

    @property
    def tally(self) -> LineTally:
        return LineTally.of(self.row.report)

    @contextmanager
    def _open(self) -> Iterator[ArchiveReader]:
        def read(number: int) -> bytes:
            with self.context.db.tenant(self.context.tenant_id) as tx:
                return imports.part(tx, self.row.id, number)

        with io.BufferedReader(UploadFile(self.row.size, PART_BYTES, read)) as file:
            yield ArchiveReader(file, "the archive")

    def _begin(self, archive: ArchiveReader) -> None:
        """Check the archive as a whole, so that a broken one changes nothing."""
        tally = LineTally(archive.check())
        with self.context.db.tenant(self.context.tenant_id) as tx:
            self._advance(tx, FILES[0], 0, tally)

    def _restore(self, file: str, batch: Sequence[ReadLine]) -> None:
        """Restore a batch; what takes long is computed before the transaction begins."""
        context, tally = self.context, self.tally
        prepared = RESTORERS[file].prepared(context, batch)
        with context.db.tenant(context.tenant_id) as tx:
            # Without a lock: an erasure takes those of the sessions first, and that of the import behind them.
            imports.require_current(tx, self.row)
            groups = {group for line in batch if (group := getattr(line.checked, "group_id", None)) is not None}
            until = ErasedUntil(
                tombstones.all_erased_until(tx, context.tenant_id, context.user_id),
                tombstones.groups_erased_until(tx, context.tenant_id, groups),
            )
            for fate in RESTORERS[file].write(tx, context, batch, until, *prepared):
                tally.count(file, fate)
            self._advance(tx, file, batch[-1].number, tally)

    def _advance(self, tx: Tx, file: str, line: int, tally: LineTally) -> None:
        imports.advance(tx, self.row, file, line, tally.as_json())
        self.row = imports.get(tx, self.row.id)


def find_unembedded(tx: Tx, user_id: str) -> list[str]:
    """Return the sessions and documents of a user with rows in the index that have no vector yet."""
    return list(tx.execute(_UNEMBEDDED, {"user": user_id}).scalars())


def _batches(lines: Iterator[ReadLine], most: int) -> Iterator[list[ReadLine]]:
    batch: list[ReadLine] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += line.size
        if len(batch) == most or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_UNEMBEDDED = text("""
    SELECT DISTINCT session_id FROM search_index
    WHERE embedding IS NULL AND user_id = :user AND type IN ('message', 'document') ORDER BY session_id
""")
