"""Dry run of extraction: what messages would become memories, and why; nothing is stored.

The messages take the path of a session's: windows, extractor, screening, judgement. Calls of a model are paid and
recorded like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from core.config import Settings
from core.consolidation import llm_judge, pipeline
from core.extraction import configured_extractor, extractor_setting
from core.extraction import session as extraction
from core.extraction.session import ChangesByOwner, SessionReader, WindowResults
from core.inference import lent_model
from core.inference.client import Call, ChatClient
from core.inference.embedders import Embedder
from core.inference.token_bucket import Need
from core.memory.changes import Add, Confirm, Dispute, Joined, Merge, Owner, Replace
from core.memory.identity import KnownMemory
from core.remembering import stated
from core.remembering.stated import CandidateChange
from core.storage.db import Database
from core.types import Candidate, Message, Trust

SECONDS: Final = 60.0
"""Seconds after which no further window is begun: somebody waits for the answer."""

OTHERWISE: Final = "Preview with `offline`, which asks no model."


@dataclass(frozen=True, slots=True)
class Bench:
    """Dependencies of a dry run. `model`: the configured one; None: there is none."""

    db: Database
    embedder: Embedder
    settings: Settings
    model: ChatClient | None = None


@dataclass(frozen=True, slots=True)
class PreviewedVerdict:
    """Verdict that one statement would get, and why; `against`: known memories that it was judged against."""

    owner: Owner
    verdict: str
    reason: str
    candidate: Candidate
    against: Sequence[KnownMemory] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """Result of a dry run: the extractor by name, what was read, a verdict on each statement, the calls of models."""

    extractor: str
    read: WindowResults
    verdicts: Sequence[PreviewedVerdict]
    calls: Sequence[Call] = field(default_factory=list)


def chosen(bench: Bench, name: str | None) -> str:
    """Return the extractor that a dry run uses: the one named, or that of the installation."""
    return extractor_setting.resolve(bench.settings, has_model=bench.model is not None, name=name)


def of(bench: Bench, tenant_id: str, messages: Sequence[Message], name: str | None = None) -> Preview:
    """Return what these messages of a new session would change.

    Misconfigured: the extractor lacks its model. Overloaded: the model must not be asked now. Later, Never: it cannot.
    """
    extractor, calls = chosen(bench, name), list[Call]()
    configured_extractor.load_extractor(bench.settings, bench.model, extractor)
    note = lent_model.recorder(bench.db, bench.settings, tenant_id, calls)
    with _lent_model(bench, tenant_id, messages, extractor) as model:
        reader = SessionReader(
            configured_extractor.load_extractor(bench.settings, model, extractor),
            note,
            configured_extractor.by_rules(bench.settings) if extractor == extractor_setting.BOTH else None,
            SECONDS,
        )
        ask = llm_judge.opinion_of(model, note) if model else None
        consolidation = pipeline.from_settings(bench.db, bench.embedder, bench.settings, ask)
        read, changes = extraction.preview(consolidation, tenant_id, reader, messages)
    return Preview(extractor, read, list(_verdicts(changes)), calls)


@contextmanager
def _lent_model(
    bench: Bench, tenant_id: str, messages: Sequence[Message], extractor: str
) -> Iterator[ChatClient | None]:
    """Yield the model if the extractor asks one. Overloaded: it must not be asked."""
    if bench.model is None or extractor == extractor_setting.BY_RULES:
        yield None
        return
    need = Need(len(messages) + 1, sum(len(message.content) for message in messages) + 2 * lent_model.CALL_TOKENS)
    lent = lent_model.lend(bench.db, bench.settings, bench.model, tenant_id, need, "preview", OTHERWISE)
    with lent as model:
        yield model


def _verdicts(changes: ChangesByOwner) -> Iterator[PreviewedVerdict]:
    for owner, owned in changes:
        disputes = {change.memory.id: change for change in owned if isinstance(change, Dispute)}
        for change in owned:
            if isinstance(change, CandidateChange):
                yield _verdict(owner, change, disputes)
            elif isinstance(change, Joined):
                verdict = "merge" if change.merged else "confirm"
                yield PreviewedVerdict(owner, verdict, change.reason, change.candidate)


def _verdict(owner: Owner, change: CandidateChange, disputes: Mapping[UUID, Dispute]) -> PreviewedVerdict:
    outcome = stated.outcome_of(change, disputes)
    is_apart = isinstance(change, Add) and change.candidate.trust is Trust.QUARANTINED
    verdict = "quarantine" if is_apart else outcome.verdict
    return PreviewedVerdict(owner, verdict, outcome.reason, change.candidate, list(_against(change, disputes)))


def _against(change: CandidateChange, disputes: Mapping[UUID, Dispute]) -> Iterator[KnownMemory]:
    match change:
        case Confirm(known=known) | Merge(known=known) | Replace(known=known):
            yield known
        case Add():
            yield from (end.known for end in change.retired)
            if change.id in disputes:
                yield disputes[change.id].other
