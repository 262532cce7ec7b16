"""The texts of a page of results, read in one round trip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.index.resident.encoding import message_key, message_of_key
from core.memory import as_of, doubts, memories
from core.memory.as_of import NOW, Moment
from core.memory.doubts import Doubts
from core.search import ordering
from core.search import passages as search_passages
from core.search import units as search_units
from core.search.ordering import RankedPage
from core.search.passages import FoundPassage
from core.search.question import SearchResult
from core.search.units import FoundUnit
from core.sessions import sessions
from core.storage.db import message_places
from core.storage.multiquery import BoundStatement
from core.types import Evidence, Message

WHOLE: Final = 0.6
"""Share of a message that superseded memories quote, from which they say all that it says."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Rows of a page's results by their keys; results that were erased concurrently have none."""

    memories: Mapping[str, Any]
    evidence: Mapping[UUID, Sequence[Evidence]]
    messages: Mapping[str, Message]
    passages: Mapping[str, FoundPassage]
    units: Mapping[str, FoundUnit]
    doubts: Doubts
    page: RankedPage

    def covers(self, page: RankedPage) -> bool:
        """Return whether all results of a page have been asked for."""
        return page is self.page or set(page.keys) <= set(self.page.keys)


def queries(page: RankedPage, moment: Moment, more: Iterable[str] = ()) -> list[BoundStatement | None]:
    """Return the statements that read texts and evidence of a page, for `of`; `more`: keys of further messages."""
    of_type = {type_: [key for kind, key in page.keys if kind == type_] for type_ in ordering.TYPES}
    ids = [UUID(key) for key in of_type["memory"]]
    spoken = list(dict.fromkeys([*of_type["message"], *more]))
    return [
        as_of.row_statement(ids, moment.known_at) if ids else None,
        as_of.evidence_statement(ids, moment.known_at) if ids else None,
        messages_query(spoken) if spoken else None,
        search_passages.passages_query(of_type["document"]) if of_type["document"] else None,
        search_units.units_query(of_type["unit"]) if of_type["unit"] else None,
        doubts.statement(ids, [message_of_key(key) for key in spoken]) if moment == NOW and (ids or spoken) else None,
    ]


def of(answers: Sequence[Sequence[Any]], page: RankedPage) -> Texts:
    remembered, quoted, message_rows, passed, unit_rows, doubted = answers
    return Texts(
        {str(row.id): row for row in remembered},
        memories.evidence_by_memory(quoted),
        messages_by_key(message_rows),
        search_passages.passages_by_key(passed),
        search_units.units_by_key(unit_rows),
        doubts.of(doubted),
        page,
    )


def results(page: RankedPage, read: Texts) -> list[SearchResult]:
    """Return the ranked hits with what was read of them, in order."""
    results = []
    for item in page.ranked:
        if item.hit.type == "memory" and (row := read.memories.get(item.hit.key)) is not None:
            doubted = row.id in read.doubts.memories
            results.append(SearchResult(item, read.evidence.get(row.id, []), memory=row, doubted=doubted))
        elif (message := read.messages.get(item.hit.key)) is not None:
            evidence = Evidence(message.session_id, message.id, message.event_id, message.content)
            source = message.session_id, message.id
            quoted = read.doubts.superseded.get(source)
            results.append(
                SearchResult(
                    item,
                    [evidence],
                    message=message,
                    doubted=source in read.doubts.messages,
                    says_more=quoted is not None and quoted < WHOLE * len(message.content),
                )
            )
        elif (passage := read.passages.get(item.hit.key)) is not None:
            results.append(SearchResult(item, [], passage=passage))
        elif (unit := read.units.get(item.hit.key)) is not None:
            results.append(SearchResult(item, [], unit=unit))
    return results


def messages_by_key(rows: Iterable[Any]) -> dict[str, Message]:
    return {message_key(row.session_id, row.id): sessions.message_of(row) for row in rows}


def messages_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that reads messages by key."""
    return _MESSAGES, message_places(map(message_of_key, keys))


_MESSAGES = text("""
    SELECT * FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")
