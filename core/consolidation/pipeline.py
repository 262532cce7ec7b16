"""Consolidates candidates into changes: screens, drops erased statements and echoes, judges.

`core.memory.writer` applies the changes, unless another writer came between.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core.config import Settings
from core.consolidation import batch, candidate_screening, echo, endings, importance_floor, judge, support
from core.consolidation.batch import Answers, Vectors
from core.consolidation.candidate_screening import ScreenedCandidate
from core.consolidation.judge import Pair, Thresholds
from core.consolidation.llm_judge import Opinion
from core.inference import local_reader
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.memoize import memo_scope
from core.memory import identity, memories, nearest_vectors, neighbours, tombstones
from core.memory.changes import Add, Change, Confirm, Dispute, Edit, Ignore, Merge, Owner, Replace, Vector
from core.memory.known_set import KnownSet
from core.statements import comparison, redaction
from core.storage.db import Database, Tx
from core.storage.multiquery import BoundStatement
from core.tenancy import extraction as tenant_extraction
from core.tenancy.extraction import ExtractionChoice
from core.types import Candidate, Trust


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Dependencies and settings of consolidation.

    `secrets`: whether texts with secrets are redacted or refused. `echo_seconds`: how long a text that was handed out
    may return as an echo. `opinion`: the model that judges pairs which words leave undecided; None: none.
    `reader`: judges what a statement ends; None: a slot, a denial or a new number alone ends anything.
    """

    db: Database
    embedder: Embedder
    thresholds: Thresholds = judge.USUAL
    secrets: Literal["redact", "refuse"] = "redact"
    echo_seconds: float = 3600
    opinion: Opinion | None = None
    reader: endings.Reader | None = None


def from_settings(db: Database, embedder: Embedder, settings: Settings, ask: Opinion | None = None) -> Consolidation:
    """Return the consolidation of the settings; `ask`: a model's opinion, used if the settings want one."""
    thresholds = Thresholds(settings.merge_similarity, settings.near_similarity, settings.novel_similarity)
    opinion = ask if settings.judge_with_model else None
    reader = local_reader.reader(settings)
    return Consolidation(db, embedder, thresholds, settings.secrets, settings.echo_seconds, opinion, reader)


@dataclass(frozen=True, slots=True)
class Unkept:
    """Tentative candidates (`Candidate.tentative`), and what was computed to choose them.

    `vectors`: theirs, by content. `ending`: the contents of the other candidates that may end anything; None: nobody
    has asked the reader.
    """

    candidates: Sequence[Candidate] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    ending: Collection[str] | None = None


@memo_scope()
def consolidate(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    *,
    explicit: bool = False,
    assistant: Collection[str] = (),
    link: bool = False,
    unkept: Unkept = Unkept(),
) -> Sequence[Change]:
    """Decide what candidates of one owner change. No transaction is open while embedder or model run.

    Candidates that try to instruct the agent are quarantined and compared with nothing. Erased statements, and those
    that repeat what was handed out, are ignored. The rest is judged against known memories.
    `explicit`: someone asked to keep these. `assistant`: ids of messages that no person wrote, in which a repetition is
    an echo. `link`: relate new statements to those they refine, and to the same ones of other sources. `unkept`: what
    was said earlier and not kept, to be stored as over where a candidate ends it.

    Candidates to different audiences are decided apart: one is never merged into another.
    """
    by_labels: defaultdict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for candidate in (*unkept.candidates, *candidates):
        by_labels[candidate.audience_labels].append(candidate)
    decide = partial(
        _consolidate,
        consolidation,
        tenant_id,
        owner,
        explicit=explicit,
        assistant=assistant,
        link=link,
        unkept=unkept,
    )
    try:
        return [change for part in by_labels.values() for change in decide(part)]
    except neighbours.Vanished:
        return [change for part in by_labels.values() for change in decide(part)]


