"""Agent that carries out what people ask to have forgotten: recognises the request, then erases what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import Never, NotFound
from core.events import log, publishing
from core.events.log import Emission
from core.events.pending import Report
from core.events.publishing import Author
from core.forgetting import forget, requests, text, turns
from core.forgetting.forget import Forgotten
from core.forgetting.matching import PERSON, Found
from core.forgetting.turns import Place, Scene
from core.inference.embedders import Embedder
from core.memory import receipts
from core.memory.receipts import Signer
from core.search import query
from core.search.filters import Filters
from core.search.query import Question
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, session_of

NEAR = 20
"""Results of a search for what a request describes: where it was told in another session, it is among them."""

REFUSED = "It was said by someone else, and is not about the one who asks."


def forget_on_request(tools: Tools, job: Job) -> Outcome:
    """Look for a request in a message, or carry out the one that `memory.forget_requested` names."""
    if job.event.event_type == forget.REQUESTED:
        return _carry_out(tools, job)
    with session_of(job) as session_id, tools.db.tenant(job.tenant_id) as tx:
        message_id = turns.message_of_event(tx, session_id, job.event.id)
        if message_id is None:
            raise Never(f"{job.target} needs an event that brought a message; {job.event.id!r} did not.")
        scene, found = forget.find(tx, session_id, message_id)
        echoes = forget.echoes(tx, job.tenant_id, scene)
    asks = scene.asking.role == PERSON and requests.read(scene.asking.text) is not None
    if asks and found.is_empty and not found.refused and not echoes:
        scene, found = _search_elsewhere(tools, job, scene)
    if found.is_empty and not echoes:
        return Outcome(Report(_why_nothing(scene, found)))
    return Outcome(_Recognised(job.tenant_id, scene, found, echoes))


def _search_elsewhere(tools: Tools, job: Job, scene: Scene) -> tuple[Scene, Found]:
    """Look for what is meant among the messages of all sessions that the hybrid search finds for the request."""
    places = _similar(tools.embedder, tools, job.tenant_id, scene)
    with tools.db.tenant(job.tenant_id) as tx:
        return forget.find(tx, scene.message.session_id, scene.message.id, places)


def _similar(embedder: Embedder, tools: Tools, tenant_id: str, scene: Scene) -> list[Place]:
    question = Question(
        scene.asking.text[: text.READ],
        scene.asking.user_id,
        scene.group_id,
        limit=NEAR,
        filters=Filters(include=frozenset({"messages"})),
    )
    answer = query.search(tools.db, tenant_id, question, embedder)
    return [(one.message.session_id, one.message.id) for one in answer.results if one.message is not None]


def _why_nothing(scene: Scene, found: Found) -> Json:
    if scene.asking.role != PERSON or requests.read(scene.asking.text) is None:
        return {"forgetting": "not_requested"}
    if found.refused:
        return {"forgetting": "refused", "reason": REFUSED, "refused": found.refused}
    return {"forgetting": "nothing_found"}


def _carry_out(tools: Tools, job: Job) -> Outcome:
    if job.event.source != log.SOURCE:
        raise Never(f"{job.target} obeys {forget.REQUESTED} only from the service itself; say it in a message instead.")
    erasing = _Erasing(job.tenant_id, job.event.payload, receipts.signer(tools.settings), job.event.seq, job.event.id)

    def then(done: Json) -> list[tuple[str, Json]]:
        again: list[tuple[str, Json]] = [(job.target, {})] if done["more"] else []
        again += [("memory_extractor", done["reread"])] if done["reread"] else []
        return [*again, *([("embedding_refresher", {"sessions": done["sessions"]})] if done["sessions"] else [])]

    return Outcome(erasing, then_by_result=then)


@dataclass(frozen=True, slots=True)
class _Recognised:
    """A request to announce, and values in its message that were erased before."""

    tenant_id: str
    scene: Scene
    found: Found
    echoes: Sequence[str]

    def write(self, tx: Tx, author: Author) -> Json:
        blanked = Forgotten()
        if self.echoes:
            blanked = forget.blank_echoes(tx, self.tenant_id, self.scene, self.echoes)
        if self.found.is_empty:
            return blanked.as_json() | {"forgetting": "repetition_erased"}
        payload = forget.request_payload(self.scene, self.found)
        emission = Emission(forget.REQUESTED, payload, subject=f"session:{payload['session_id']}")
        publishing.publish(tx, self.tenant_id, author, [emission])
        return {"forgetting": "requested", **{name: payload[name] for name in _SHOWN}}


_SHOWN = ("scope", "messages", "memories", "refused")


@dataclass(frozen=True, slots=True)
class _Erasing:
    """A request that is carried out when it is written, on what is there by then."""

    tenant_id: str
    payload: Mapping[str, Any]
    sign: Signer
    seq: int
    event_id: str

    def write(self, tx: Tx, author: Author) -> Json:
        try:
            done = forget.carry_out(
                tx, self.tenant_id, self.payload, author, self.sign, seq=self.seq, event_id=self.event_id
            )
        except NotFound as error:
            raise Never(f"What was to be forgotten was deleted in the meantime: {error}") from error
        return done.as_json()
