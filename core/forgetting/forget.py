"""Finds what a message asks to forget, announces it, and carries it out with a signed receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from core.erasure import passages, runner
from core.erasure.passages import Place
from core.errors import NotFound
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.forgetting import asking, erasing, literals, matching, suggested, turns, undo_window
from core.forgetting.erasing import Forgotten, Request
from core.forgetting.extent import ForgetScope
from core.forgetting.matching import Found
from core.forgetting.params import MayAsk, Mode
from core.forgetting.recognition import recognise
from core.forgetting.text import loose
from core.forgetting.turns import Scene
from core.memory import receipts, tombstones
from core.memory.receipts import Signer
from core.storage.db import Tx

REQUESTED: Final = "memory.forget_requested"
FORGOTTEN: Final = "memory.forgotten"

NAMED_PLACES: Final = 200
"""Messages and memories that the event of a request names; of more it gives the numbers."""


def find(
    tx: Tx,
    session_id: str,
    message_id: str,
    asking: Sequence[int],
    also: Sequence[Place] = (),
    may_ask: MayAsk = MayAsk.CONCERNED,
) -> Request:
    """Return what a message asks to forget. A value is looked for in all of the asker's talks, not in this one alone.

    `asking`: the sentences that ask, as `recognition.recognise` numbers them. NotFound: there is no such message.
    """
    scene = turns.alone(tx, session_id, message_id)
    if not matching.may_request(scene.asking, asking, may_ask):
        return Request(scene, None)
    request = _read(turns.read(tx, session_id, message_id, also=also), asking, may_ask)
    if request.extent.values:
        scene = turns.read(tx, session_id, message_id, also=also, values=request.extent.values)
        request = _read(scene, asking, may_ask)
    return request


def as_guess(request: Request) -> Request:
    """Return a request that was recognised without certainty: what it means waits for approval."""
    extent = request.extent
    if extent.is_empty or extent.scope not in {ForgetScope.FACT, ForgetScope.LAST, ForgetScope.ALL_ABOUT}:
        return request
    return replace(request, extent=replace(extent, scope=ForgetScope.SIMILAR))


def surroundings(tx: Tx, session_id: str, message_id: str, may_ask: MayAsk) -> Request:
    """Return a message as a request that a model may find in it, with its conversation. NotFound: there is none."""
    scene = turns.read(tx, session_id, message_id)
    return Request(scene, suggested.request_of(scene.asking), may_ask=may_ask)


def documents(tx: Tx, request: Request) -> list[UUID]:
    """Return documents of the asker that hold a value that the request names, for a request that finds nothing else."""
    if request.request is None or not request.extent.is_empty:
        return []
    return turns.documents(tx, request.scene.asking.user_id, literals.unheard(request.request))


def request_payload(request: Request, mode: Mode) -> dict[str, Any]:
    """Return the payload of `memory.forget_requested`: whose request, how much it covers, and ids, but no words."""
    scene, extent = request.scene, request.extent
    places = [key for key in extent.places if isinstance(key, tuple)]
    ids = [key for key in extent.places if not isinstance(key, tuple)]
    return {
        "user_id": scene.asking.user_id,
        "group_id": scene.group_id,
        "session_id": scene.message.session_id,
        "message_id": scene.message.id,
        "scope": extent.scope.value,
        "may_ask": request.may_ask.value,
        "mode": mode.value,
        "messages": len(places),
        "memories": len(ids),
        "refused": extent.refused,
        "asking": list(request.asking),
        "spots": _spots(extent),
        "values": bool(extent.described and extent.values),
        "message_ids": [list(key) for key in places[:NAMED_PLACES]],
        "memory_ids": [str(memory_id) for memory_id in ids[:NAMED_PLACES]],
    }


@dataclass(frozen=True, slots=True)
class Keep:
    """Time for which a request can be undone, in seconds; `forgetting_id`: of an earlier page of the same request."""

    seconds: int = 0
    forgetting_id: UUID | None = None


def carry_out(
    tx: Tx,
    tenant_id: str,
    payload: Mapping[str, Any],
    author: Author,
    sign: Signer,
    *,
    seq: int,
    event_id: str,
    keep: Keep | None = None,
) -> Forgotten:
    """Erase what the request of a `memory.forget_requested` means now, and write the receipt."""
    named = [(str(session_id), str(message_id)) for session_id, message_id in payload.get("message_ids") or ()]
    try:
        may_ask = MayAsk(payload.get("may_ask") or MayAsk.CONCERNED)
        request = find(tx, payload["session_id"], payload["message_id"], _asking(tx, payload), named, may_ask)
        if payload.get("scope") == ForgetScope.SUGGESTED:
            request = surroundings(tx, payload["session_id"], payload["message_id"], may_ask)
        if payload.get("spots"):
            request = replace(request, extent=_at(payload, request.scene))
    except NotFound:
        return Forgotten()
    runner.restart_running(tx, but=[seq])
    forgetting_id = None
    if keep is not None and keep.seconds:
        forgetting_id = keep.forgetting_id or undo_window.begin(tx, tenant_id, payload, event_id, keep.seconds)
        if not undo_window.go_on(tx, forgetting_id):
            return Forgotten()
    everything = request.extent.scope is ForgetScope.EVERYTHING
    erase = erasing.forget_all if everything else erasing.forget_found
    done = erase(tx, tenant_id, request, author)
    if forgetting_id is not None:
        done.window = undo_window.extend(tx, forgetting_id, done.messages, done.memories)
    if done.messages or done.memories:
        _tell(tx, tenant_id, payload, done, author, sign, event_id)
    return done


def _tell(
    tx: Tx, tenant_id: str, payload: Mapping[str, Any], done: Forgotten, author: Author, sign: Signer, event_id: str
) -> None:
    """Write the receipt, and announce `memory.forgotten`."""
    receipt = receipts.issue(
        tx,
        tenant_id,
        sign,
        scope="request",
        subject=event_id,
        counts=done.counts,
        tombs=done.tombstones,
        requested_by=author.name,
        final_at=done.window.final_at if done.window else None,
    )
    done.receipt_id = receipt.body["id"]
    announced = {name: payload.get(name) for name in ("user_id", "group_id", "session_id", "message_id", "scope")}
    announced |= {"messages": done.messages, "memories": done.memories, "receipt_id": done.receipt_id}
    announced["documents"] = [str(document_id) for document_id in done.documents]
    if done.window is not None:
        announced |= {"forgetting_id": str(done.window.id), "final_at": done.window.final_at.isoformat()}
    emission = Emission(FORGOTTEN, announced, subject=f"session:{payload['session_id']}")
    publishing.publish(tx, tenant_id, author, [emission])


def close_due(tx: Tx, tenant_id: str, sign: Signer, forgetting_id: UUID, event_id: str) -> dict[str, Any]:
    """Erase for good what this request kept, and others that are due; say so in their receipts."""
    events = undo_window.close_due(tx, forgetting_id)
    settled = [
        receipt
        for event in sorted({event_id, *events})
        for receipt in receipts.settle(tx, tenant_id, sign, scope="request", subject=event, state="final")
    ]
    return {"forgetting": "final", "requests": len(events), "receipts": settled}


def echoes(tx: Tx, tenant_id: str, scene: Scene) -> list[str]:
    """Return the values in a message that were erased from this talk before: "I have deleted 6714"."""
    if not asking.mentions_erasure(scene.asking.text):
        return []
    by_form = {loose(value): value for value in literals.candidates(scene.asking.text)}
    return [by_form[form] for form in tombstones.erased_values(tx, tenant_id, scene.owner, list(by_form))]


def blank_echoes(tx: Tx, tenant_id: str, scene: Scene, values: Sequence[str]) -> Forgotten:
    """Erase values that a message repeats, from this message alone."""
    spots = matching.places_of(scene.asking.text, values)
    key, text = scene.asking.key, scene.asking.text
    counts, sessions = passages.erase(tx, tenant_id, {key: spots}, {key: text}, values, [])
    return Forgotten(counts, messages=1, sessions=sessions)


def _spots(extent: Found) -> list[list[Any]]:
    """Return the places of what was found by meaning; what was named by words is looked for again when it is erased."""
    if not extent.described:
        return []
    keys = {key: list(key) if isinstance(key, tuple) else [None, str(key)] for key in extent.places}
    return [[*keys[key], start, end] for key, spots in extent.places.items() for start, end in spots]


def _at(payload: Mapping[str, Any], scene: Scene) -> Found:
    """Return what stands at the places that a payload names, as far as they still are statements, or that value."""
    by_key = {turn.key: turn for turn in scene.turns}
    named = [
        ((session, message) if session is not None else UUID(message), start, end)
        for session, message, start, end in payload["spots"]
    ]
    texts = {(key, start, end): by_key[key].text[start:end] for key, start, end in named if key in by_key}
    values = sorted(set(texts.values())) if payload.get("values") else []
    places: dict[Any, list[tuple[int, int]]] = {}
    for key, start, end in texts:
        if values or any((piece.start, piece.end) == (start, end) for piece in by_key[key].pieces):
            places.setdefault(key, []).append((start, end))
    return Found(ForgetScope(payload["scope"]), matching.with_replies(places, scene.turns), values, described=True)


def _read(scene: Scene, asking: Sequence[int], may_ask: MayAsk) -> Request:
    """Return the request of the asking turn, with what it means among the others."""
    request = matching.read(scene.asking, asking, scene.turns, may_ask)
    if request is None:
        return Request(scene, None)
    return Request(scene, request, matching.find(request, scene.asking, scene.turns, may_ask), may_ask, asking)


def _asking(tx: Tx, payload: Mapping[str, Any]) -> Sequence[int]:
    """Return the sentences that ask; a request that was announced by an earlier version names none."""
    if "asking" in payload:
        return [int(index) for index in payload["asking"]]
    message = turns.alone(tx, payload["session_id"], payload["message_id"]).asking
    recognised = recognise(message.text)
    return () if recognised is None else recognised.sentences