def _consolidate(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    *,
    explicit: bool,
    assistant: Collection[str],
    link: bool,
    unkept: Unkept,
) -> Sequence[Change]:
    """Decide what candidates to one audience change."""
    accepted, hostile, refused = _divide(
        [candidate_screening.screened(candidate) for candidate in candidates], consolidation.secrets
    )
    contents = [text for c in accepted for text in (c.content, *_rests_of(c)) if text not in unkept.vectors]
    vectors = _embedded(consolidation.embedder, list(dict.fromkeys(contents)), unkept.vectors)
    ending = _may_end(consolidation.reader, accepted) if unkept.ending is None else unkept.ending
    accepted = accepted if explicit else [judge.normalized_slot(candidate) for candidate in accepted]
    opening = _Opening(consolidation, tenant_id, owner, accepted, explicit=explicit)
    with consolidation.db.asking(tenant_id, *opening.asking, meanwhile=partial(_parse, accepted)) as (tx, answers):
        answered = opening.read(answers)
        apart = _quarantine_once(tx, owner.user_id, hostile)
        accepted, buried = _drop_erased(tx, owner, accepted, answered)
        accepted, echoes = _drop_echoes(
            tx, owner.user_id, accepted, vectors, frozenset(assistant), consolidation.echo_seconds
        )
        merged = batch.merge_candidates(accepted)
        stacked = _stack(merged, vectors, consolidation.embedder.dimension)
        near = opening.neighbours_of(tx, merged, stacked, answered.near) if merged else []
        rests = _rests(tx, owner, merged, near, vectors)
        decide = partial(
            batch.decide,
            merged,
            stacked,
            near,
            consolidation.thresholds,
            explicit=explicit,
            least_certain=answered.choice.min_certainty,
            rests=rests,
        )
        pairs = _open_pairs(consolidation, merged, stacked, near, ending)
        # Texts that a comparison needs are read in this transaction; it ends before a model is asked.
        decided = [] if any(pairs) else decide()
    if any(pairs):
        answers_of, readings = _read(consolidation, pairs)
        read = _rests_of_readings(consolidation, tenant_id, owner, merged, readings)
        decided = decide(answers_of, readings=readings, rests={**rests, **read})
    least = answered.choice.min_importance
    decided = importance_floor.leave_out(decided, least) if least and not explicit else decided
    links: list[Change] = [*batch.link_related(decided, merged, near)] if link else []
    if link:
        with consolidation.db.tenant(tenant_id) as tx:
            links += support.links(tx, owner, decided)
    decided = [*decided, *batch.join_verdicts(accepted, merged, decided)]
    wished = _apply_request(decided) if explicit else decided
    changes = [*refused, *buried, *echoes, *apart, *wished, *links]
    return [change for change in changes if not _is_of_tentative(change)]


def _is_of_tentative(change: Change) -> bool:
    """Return whether a change is about a tentative candidate that nothing has ended."""
    return isinstance(change, Add | Ignore) and change.candidate.tentative


def _embedded(embedder: Embedder, contents: Sequence[str], stored: Mapping[str, Vector]) -> dict[str, Vector]:
    """Return the vectors of contents, beside those that are there."""
    made = zip(contents, embed_sound(embedder, contents), strict=True) if contents else ()
    return {**stored, **dict(made)}


def _may_end(reader: endings.Reader | None, candidates: Sequence[Candidate]) -> Collection[str]:
    """Return the contents of the candidates that the trained reader is to read beside what is known."""
    contents = list(dict.fromkeys(c.content for c in candidates if c.relations is None and not c.tentative))
    return endings.may_end(reader, contents) if reader and contents else ()


class _OpenPairs(NamedTuple):
    """Pairs of statements that only a model (`unclear`) or the trained reader (`unread`) judges."""

    unclear: Sequence[Pair]
    unread: Sequence[endings.Pair]


def _open_pairs(
    consolidation: Consolidation,
    candidates: Sequence[Candidate],
    vectors: Vectors,
    near: Sequence[KnownSet],
    ending: Collection[str],
) -> _OpenPairs:
    """Find the pairs that are open. `ending`: contents that may end others."""
    return _OpenPairs(
        batch.unclear(candidates, vectors, near, consolidation.thresholds) if consolidation.opinion else [],
        endings.pairs(candidates, vectors, near, ending) if consolidation.reader else [],
    )


