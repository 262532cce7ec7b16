"""Builds a context end to end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

import structlog
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core import logs, metrics
from core.config import Settings
from core.context import assembly, formats, guidance, pinned_texts, profile_lines, projects, stable_selection
from core.context import reader as context_reader
from core.context import retrievers as context_retrievers
from core.context.adaptive_depth import Depth, depth
from core.context.assembly import Assembled, ContextMaterial
from core.context.budget import USUAL, Budget, split_limit
from core.context.formats import STABLE, Format
from core.context.packing import Packer
from core.context.reader import ContextReader
from core.context.retrievers import Retriever
from core.context.selection import OmissionReason
from core.context.stable_selection import StableSelection
from core.context.token_cache import cached_counter
from core.inference.embedders import Embedder
from core.inference.token_counting import Counter
from core.memory import doubts, memories
from core.memory.as_of import EARLIEST_CLOCK
from core.plans.tree import OPEN
from core.reflection import profile
from core.reflection.profile import ProfileOwner
from core.screening import output
from core.search import passages, query, question_analysis
from core.search.filters import EVERYWHERE, NO_FILTERS
from core.search.question import Question, SearchResult
from core.sessions import hidden_messages, recent_messages
from core.sessions.recent_messages import RecentMessages, RecentWindow
from core.storage import replica
from core.storage.db import UNLABELLED, Database, Tx
from core.storage.replica import Replica
from core.types import Json, Trust

log = structlog.get_logger()

Audience = Literal["group", "private"]
"""Readers of a context: everybody in a group, or the user alone."""

READ: Final = 2
"""Factor of results read over results shown: some repeat each other, or are shown elsewhere already."""

OF_ALL_PROJECTS: Final = 3
"""Factor of results read where those that belong to other projects are left out."""

USUAL_K: Final = 20
"""Memories at most, and as many passages, unless the query decides."""

BEST: Final = 3
"""Results among which the words of an assistant are shown, whatever is asked."""

LONGEST_QUESTION: Final = 10_000
"""Characters from the end of the last message that serve as the query."""

STEP_RESULTS: Final = 5
"""Memories and passages read for the current step of a plan."""

STEP_SHARE: Final = 0.5
"""Factor of their scores: the question comes first."""

STEP_TYPES: Final = frozenset({"memories", "documents"})

SHRINK: Final = 0.95
"""Factor below proportion that is allowed after a context came out too long: the window moves in blocks."""

ATTEMPTS: Final = 6
"""Attempts to assemble a context that came out too long; the last one has only what is mandatory."""


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """Request: owner, query and token limit; `adaptive`: the query decides how much to show.

    `audience`: who reads the answer; for a `group` only its own memory is shown, and None means the group of a group's
    session. `listener`: the user whose conversation it is, where the memory shown is the group's. `raw`: secrets in
    quotes are not masked. `units`: units of other conversations are searched, too. `guidance`: the model is told how to
    use what is remembered. `labels`: audience labels of the reader, as the database knows them. `at_work`: the user
    alone works on the project that the group is, and is shown nothing that belongs to other projects. `metadata`,
    `structured`: fields of what is found by the query (`Filters`); the rest of the context is as without them.
    """

    user_id: str | None
    group_id: str | None
    session_id: str | None
    query: str | None
    limit: int
    model: str | None = None
    budget: Budget = USUAL
    adaptive: bool = False
    format: Format = "messages"
    audience: Audience | None = None
    listener: str | None = None
    raw: bool = False
    units: bool = False
    guidance: bool = False
    labels: str = UNLABELLED
    at_work: bool = False
    metadata: str | None = None
    structured: str | None = None

    @property
    def owner(self) -> ProfileOwner:
        """Owner of the profile shown: the user, if one is named."""
        return ProfileOwner(user_id=self.user_id) if self.user_id is not None else ProfileOwner(group_id=self.group_id)

    @property
    def names_fields(self) -> bool:
        return self.metadata is not None or self.structured is not None

    @property
    def reader(self) -> str:
        """Key of the stable selection: reader and limit."""
        # As JSON: a user who is called "None" is not nobody.
        identity = [self.user_id, self.group_id, self.listener, self.limit, self.model, str(self.budget)]
        identity += [self.labels] if self.labels else []
        identity += [self.metadata, self.structured] if self.names_fields else []
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]

    def within(self, window: RecentWindow) -> ContextQuery:
        """Return what is asked once the session is known: for a group, its memory in place of the user's own.

        A session belongs to a group for those who spoke to the group there; for all others the request has to name it.
        """
        groups = {m.group_id for m in window.messages if m.user_id == self.user_id or self.user_id is None}
        group = self.group_id or next((group_id for group_id in sorted(filter(None, groups))), None)
        if group is None or self.audience == "private":
            return replace(self, listener=self.user_id)
        return replace(self, user_id=None, group_id=group, listener=self.user_id)


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """The rendered context, its measurements, and the depth of the search."""

    sheet: Assembled
    rendered: Json
    tokens: int
    limit: int
    counter: Counter
    depth: Depth
    results: Sequence[SearchResult]

    @property
    def truncated(self) -> bool:
        """True if something was left out for the limit alone."""
        return any(left.for_room for section in self.sheet.sections for left in section.left_out)

    @property
    def prefix_hash(self) -> str:
        """Hash of the sections before the conversation; equal while their content is."""
        return hashlib.sha256(formats.join_sections(self.sheet, STABLE).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ContextDeps:
    """Dependencies of reading a context. `replica`: where it is read, if it may answer; its selection goes to `db`."""

    db: Database
    embedder: Embedder
    settings: Settings
    recent: RecentMessages | None = None
    retrievers: Mapping[str, Retriever] = field(default_factory=dict)
    replica: Replica | None = None


for _reason in get_args(OmissionReason):
    metrics.CONTEXT_LEFT_OUT.labels(_reason)  # From zero on: a rate needs a value before the first omission.


def build(deps: ContextDeps, tenant_id: str, request: ContextQuery) -> BuiltContext:
    """Build the context within its limit."""
    labelled = replace(request, labels=deps.db.reader)
    request, sources, results, chosen_depth = replica.read(
        deps.replica, deps.db, lambda db: _read(replace(deps, db=db), tenant_id, labelled)
    )
    accept_unconfirmed = deps.settings.instructions == "heard"
    packer = Packer(
        cached_counter(request.model),
        split_limit(request.limit, request.budget),
        sources.query,
        chosen_depth.k,
        accept_unconfirmed,
        request.listener,
    )
    assembled, rendered, tokens = _render_within(packer, sources, request)
    if assembled.chosen is not None and assembled.chosen != sources.earlier:
        _keep(deps.db, tenant_id, request, assembled.chosen)
    built = BuiltContext(assembled, rendered, tokens, request.limit, packer.counter, chosen_depth, results)
    metrics.CONTEXTS.labels("yes" if built.truncated else "no").inc()
    metrics.CONTEXT_TOKENS.observe(built.tokens)
    reasons = [left.reason for section in assembled.sections for left in section.left_out]
    for reason in set(reasons):
        metrics.CONTEXT_LEFT_OUT.labels(reason).inc(reasons.count(reason))
    return built


def _keep(db: Database, tenant_id: str, request: ContextQuery, chosen: StableSelection) -> None:
    """Store what was selected, for the session's next context; where the primary is away, that one selects anew."""
    if request.session_id is None:
        return
    try:
        with db.tenant(tenant_id) as tx:
            stable_selection.keep(tx, tenant_id, request.session_id, request.reader, chosen)
    except (OperationalError, PoolTimeout) as error:
        log.warning("context.selection_lost", **logs.fault(error))


