"""Results of a search as JSON: each result, grouped by session if asked for, with the parts of its score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from api.serializers import source_json, strength
from core.context.retrievers import RetrievedText
from core.index.resident.encoding import message_of_key
from core.memory import decay
from core.screening import output
from core.search import passages
from core.search.arms import ArmCandidate
from core.search.passages import FoundPassage
from core.search.question import SearchResult
from core.search.units import FoundUnit
from core.types import Json, Message, Trust

OF_MEMORIES = "kind category topic importance strength confidence trust valid_from valid_to".split()
"""Fields that only a memory has; other results have null, and `quarantined` as `trust` if hostile."""

_MEMORY = (
    "id content kind category topic importance confidence trust valid_from valid_to occurred_at "
    "subject attribute value status level"
).split()


def result_json(result: SearchResult, now: datetime, formula: str | None, *, raw: bool = False) -> Json:
    """Return one result; with the strength formula also the parts of its scores. `raw`: secrets are not masked."""
    hit = result.ranked.hit
    scores: Json = {"lexical": hit.lexical, "vector": hit.cosine}
    if formula is not None:
        scores |= {"parts": result.ranked.parts, "ranks": result.ranked.ranks}
    if formula is not None and result.memory is not None:
        scores["relevance"] = decay.relevance(formula, hit.cosine or 0.0, strength(result.memory, now))
    shared = {"type": hit.type, "score": result.ranked.score, "scores": scores}
    if result.passage is not None:
        return {**_document(result.passage), **shared}
    if result.unit is not None:
        return {**_unit(result.unit, raw=raw), **shared}
    own = _memory(result, now) if result.message is None else _message(result, result.message, raw=raw)
    return {**own, **shared, "sources": [source_json(source, raw=raw) for source in result.sources]}


def session_of(result: SearchResult) -> str | None:
    """Return the session of a result; None: a passage, or a memory stated outside of a session."""
    if result.message is not None:
        return result.message.session_id
    if result.unit is not None:
        return result.unit.session_id
    if result.memory is None:
        return None
    cited = (source.session_id for source in result.sources)
    return result.memory.session_id or next((session for session in cited if session), None)


def group_of(result: SearchResult) -> str | None:
    """Return the group in which a result was said, or whose document it is; None: private, or of the whole tenant."""
    row = result.message or result.passage or result.unit or result.memory
    group: str | None = row.group_id
    return group


KEYS: Final[Mapping[str, Callable[[SearchResult], str | None]]] = {"session": session_of, "group": group_of}
"""Fields by which results can be grouped."""


def groups_json(results: Sequence[SearchResult], by: str = "session") -> list[Json]:
    """Return the results by session or group, that of the best first: their positions in the list, best first."""
    groups: dict[str | None, Json] = {}
    for index, result in enumerate(results):
        key = KEYS[by](result)
        group = groups.setdefault(key, {f"{by}_id": key, "score": result.ranked.score, "results": []})
        group["results"].append(index)
    return list(groups.values())


def arms_json(lists: Mapping[str, Sequence[ArmCandidate]]) -> Json:
    """Return the list of each arm: ids with their scores, the best first."""
    return {name: [arm_hit_json(hit) for hit in hits] for name, hits in lists.items()}


def arm_hit_json(hit: ArmCandidate) -> Json:
    """Return a candidate of an arm; of a message also its session."""
    return {"rank": hit.rank, **hit_id_json(hit.type, hit.key), "score": hit.score}


def hit_id_json(type_: str, key: str) -> Json:
    """Return how a candidate is named outside: its type and id, of a message also its session."""
    session_id, name = message_of_key(key) if type_ == "message" else (None, key)
    return {"type": type_, "id": name, "session_id": session_id}


def _memory(result: SearchResult, now: datetime) -> Json:
    columns = {name: getattr(result.memory, name) for name in _MEMORY}
    return {**columns, "strength": strength(result.memory, now), **_doubt(result)}


def _message(result: SearchResult, message: Message, *, raw: bool) -> Json:
    seen = output.screened_output(message.content)
    return {
        "id": message.id,
        "content": message.content if raw else seen.text,
        **dict.fromkeys(OF_MEMORIES),
        "trust": Trust.QUARANTINED if seen.hostile else None,
        "importance": message.importance,
        "occurred_at": message.occurred_at,
        "speaker": message.speaker,
        "role": message.role,
        "superseded": result.superseded,
        "partly_superseded": result.partly_superseded,
        **_doubt(result),
    }


def _doubt(result: SearchResult) -> Json:
    return {"may_be_outdated": True} if result.doubted else {}


def _document(passage: FoundPassage) -> Json:
    source = {
        **dict.fromkeys(("event_id", "message_id", "session_id")),
        "document_id": passage.document_id,
        "passage": passage.position,
        "quote": passage.content,
        "from": passage.from_char,
        "to": passage.to_char,
    }
    return {
        "id": passages.key(passage.document_id, passage.position),
        "content": passage.content,
        **dict.fromkeys(OF_MEMORIES),
        "occurred_at": passage.occurred_at,
        "title": passage.title,
        "headings": passage.headings,
        "uri": passage.uri,
        "version": passage.version,
        "sources": [source],
    }


def _unit(unit: FoundUnit, *, raw: bool) -> Json:
    fields = {"subject": unit.subject, "content": unit.summary, "narrative": unit.narrative, "facts": list(unit.facts)}
    fields |= {"participants": list(unit.participants), "keywords": list(unit.keywords)}
    displayed: Json = fields if raw else output.value(fields)
    source = {
        **dict.fromkeys(("event_id", "message_id")),
        "session_id": unit.session_id,
        "quote": displayed["narrative"],
        "from_position": unit.from_position,
        "to_position": unit.to_position,
    }
    return {
        "id": unit.id,
        **dict.fromkeys(OF_MEMORIES),
        **displayed,
        "trust": Trust.QUARANTINED if output.screened_output(f"{unit.summary}\n{unit.narrative}").hostile else None,
        "occurred_at": unit.started_at,
        "ended_at": unit.ended_at,
        "group_id": unit.group_id,
        "sources": [source],
    }


def outside_json(texts: Sequence[tuple[str, RetrievedText]]) -> list[Json]:
    """Serialize results of third-party retrievers."""
    return [
        {
            "type": "outside",
            "retriever": name,
            "source": retrieved.source,
            "content": retrieved.text,
            "score": retrieved.score,
        }
        for name, retrieved in texts
    ]