def _read(consolidation: Consolidation, pairs: _OpenPairs) -> tuple[Answers, endings.Readings]:
    """Return what the model and the reader say of open pairs."""
    opinion, reader = consolidation.opinion, consolidation.reader
    return (
        _answers(opinion, pairs.unclear) if opinion and pairs.unclear else batch.no_answer,
        endings.read(reader, pairs.unread) if reader and pairs.unread else batch.NOTHING_READ,
    )


def _rests_of(candidate: Candidate) -> list[str]:
    """Return what remains of memories that a candidate ends in part."""
    return [end.rest for end in candidate.relations.ends if end.rest] if candidate.relations else []


def _rests(
    tx: Tx, owner: Owner, candidates: Sequence[Candidate], near: Sequence[KnownSet], vectors: Mapping[str, Vector]
) -> dict[str, Vector]:
    """Return the vectors of what remains of memories that are ended in part, but for what another memory says."""
    keys = {
        identity.statement_key(memory.subject, end.rest): end.rest
        for candidate, neighbours_of in zip(candidates, near, strict=True)
        for end in (candidate.relations.ends if candidate.relations else ())
        for memory in neighbours_of.named([end.memory.id] if end.rest else [])
    }
    return {rest: vectors[rest] for rest in _untold(tx, owner, candidates, keys)} if keys else {}


def _rests_of_readings(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    readings: endings.Readings,
) -> dict[str, Vector]:
    """Return the same of memories of which the trained reader finds a part over."""
    remaining = endings.rests(readings)
    if not remaining:
        return {}
    subjects = {candidate.subject for candidate in candidates}
    with consolidation.db.tenant(tenant_id) as tx:
        left = _untold(
            tx, owner, candidates, {identity.statement_key(who, rest): rest for who in subjects for rest in remaining}
        )
    return dict(zip(left, embed_sound(consolidation.embedder, left), strict=True)) if left else {}


def _untold(tx: Tx, owner: Owner, candidates: Sequence[Candidate], statements: Mapping[str, str]) -> list[str]:
    """Return the statements, by their keys, that no active memory to the same audience says."""
    scope = {"user": owner.user_id, "group": owner.group_id, "labels": list(candidates[0].audience_labels)}
    taken = set(tx.execute(_ACTIVE, {**scope, "keys": list(statements)}).scalars())
    stated = {text for key, text in statements.items() if key in taken}
    return [text for text in dict.fromkeys(statements.values()) if text not in stated]


def _parse(candidates: Sequence[Candidate]) -> None:
    """Compute what the judgement asks of each candidate's words; it is memoized, and takes as long as the database."""
    for candidate in candidates:
        tombstones.words_of(candidate.content)
        identity.content_keys(candidate.content)
        comparison.outline(candidate.content)


@dataclass(frozen=True, slots=True)
class _Answered:
    """Answers to what a consolidation asks first.

    `erased`: those about tombstones, and `rejected`: keys of statements that someone has rejected; an explicit request
    asks for neither. `near`: those of the search; `choice`: what the tenant has chosen.
    """

    erased: Sequence[Sequence[Any]] | None
    rejected: Collection[str]
    near: Sequence[Sequence[Any]]
    choice: ExtractionChoice