def _read(
    deps: ContextDeps, tenant_id: str, request: ContextQuery
) -> tuple[ContextQuery, ContextMaterial, Sequence[SearchResult], Depth]:
    """Read everything that the context could show to its audience, and the depth of the query."""
    cached = _at_hand(deps, tenant_id, request)
    with deps.db.tenant(tenant_id) as tx:
        newest = (
            recent_messages.read(tx, request.session_id, cached, deps.settings.recent_messages)
            if request.session_id
            else cached
        )
        window = _in_steps(newest, deps.settings.recent_messages)
        request = request.within(window)
        stored_profile = profile.get(tx, request.owner)
        sources = _read_material(
            tx, request, stored_profile.attributes if stored_profile else {}, window, deps.settings
        )
    if deps.recent is not None and request.session_id is not None:
        deps.recent.renew(deps.db, tenant_id, request.session_id, cached, newest)
    question = request.query if request.query is not None else _last_words(sources.material.conversation)
    chosen_depth = depth(question) if request.adaptive else Depth(USUAL_K, ())
    read = chosen_depth.k * READ * (OF_ALL_PROJECTS if request.at_work else 1)
    results = _search(deps, tenant_id, request, question, read)
    step = _current_step(sources.material.conversation)
    results = _with_step(results, _search(deps, tenant_id, request, step, STEP_RESULTS, among=STEP_TYPES))
    results = results if request.raw else _screen(results)
    elsewhere = context_retrievers.RetrieverQuery(
        tenant_id, request.user_id, request.group_id, question, chosen_depth.k
    )
    # Retrievers know no filters.
    outside = [] if request.names_fields else context_retrievers.screened(deps.retrievers, elsewhere)
    sources = _filter_results(
        deps.db,
        tenant_id,
        request,
        replace(sources, query=f"{question}\n{step}".strip(), results=results, outside=outside),
    )
    if request.guidance:
        guidance_text = guidance.guidance(question, request.limit)
        sources = replace(sources, material=replace(sources.material, guidance=guidance_text))
    return request, sources, sources.results, chosen_depth


