"""Agent that carries out what people ask to have forgotten: recognises the request, then erases what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from core.erasure.passages import Place
from core.errors import Never, NotFound
from core.events import log, publishing
from core.events.log import Emission
from core.events.pending import Effect, Reported
from core.events.publishing import Author
from core.forgetting import forget, matching, params, recognition, suggested, text, turns
from core.forgetting.erasing import Forgotten, Request
from core.forgetting.forget import Keep
from core.forgetting.params import MayAsk, Mode
from core.forgetting.recognition import NOT_ASKING, Recognised
from core.forgetting.talk import PERSON
from core.forgetting.turns import Scene
from core.inference import local_reader
from core.inference.ask import ModelRefused
from core.inference.embedders import Embedder, Floats
from core.inference.local_reader import LocalReader
from core.memory import receipts
from core.search import query
from core.search.filters import Filters
from core.search.question import Question
from core.sessions.message_rows import MESSAGE_ADDED
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, note_call, session_of

NEAR = 20
"""Results of a search for what a request describes: where it was told in another session, it is among them."""

REFUSED = "It was said by someone else, and is not about the one who asks."


def forget_on_request(tools: Tools, job: Job) -> Outcome:
    """Look for a request in a message, or carry out the one that `memory.forget_requested` names.

    An event that repeats a message, or whose message was erased since, asks for nothing.
    """
    _check_params(job)
    if job.event.event_type == forget.REQUESTED:
        return _carry_out(tools, job)
    may_ask = MayAsk(job.params.get("may_ask") or MayAsk.CONCERNED)
    with session_of(job) as session_id, tools.db.tenant(job.tenant_id) as tx:
        message_id = turns.message_of_event(tx, session_id, job.event.id)
        if message_id is None and job.event.event_type == MESSAGE_ADDED:
            return Outcome(Reported({"forgetting": "no_new_message"}))
        if message_id is None:
            raise Never(f"{job.target} needs an event that brought a message; {job.event.id!r} did not.")
        scene = turns.alone(tx, session_id, message_id)
        echoes = forget.echoes(tx, job.tenant_id, scene)
    reader = local_reader.reader(tools.settings)
    recognised = _recognised(reader, scene)
    with tools.db.tenant(job.tenant_id) as tx:
        request = forget.find(tx, session_id, message_id, recognised.sentences, may_ask=may_ask)
    if _is_worth_a_search(request) and not echoes:
        request = _by_meaning(tools.embedder, reader, _search_elsewhere(tools, job, request))
    if not recognised.sure:
        request = forget.as_guess(request)
    if request.extent.is_empty and not (echoes or request.extent.refused):
        request = _suggested(tools, job, request)
    if request.extent.is_empty and not echoes:
        with tools.db.tenant(job.tenant_id) as tx:
            documents = forget.documents(tx, request)
        return Outcome(
            Reported(
                _why_nothing(request)
                | ({"documents": [str(document_id) for document_id in documents]} if documents else {})
            )
        )
    mode = Mode(job.params.get("mode") or Mode.UNDO)

    def write(tx: Tx, author: Author) -> Json:
        blanked = forget.blank_echoes(tx, job.tenant_id, request.scene, echoes) if echoes else Forgotten()
        if request.extent.is_empty:
            return blanked.as_json() | {"forgetting": "repetition_erased"}
        payload = forget.request_payload(request, mode)
        emission = Emission(forget.REQUESTED, payload, subject=f"session:{payload['session_id']}")
        publishing.publish(tx, job.tenant_id, author, [emission])
        return {"forgetting": "requested", **{name: payload[name] for name in _SHOWN}}

    return Outcome(Effect(write))


def _check_params(job: Job) -> None:
    """Raise Never for a parameter that rules saved by an earlier version may still have."""
    fault = params.fault(job.params)
    if fault is not None:
        raise Never(f"/params/{fault[0]}: {fault[1]}; correct it in the rule.")


def _recognised(reader: LocalReader | None, scene: Scene) -> Recognised:
    """Return which sentences of a person's message ask to forget something. No transaction may be open."""
    if scene.asking.role != PERSON:
        return NOT_ASKING
    return recognition.recognise(scene.asking.text, reader.asks if reader else None) or NOT_ASKING


def _is_worth_a_search(request: Request) -> bool:
    """Return whether a person asks and nothing was found: neither what is meant nor that it is somebody else's."""
    forget_request, extent = request.request, request.extent
    return not (forget_request is None or forget_request.values_only) and extent.is_empty and not extent.refused


def _search_elsewhere(tools: Tools, job: Job, request: Request) -> Request:
    """Look for what is meant among the messages of all sessions that the hybrid search finds for the request."""
    places = _similar(tools.embedder, tools, job.tenant_id, request.scene)
    message = request.scene.message
    with tools.db.tenant(job.tenant_id) as tx:
        return forget.find(tx, message.session_id, message.id, request.asking, places, request.may_ask)