class _Opening:
    """Questions of a consolidation that are asked in the round trip that opens its transaction."""

    def __init__(
        self,
        consolidation: Consolidation,
        tenant_id: str,
        owner: Owner,
        candidates: Sequence[Candidate],
        *,
        explicit: bool,
    ) -> None:
        self._owner = owner
        self._explicit = explicit
        self._reopen = partial(consolidation.db.tenant, tenant_id)
        bound = nearest_vectors.bound_by(consolidation.db, tenant_id)
        dimension = consolidation.embedder.dimension
        self._search = neighbours.Search(
            consolidation.db.engine, bound, owner.user_id, candidates, dimension, owner.group_id
        )
        keys = [identity.statement_key(c.subject, c.content) for c in candidates]
        refusals: list[BoundStatement | None] = [
            *tombstones.asking(tenant_id, candidates, owner.group_id),
            (_REJECTED, {"user": owner.user_id, "keys": keys}) if keys else None,
        ]
        self.asking = [
            tenant_extraction.asking(tenant_id),
            *([] if explicit else refusals),
            *(self._search.asking if candidates else []),
        ]

    def read(self, answers: Sequence[Sequence[Any]]) -> _Answered:
        """Return the answers by what they are about."""
        stored, *others = answers
        choice = tenant_extraction.of_answer(stored)
        if self._explicit:
            return _Answered(None, (), others, choice)
        salts, groups, rejected, *near = others
        keys = {row.statement_key for row in rejected}
        return _Answered((salts, groups), keys, near, choice)

    def neighbours_of(
        self,
        tx: Tx,
        merged: Sequence[Candidate],
        vectors: Vectors,
        answers: Sequence[Sequence[Any]],
    ) -> list[KnownSet]:
        """Return for each candidate that is left the memories to compare it with."""
        user, group, search = self._owner.user_id, self._owner.group_id, self._search
        return neighbours.of(tx, user, merged, vectors, group, reopen=self._reopen, search=search, answers=answers)


def _divide(screened: Sequence[ScreenedCandidate], secrets: str) -> tuple[list[Candidate], list[Add], list[Ignore]]:
    """Divide candidates into those to judge, those to quarantine, and those refused."""
    accepted: list[Candidate] = []
    hostile: list[Add] = []
    refused: list[Ignore] = []
    for screening in screened:
        if screening.candidate.tentative and (screening.hostile or (screening.secret and secrets == "refuse")):
            continue  # It was screened when it was said, and is nobody's news.
        if screening.secret and secrets == "refuse":
            refused.append(Ignore(screening.candidate, f"Refused, for it holds a secret: {screening.secret}."))
        elif screening.hostile or screening.candidate.trust is Trust.QUARANTINED:
            why = screening.hostile or "whoever read it did not trust it"
            # Without a vector: copies of one text would displace known memories among the nearest of a candidate.
            hostile.append(
                Add(
                    candidate_screening.quarantined(screening.candidate),
                    f"Set apart until someone has looked at it: {why}.",
                )
            )
        else:
            accepted.append(screening.candidate)
    return accepted, hostile, refused


def _quarantine_once(tx: Tx, user_id: str, hostile: Sequence[Add]) -> list[Change]:
    """Quarantine each hostile statement once: one that is stored already, whatever its trust, is ignored."""
    if not hostile:
        return []
    keys = [identity.statement_key(a.candidate.subject, a.candidate.content) for a in hostile]
    there = set(tx.execute(_THERE, {"user": user_id, "keys": keys}).scalars())
    changes: list[Change] = []
    for add, key in zip(hostile, keys, strict=True):
        again = Ignore(_without_words(add.candidate), "The same statement stands here already.")
        changes.append(again if key in there else add)
        there.add(key)
    return changes


def _drop_erased(
    tx: Tx, owner: Owner, candidates: Sequence[Candidate], answered: _Answered
) -> tuple[list[Candidate], list[Ignore]]:
    """Return candidates that were neither erased nor rejected, and the others as ignored; all of a request."""
    if answered.erased is None or not candidates:
        return list(candidates), []
    buried = tombstones.were_erased(tx, owner.user_id, candidates, owner.group_id, answered.erased)
    keys = [identity.statement_key(c.subject, c.content) for c in candidates]
    remaining: list[Candidate] = []
    ignored: list[Ignore] = []
    for candidate, erased, key in zip(candidates, buried, keys, strict=True):
        if erased or redaction.ERASED in candidate.content:
            ignored.append(Ignore(_without_words(candidate), "It was erased."))
        elif key in answered.rejected:
            ignored.append(Ignore(candidate, "Someone has rejected it."))
        else:
            remaining.append(candidate)
    return remaining, ignored


def _without_words(candidate: Candidate) -> Candidate:
    """Return the candidate without its words: an erased statement is not stored in a verdict, but its place is."""
    evidence = tuple(replace(e, quote="") for e in candidate.evidence)
    return replace(candidate, content="", attribute=None, value=None, tags=(), structured={}, evidence=evidence)