def _screen(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Mask secrets in messages and units, and drop hostile ones."""
    screened_results: list[SearchResult] = []
    for result in results:
        if result.unit is not None:
            summary = output.screened_output(result.unit.summary)
            screened_results += (
                [] if summary.hostile else [replace(result, unit=replace(result.unit, summary=summary.text))]
            )
            continue
        screened = output.messages([result.message] if result.message is not None else [])
        screened_results += (
            [result] if result.message is None else [replace(result, message=message) for message in screened]
        )
    return screened_results


def _read_material(
    tx: Tx, request: ContextQuery, attributes: Json, window: RecentWindow, settings: Settings
) -> ContextMaterial:
    """Read what is independent of the query, and what is still valid of the earlier selection and the profile."""
    reader = ContextReader(request.user_id, request.group_id, request.listener)
    wishes = settings.instructions != "none"
    material = context_reader.material(tx, reader, request.session_id, window, instructions=wishes)
    if request.at_work:
        own = [row for row in material.instructions if projects.is_shown(row, request.group_id)]
        material = replace(material, instructions=own)
    before = stable_selection.get(tx, request.session_id, request.reader) if request.session_id else None
    profile_ids = profile_lines.names(attributes)
    ids = (
        [*before.memory_ids, *(memory_id for memory_id in map(UUID, before.profile) if memory_id not in profile_ids)]
        if before
        else []
    )
    return ContextMaterial(
        "",
        material,
        attributes,
        (),
        before,
        context_reader.active_memories(tx, request.user_id, request.group_id, ids),
        passages.passages(tx, [reference.split("@")[0] for reference in before.passages]) if before else {},
        {},
        {},
        inactive=context_reader.inactive_ids(tx, list(profile_ids)) | _of_other_projects(tx, request, profile_ids),
        doubted=doubts.of_memories(tx, ids),
    )


def _of_other_projects(tx: Tx, request: ContextQuery, profile_ids: AbstractSet[UUID]) -> frozenset[str]:
    """Return the memories of a profile that are not shown at work on this project."""
    if not request.at_work:
        return frozenset()
    rows = context_reader.active_memories(tx, request.user_id, request.group_id, list(profile_ids))
    return frozenset(str(key) for key, row in rows.items() if not projects.is_shown(row, request.group_id))


def _filter_results(db: Database, tenant_id: str, request: ContextQuery, sources: ContextMaterial) -> ContextMaterial:
    """Filter the results, and read contradictions among memories, with those that were not found."""
    conversation, results = sources.material.conversation, sources.results
    session_id = conversation.session_id if conversation else None  # What is hidden there is known already.
    places = [(m.session_id, m.id) for result in results if (m := result.message) and m.session_id != session_id]
    rows = [*(result.memory for result in results if result.memory is not None), *sources.standing.values()]
    disputed = [row.id for row in rows if row.trust == Trust.DISPUTED]
    if not disputed and not places:
        return replace(sources, results=_to_show(results, frozenset(), session_id, sources.query, request))
    with db.tenant(tenant_id) as tx:
        disputes = context_reader.disputes(tx, disputed)
        denied = sorted({memory_id for ones in disputes.values() for memory_id in ones})
        others = context_reader.active_memories(tx, request.user_id, request.group_id, denied)
        hidden = hidden_messages.hidden_among(tx, places)
        displayed = _to_show(results, hidden, session_id, sources.query, request)
    return replace(sources, results=displayed, disputes=disputes, others=others)


def _at_hand(deps: ContextDeps, tenant_id: str, request: ContextQuery) -> RecentWindow:
    if deps.recent is None or request.session_id is None:
        return recent_messages.EMPTY
    return deps.recent.ask(tenant_id, request.session_id)


def _in_steps(newest: RecentWindow, most: int) -> RecentWindow:
    """Return a window whose start moves by half of `most` at once, not with each message."""
    step = max(1, most // 2)
    last = newest.messages[-1].position if newest.messages else 0
    behind = max(0, -(-(last - most) // step) * step)
    first = sum(message.position <= behind for message in newest.messages)
    return RecentWindow(newest.messages[first:], newest.marks[first:])


def _search(
    deps: ContextDeps,
    tenant_id: str,
    request: ContextQuery,
    question: str,
    limit: int,
    among: frozenset[str] = EVERYWHERE,
) -> Sequence[SearchResult]:
    if not question.strip():
        return ()
    include = among | ({"units"} if request.units else set())
    filters = replace(NO_FILTERS, include=include, metadata=request.metadata, structured=request.structured)
    search_query = Question(question, request.user_id, request.group_id, limit, filters=filters, each=True)
    return query.search(deps.db, tenant_id, search_query, deps.embedder).results


def _current_step(conversation: context_reader.SessionView | None) -> str:
    """Return the title of the step being worked on in the newest plan that has one; empty if there is none."""
    for plan in conversation.plans if conversation else ():
        for step in plan.tree.walk():
            if step.id == plan.current and step.status in OPEN:
                return output.screened_output(step.title).text[:LONGEST_QUESTION]
    return ""


def _with_step(results: Sequence[SearchResult], for_step: Sequence[SearchResult]) -> list[SearchResult]:
    """Add what the current step needs, below what the question found."""
    keys = {(result.ranked.hit.type, result.ranked.hit.key) for result in results}
    added = [result for result in for_step if (result.ranked.hit.type, result.ranked.hit.key) not in keys]
    below = [replace(result, ranked=replace(result.ranked, score=result.ranked.score * STEP_SHARE)) for result in added]
    return [*results, *below]


def _last_words(conversation: context_reader.SessionView | None) -> str:
    """Return the last words of the user, which serve as the query if none is given."""
    user_messages = (
        [m.content for m in conversation.messages if m.role == "user" and m.id not in conversation.hidden]
        if conversation
        else []
    )
    return user_messages[-1][-LONGEST_QUESTION:] if user_messages else ""


def _to_show(
    results: Sequence[SearchResult],
    hidden: AbstractSet[tuple[str, str]],
    session_id: str | None,
    question: str,
    request: ContextQuery,
) -> list[SearchResult]:
    """Drop what is hidden, not valid now, of another project or the question itself, and units of the session."""
    now = memories.now()
    if request.at_work:
        results = [result for result in results if _is_of_project(result, request.group_id)]
    displayed = [
        result
        for result in results
        if (result.memory is None or _holds(result.memory, now))
        and (result.message is None or (result.message.session_id, result.message.id) not in hidden)
        and (result.message is None or not projects.repeats(result.message, question))
        and (result.unit is None or not (result.unit.hidden or result.unit.session_id == session_id))
    ]
    if question_analysis.asks_assistant(question):
        return displayed
    return [result for rank, result in enumerate(displayed) if rank < BEST or not _is_of_assistant(result)]


def _is_of_assistant(result: SearchResult) -> bool:
    """Return whether a result is what an assistant said, which mostly repeats or praises what it was told."""
    return result.message is not None and result.message.role == "assistant"


def _is_of_project(result: SearchResult, group_id: str | None) -> bool:
    if result.memory is not None:
        return projects.is_shown(result.memory, group_id)
    return result.message is None or projects.is_heard(result.message, group_id)


def _holds(row: Any, now: datetime) -> bool:
    return (row.valid_from is None or row.valid_from <= now + EARLIEST_CLOCK) and (
        row.valid_to is None or row.valid_to > now
    )


def _render_within(packer: Packer, sources: ContextMaterial, request: ContextQuery) -> tuple[Assembled, Json, int]:
    """Render within the limit. The size of separators is known only afterwards; the allowance shrinks accordingly.

    Pinned texts come first and whole; the shares are of what they leave.
    """
    shared = request.limit - pinned_texts.pinned_tokens(packer, sources.material, request.limit)
    room = float(shared - formats.OVERHEAD)
    for left in reversed(range(ATTEMPTS)):
        within = replace(packer, allowance=split_limit(max(0, int(room)), request.budget))
        assembled = assembly.assemble(
            within, sources if left else replace(sources, results=(), material=sources.material.bare())
        )
        rendered = formats.render(assembled, request.format)
        tokens = formats.tokens(rendered, packer.counter)
        most = request.limit - (int(shared * request.budget.reserve) if left else 0)
        if tokens <= most:
            return assembled, rendered, tokens
        room *= SHRINK * max(0, most - request.limit + shared) / max(1, tokens - request.limit + shared)
    assembled = Assembled(pinned_texts.pinned_sections(packer, sources.material), None)
    rendered = formats.render(assembled, request.format)
    return assembled, rendered, formats.tokens(rendered, packer.counter)
