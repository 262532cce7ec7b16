"""The fields that mem0 keeps of a memory beside its words: metadata, ids, custom categories, dates. Pure.

A written memory has it in `structured`, a message in its metadata, from where the memories that cite it take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, date, datetime, time
from typing import Any, Final

from core.errors import Invalid, Problem
from core.events.message_shapes import DESCRIBED
from core.memory import field_filters
from core.types import Json

FIELD: Final = field_filters.ANNOTATION
"""Key in `structured`, and in the metadata of a message; metadata may not use it."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """Annotations of a memory. `expiration_date`: its last day; `timestamp`: what it counts as created at."""

    metadata: Json = field(default_factory=dict)
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    custom_categories: Any = None
    expiration_date: str | None = None
    timestamp: str | None = None
    immutable: bool = False

    @property
    def in_structured(self) -> Json:
        """The part of a memory's `structured`."""
        return {FIELD: _given(asdict(self))}

    @property
    def in_metadata(self) -> Json:
        """The metadata of a message: the caller's own, which rules can read, and the rest under one key."""
        rest = _given({name: value for name, value in asdict(self).items() if name != "metadata"})
        return {**self.metadata, **({FIELD: rest} if rest else {})}


def of_memory(structured: Json, cited: Iterable[Json]) -> Annotation:
    """Return the annotation of a memory: its own, or that of the messages it cites; the last one wins."""
    own = structured.get(FIELD)
    if isinstance(own, dict):
        return _read(own)
    metadata: Json = {}
    rest: Json = {}
    for message_metadata in cited:
        metadata |= _own_metadata(message_metadata)
        rest |= _rest_of(message_metadata)
    return _read({**rest, "metadata": metadata})


def each_of(structured: Json, cited: Sequence[Json], stated: Sequence[Json]) -> list[Annotation]:
    """Return the annotations under which a memory is found: that which is shown first, then that of each statement.

    `cited`: metadata of the messages that the memory cites; `stated`: structured data of the statements written of it.
    """
    displayed = of_memory(structured, cited)
    each = [_read({**_rest_of(metadata), "metadata": _own_metadata(metadata)}) for metadata in cited]
    each += [_read(data[FIELD]) for data in stated if isinstance(data.get(FIELD), dict)]
    if structured.get(FIELD) is not None and displayed not in each:
        # Its metadata was replaced by an update.
        each = [replace(annotation, metadata=displayed.metadata) for annotation in each]
    return [
        displayed,
        *(
            annotation
            for position, annotation in enumerate(each)
            if annotation != displayed and annotation not in each[:position]
        ),
    ]


def _rest_of(metadata: Json) -> Json:
    rest = metadata.get(FIELD)
    return rest if isinstance(rest, dict) else {}


def _own_metadata(metadata: Json) -> Json:
    return {name: value for name, value in metadata.items() if name not in {FIELD, DESCRIBED}}


def require_free(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata with the reserved key. Invalid."""
    if FIELD in metadata:
        raise Invalid([Problem(f"/metadata/{FIELD}", "is reserved; use another key")])


def end_of(day: str | None) -> datetime | None:
    """Return the moment at which a memory with this last day expires. Invalid: it is no date."""
    if day is None:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), time.max, UTC)
    except ValueError:
        raise Invalid([Problem("/expiration_date", "must be a date such as 2027-01-31")]) from None


MILLISECONDS: Final = 1e11
"""Timestamps above are milliseconds: as seconds they would be in the year 5138."""


def moment_of(given: float | str | None) -> datetime | None:
    """Return a Unix or ISO 8601 timestamp as a time. Invalid: it is neither."""
    try:
        if given is None:
            return None
        if isinstance(given, str) and not given.replace(".", "", 1).isdigit():
            at = datetime.fromisoformat(given)
            return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        seconds = float(given)
        return datetime.fromtimestamp(seconds / 1000 if seconds > MILLISECONDS else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        allowed = "seconds or milliseconds since 1970, or a time such as 2027-01-31T09:00:00Z"
        raise Invalid([Problem("/timestamp", f"must be {allowed}")]) from None


def _given(values: Json) -> Json:
    return {name: value for name, value in values.items() if value not in (None, {}, False)}


def _read(kept: Json) -> Annotation:
    names = {declared.name for declared in fields(Annotation)}
    values = {name: value for name, value in kept.items() if name in names}
    if not isinstance(values.get("metadata", {}), dict):  # Whoever writes `structured` may write anything there.
        del values["metadata"]
    return Annotation(**values)