def _drop_echoes(
    tx: Tx,
    user_id: str,
    candidates: Sequence[Candidate],
    vectors: Mapping[str, Vector],
    assistant: frozenset[str],
    within_seconds: float,
) -> tuple[list[Candidate], list[Ignore]]:
    """Return candidates that are no echo, and the others as ignored. A statement with a person's words is none."""
    suspects = [c for c in candidates if c.evidence and {e.message_id for e in c.evidence} <= assistant]
    if not suspects:
        return list(candidates), []
    near = neighbours.of(tx, user_id, suspects, np.stack([vectors[c.content] for c in suspects]), anywhere=True)
    reasons = echo.echo_reasons(tx, user_id, suspects, near, within_seconds)
    echoes = {id(c): reason for c, reason in zip(suspects, reasons, strict=True) if reason}
    ignored = [Ignore(c, echoes[id(c)]) for c in suspects if id(c) in echoes]
    return [c for c in candidates if id(c) not in echoes], ignored


def _stack(candidates: Sequence[Candidate], vectors: Mapping[str, Vector], dimension: int) -> Vectors:
    rows = [vectors[c.content] for c in candidates]
    return np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float32)


def _answers(opinion: Opinion, pairs: Sequence[Pair]) -> Answers:
    """Ask the model about all undecided pairs at once."""
    opinions = dict(zip((pair.texts for pair in pairs), opinion(pairs), strict=True))
    return lambda pair: opinions.get(pair.texts)


def _apply_request(decided: Sequence[Change]) -> list[Change]:
    """Apply the pin, tags and times of an explicit request to known memories, too."""
    changes = [_with_tags(change) for change in decided]
    edits: dict[UUID, Edit] = {}
    for change in changes:
        if isinstance(change, Confirm | Merge | Replace) and (fields := _requested_fields(change.candidate)):
            before = edits.get(change.known.id)
            both = {**(before.fields if before else {}), **fields}
            version = change.known.version + _steps(changes)[change.known.id]
            edits[change.known.id] = Edit(change.known.id, version, both, change.reason, change_id=change.change_id)
    return [*changes, *edits.values()]


def _with_tags(change: Change) -> Change:
    """Turn a confirmation with tags into a merge, which can add tags without changing the wording."""
    if isinstance(change, Confirm) and change.candidate.tags:
        return Merge(change.known, change.candidate, change.reason, change_id=change.change_id)
    return change


def _requested_fields(candidate: Candidate) -> dict[str, object]:
    values = {
        "pinned": candidate.pinned or None,
        "expires_at": candidate.expires_at,
        "half_life_days": candidate.half_life_days,
    }
    return {name: value for name, value in values.items() if value is not None}


def _steps(changes: Sequence[Change]) -> Counter[UUID]:
    """Count the versions that these changes add to each memory."""
    steps = Counter({c.known.id for c in changes if isinstance(c, Confirm)})
    steps.update(c.known.id for c in changes if isinstance(c, Merge | Replace))
    steps.update(end.known.id for c in changes if isinstance(c, Add) for end in c.retired)
    steps.update({side.id for c in changes if isinstance(c, Dispute) for side in (c.memory, c.other)})
    return steps


_REJECTED = text(f"""
    SELECT m.statement_key FROM memories m WHERE m.user_id = :user AND m.statement_key = ANY(:keys)
    GROUP BY m.statement_key HAVING bool_or(m.trust = 'rejected') AND NOT bool_or({memories.ACTIVE_SQL})
""")
"""Rejected, and not active again since: an active statement may be confirmed."""

_ACTIVE = text(f"""
    SELECT DISTINCT m.statement_key FROM memories m
    WHERE m.user_id = :user AND m.statement_key = ANY(:keys) AND m.group_id IS NOT DISTINCT FROM :group
      AND m.audience_labels = cast(:labels AS text[]) AND {memories.ACTIVE_SQL}
""")

_THERE = text("""
    SELECT DISTINCT m.statement_key FROM memories m
    WHERE m.user_id = :user AND m.statement_key = ANY(:keys) AND m.status <> 'erased'
""")
"""Whatever their status: a statement that was released or rejected is not quarantined again."""