def _by_meaning(embedder: Embedder, reader: LocalReader | None, request: Request) -> Request:
    """Look for what a request describes by the meaning of statements. No transaction may be open."""
    if request.request is None or not _is_worth_a_search(request):
        return request

    def cosines(named: Sequence[str], statements: Sequence[str]) -> Floats:
        rows: Floats = embedder.embed_queries(named) @ embedder.embed(statements).T
        return rows

    scene = request.scene
    meant = reader.meant if reader else None
    return replace(request, extent=matching.by_meaning(request.request, scene.asking, scene.turns, cosines, meant))


def _suggested(tools: Tools, job: Job, request: Request) -> Request:
    """Ask a model, if one is configured, what the message wants forgotten; a failure leaves things as they are."""
    if job.model is None or job.params.get("ask_model") is False or not suggested.may_ask_model(request.scene.asking):
        return request
    message = request.scene.message
    with tools.db.tenant(job.tenant_id) as tx:
        whole = forget.surroundings(tx, message.session_id, message.id, request.may_ask)
    displayed = suggested.passages(whole.scene.asking, whole.scene.turns)
    if not displayed:
        return request
    answer = suggested.ask_model(job.model, partial(note_call, tools, job), whole.scene.asking, displayed)
    if isinstance(answer, ModelRefused):
        return request
    extent = suggested.extent_of(answer, displayed, whole.scene.turns)
    return request if extent.is_empty else replace(whole, extent=extent)


def _similar(embedder: Embedder, tools: Tools, tenant_id: str, scene: Scene) -> list[Place]:
    question = Question(
        scene.asking.text[: text.READ],
        scene.asking.user_id,
        scene.group_id,
        limit=NEAR,
        filters=Filters(include=frozenset({"messages"})),
    )
    answer = query.search(tools.db, tenant_id, question, embedder)
    return [(hit.message.session_id, hit.message.id) for hit in answer.results if hit.message is not None]


def _why_nothing(request: Request) -> Json:
    if request.request is None:
        return {"forgetting": "not_requested"}
    if request.extent.refused:
        return {"forgetting": "refused", "reason": REFUSED, "refused": request.extent.refused}
    return {"forgetting": "nothing_found"}


def _carry_out(tools: Tools, job: Job) -> Outcome:
    if job.event.source != log.SOURCE:
        raise Never(f"{job.target} obeys {forget.REQUESTED} only from the service itself; say it in a message instead.")
    if "final_at" in job.params:
        return _close(tools, job)
    keep, event = _keep(job), job.event
    sign = receipts.signer(tools.settings)

    def write(tx: Tx, author: Author) -> Json:
        try:
            done = forget.carry_out(
                tx, job.tenant_id, event.payload, author, sign, seq=event.seq, event_id=event.id, keep=keep
            )
        except NotFound as error:
            raise Never(f"What was to be forgotten was deleted in the meantime: {error}") from error
        return done.as_json()

    def then(done: Json) -> list[tuple[str, Json]]:
        kept: Json = {name: done[name] for name in ("forgetting_id", "final_at") if name in done}
        page = {"undo_seconds": keep.seconds, "forgetting_id": kept.get("forgetting_id")} if keep.seconds else {}
        again: list[tuple[str, Json]] = [(job.target, page)] if done["more"] else []
        again += [(job.target, kept)] if kept and keep.forgetting_id is None else []
        again += [("memory_extractor", done["reread"])] if done["reread"] else []
        return [*again, *([("embedding_refresher", {"sessions": done["sessions"]})] if done["sessions"] else [])]

    return Outcome(Effect(write), then_by_result=then)


def _keep(job: Job) -> Keep:
    """Return for how long the request can be undone, by its mode and the rule."""
    earlier = job.params.get("forgetting_id")
    seconds = 0 if job.event.payload.get("mode") == Mode.AT_ONCE else job.params.get("undo_seconds", 0)
    return Keep(seconds, UUID(earlier) if earlier else None)


def _close(tools: Tools, job: Job) -> Outcome:
    """Wait for the end of the window, then drop what was kept; whatever else is due goes with it."""
    final_at = datetime.fromisoformat(job.params["final_at"])
    if final_at > datetime.now(UTC):
        return Outcome(Reported({"forgetting": "can be undone"} | job.params), [(job.target, job.params)], at=final_at)
    forgetting_id = UUID(job.params["forgetting_id"])
    sign = receipts.signer(tools.settings)

    def write(tx: Tx, _author: Author) -> Json:
        return forget.close_due(tx, job.tenant_id, sign, forgetting_id, job.event.id)

    return Outcome(Effect(write))


_SHOWN = ("scope", "messages", "memories", "refused")
