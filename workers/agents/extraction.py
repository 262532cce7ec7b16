"""Agents that extract memories from a session, and keep what `memory.requested` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from core import metrics
from core.consolidation import llm_judge, pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict, Later, Misconfigured, Never
from core.events.pending import Effect, Pending, Reported
from core.events.publishing import Author
from core.extraction import configured_extractor, extractor_setting, freshness
from core.extraction import session as extraction
from core.extraction.protocol import ExtractedUnit, Extractor, Reading, Window
from core.extraction.session import MessageRange, SessionExtraction, SessionReader
from core.extraction.window_filter import SkipReason
from core.inference.client import OnCall
from core.inference.sound_vectors import embed_sound
from core.remembering import feedback, requests
from core.sessions import speaker_clocks
from core.storage.db import Tx
from core.summaries import units
from core.types import Json
from workers.dispatch.model import FailedPart, Job, Outcome, PostponedPart
from workers.tools import Tools, count_changes, note_call, session_of

UNREAD: Final = ("failed", "postponed")
"""Windows that could not be read, as the result of an extraction counts them."""

for _reason in (*SkipReason, *UNREAD):
    metrics.WINDOWS_SKIPPED.labels(_reason)  # From zero on: a rate needs a value before the first window is skipped.

ASKING_SHARE: Final = 0.5
"""Share of an attempt's time for windows, where rules read as well.

The rest is for second opinions and writing: an attempt that overruns writes nothing, not even what the rules found."""


def extract_session(tools: Tools, job: Job) -> Outcome:
    """Extract what is new in the event's session and judge it against what is known; the consolidator links, too.

    With `from` and `to`, positions of messages, that range of `group_id` is read once more, and nothing else.
    """
    if job.event.event_type == requests.REQUESTED and "session_id" not in job.params:
        return keep_requested(tools, job)  # rules stored before `memory_keeper` existed name this agent
    consolidation, reader, link = _consolidation(tools, job), _reader(tools, job), job.target == "memory_consolidator"
    where, limit = _range(job), tools.settings.extract_messages
    with session_of(job) as session_id:
        if where is None:
            extracted = extraction.extract_new(consolidation, job.tenant_id, session_id, reader, limit=limit, link=link)
        else:
            extracted = extraction.extract_range(consolidation, job.tenant_id, session_id, reader, where, link=link)
        pending: Pending = extracted
        if extracted.retold:
            pending = _with_units(extracted, _units(tools, job, session_id, extracted.retold))
        observed = _Observed(extracted, pending)
    then = [(job.target, {"session_id": session_id})] if extracted.more else []
    return Outcome(
        observed,
        then,
        observed.count,
        failed=[FailedPart(_params_of(session_id, part.where), part.reason) for part in extracted.failed],
        postponed=[
            PostponedPart(_params_of(session_id, part.where), job.wait or part.cause) for part in extracted.postponed
        ],
    )


def keep_requested(tools: Tools, job: Job) -> Outcome:
    """Keep the statement that the event asks to remember, with the pin, tags and times that it names."""
    with tools.db.tenant(job.tenant_id) as tx:
        requested_at = speaker_clocks.of_event(tx, job.event)
    owner, candidate = requests.read_request(job.event, requested_at)
    remembered = requests.remember(_consolidation(tools, job), job.tenant_id, {owner: [candidate]})
    return Outcome(remembered, (), count_changes)


def take_feedback(tools: Tools, job: Job) -> Outcome:
    """Confirm, weaken or correct the memory that the event's feedback names."""
    with tools.db.tenant(job.tenant_id) as tx:
        row = feedback.read(tx, job.event)
    due = feedback.decide(row, job.event, lambda text: embed_sound(tools.embedder, [text])[0], tools.settings.secrets)
    if due is None:
        return Outcome(Reported({"changed": False, "reason": "The memory says so already."}))
    return Outcome(due, (), count_changes)


@dataclass(slots=True)
class _Observed:
    """An extraction with all that is written of it. Known after that: the age of the messages that it quotes."""

    extraction: SessionExtraction
    whole: Pending
    seconds: Sequence[float] = ()

    def write(self, tx: Tx, author: Author) -> Json:
        result = self.whole.write(tx, author)
        self.seconds = freshness.seconds(tx, [change for _, changes in self.extraction.changes for change in changes])
        return result

    def count(self, result: Json) -> None:
        count_changes(result)
        for seconds in self.seconds:
            metrics.FRESHNESS.observe(seconds)
        unread = {reason: result[reason] for reason in UNREAD if reason in result}
        for reason, windows in {**result["skipped"], **unread}.items():
            metrics.WINDOWS_SKIPPED.labels(reason).inc(windows)


def _with_units(extracted: Pending, written: Pending) -> Pending:
    """Return an extraction with the units that the same model call has written of the session.

    They are left out if another worker has cut the session, so that what was paid for is kept.
    """

    def write(tx: Tx, author: Author) -> Json:
        result = extracted.write(tx, author)
        try:
            with tx.begin_nested():
                return result | written.write(tx, author)
        except Conflict:
            return result

    return Effect(write)


def _units(tools: Tools, job: Job, session_id: str, retold: Sequence[ExtractedUnit]) -> Pending:
    """Return the session's units, with those that the model has written in its own words."""
    with tools.db.tenant(job.tenant_id) as tx:
        talk = units.read(tx, session_id, extracted_units=retold)
    return units.plan(job.tenant_id, talk, tools.embedder, tools.settings.unit_gap_seconds, retold)


def _consolidation(tools: Tools, job: Job) -> Consolidation:
    """Return the consolidation settings; the model, where there is one, judges pairs that words leave undecided."""
    ask = llm_judge.opinion_of(job.model, partial(note_call, tools, job)) if job.model else None
    return pipeline.from_settings(tools.db, tools.embedder, tools.settings, ask)


def extractor(tools: Tools, job: Job, name: str | None = None) -> extraction.CandidateReader:
    """Return the function by which the configured extractor, or the one named, reads messages."""
    return extraction.candidate_reader(_reader(tools, job, name))


def _reader(tools: Tools, job: Job, name: str | None = None) -> SessionReader:
    has_model = job.model is not None or job.wait is not None
    chosen = extractor_setting.resolve(tools.settings, has_model=has_model, name=name)
    beside = configured_extractor.by_rules(tools.settings) if chosen == extractor_setting.BOTH else None
    try:
        extractor: Extractor = (
            _WaitingExtractor(job.wait.reason)
            if job.wait and beside
            else configured_extractor.load_extractor(tools.settings, job.model, chosen)
        )
    except Misconfigured as error:
        raise Never(str(error)) from error
    seconds = None if job.seconds is None else job.seconds * ASKING_SHARE
    return SessionReader(extractor, partial(note_call, tools, job), beside, seconds)


@dataclass(frozen=True, slots=True)
class _WaitingExtractor:
    """Stands for a model that is not to be asked yet: it postpones every window."""

    reason: str
    name: str = extractor_setting.BY_MODEL
    prompt: str = "none"

    def read(self, _window: Window, _on_call: OnCall) -> Reading:
        """Raise Later."""
        raise Later(self.reason)


def _range(job: Job) -> MessageRange | None:
    """Return the range of messages that the parameters name, if any: a window that failed before."""
    if "from" not in job.params:
        return None
    try:
        labels = tuple(job.params.get("labels", ()))
        return MessageRange(int(job.params["from"]), int(job.params["to"]), job.params.get("group_id"), labels)
    except (KeyError, TypeError, ValueError):
        raise Never(f"{job.target} needs `from` and `to` as positions of messages.") from None


def _params_of(session_id: str, where: MessageRange) -> Json:
    """Return the parameters by which a range of a session is read once more."""
    params: Json = {"session_id": session_id, "from": where.first, "to": where.last}
    more: Json = {"group_id": where.group_id, "labels": list(where.labels)}
    return params | {name: value for name, value in more.items() if value}
