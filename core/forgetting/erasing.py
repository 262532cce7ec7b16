"""Erases what a request to forget means, in one transaction: passages of messages, and memories that say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from core.erasure import equivalents, lineage, memory, passages, runner, session
from core.erasure.memory import Erased
from core.events.publishing import Author
from core.forgetting import matching, turns
from core.forgetting.matching import NOTHING, Found
from core.forgetting.params import MayAsk
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import ASSISTANT, Turn
from core.forgetting.text import clauses, content_terms, loose, naming_terms, plain, statements
from core.forgetting.turns import Scene
from core.forgetting.undo_window import UndoableForgetting
from core.memory import memories, tombstones
from core.memory.changes import Owner
from core.sessions import sessions as stored_sessions
from core.statements.redaction import MASKED
from core.storage.db import Tx

ROUNDS: Final = 5
"""Times that memories are looked for that still repeat an erased passage."""

LEAST_WORDS: Final = 2
"""Meaningful words of a clause by which a memory is known to repeat it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A message, the request that it makes, if any, and what is meant among what was said.

    `asking`: the sentences of the message that ask, as `recognition.recognise` numbers them.
    """

    scene: Scene
    request: ForgetRequest | None
    extent: Found = NOTHING
    may_ask: MayAsk = MayAsk.CONCERNED
    asking: Sequence[int] = ()


@dataclass(slots=True)
class Forgotten:
    """Result of erasing: rows by table, numbers of messages, memories and tombstones, sessions to embed again.

    `documents`: documents of the asker that hold what was erased, and are not touched.
    `reread`: the request, if it names something new and was extracted before: the new is learnt from what is left.
    `window`: the request as it can be undone, if it can.
    """

    counts: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    memories: int = 0
    tombstones: int = 0
    sessions: Sequence[str] = ()
    receipt_id: str | None = None
    more: bool = False
    documents: Sequence[UUID] = ()
    reread: Mapping[str, Any] | None = None
    window: UndoableForgetting | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "forgetting": "done" if self.messages or self.memories else "nothing_found",
            "messages": self.messages,
            "memories": self.memories,
            "tombstones": self.tombstones,
            "receipt_id": self.receipt_id,
            "sessions": list(self.sessions),
            "more": self.more,
            "documents": [str(document_id) for document_id in self.documents],
            "reread": self.reread,
            **(
                {"forgetting_id": str(self.window.id), "final_at": self.window.final_at.isoformat()}
                if self.window
                else {}
            ),
        }


def forget_found(tx: Tx, tenant_id: str, request: Request, author: Author) -> Forgotten:
    scene, forget_request, extent = request.scene, request.request, request.extent
    by_key = {turn.key: turn for turn in scene.turns}
    spots = {key: list(places) for key, places in extent.places.items() if isinstance(key, tuple)}
    pieces = _pieces(extent, by_key)
    ids = {key for key in extent.places if not isinstance(key, tuple)} | _resting(tx, request, by_key)
    if not spots and not ids:
        return Forgotten()
    if forget_request is not None:
        own = matching.blank_request(forget_request, extent, scene.turns)
        spots[scene.asking.key] = [*spots.get(scene.asking.key, ()), *own]
        by_key[scene.asking.key] = scene.asking
    repeated = _repeated(pieces, extent)
    erased, tombs, counts = _erase_memories(tx, tenant_id, sorted(ids), repeated, author)
    for _ in range(ROUNDS):  # What erasing leaves of a memory may still repeat a passage in other words.
        again = turns.repeating(tx, sorted({session_id for session_id, _ in spots}), scene.asking.user_id, repeated)
        if not again:
            break
        more, laid, rows = _erase_memories(tx, tenant_id, again, repeated, author)
        erased, tombs, counts = erased + more, tombs + laid, counts + rows
    owners = {by_key[key].user_id for key in spots if by_key[key].user_id}
    counts += _erase_episodes(tx, tenant_id, {session_id for session_id, _ in spots}, author)
    contents = {key: by_key[key].text for key in spots}
    changed, sessions = passages.erase(tx, tenant_id, spots, contents, pieces, sorted(owners))
    tombs += tombstones.lay_values(tx, tenant_id, scene.owner, sorted({*extent.values, *map(loose, extent.values)}))
    messages = len([ranges for ranges in spots.values() if ranges])
    done = Forgotten(counts + changed, messages, erased, tombs, sessions)
    done.documents = turns.documents(tx, scene.asking.user_id, repeated)
    done.reread = _reread(tx, scene) if forget_request is not None and forget_request.kept else None
    return done


def _reread(tx: Tx, scene: Scene) -> Mapping[str, Any] | None:
    """Return the range of the request's message for the extractor; None if it has not come to it yet."""
    position = scene.message.position
    if stored_sessions.get(tx, scene.message.session_id).extracted_to < position:
        return None
    return {"session_id": scene.message.session_id, "group_id": scene.group_id, "from": position, "to": position}


def forget_all(tx: Tx, tenant_id: str, request: Request, author: Author) -> Forgotten:
    """Erase a page of everything that a person said, of what the assistant repeated of it, and of their memories."""
    scene, extent = request.scene, request.extent
    user_id = scene.asking.user_id
    own_turns, ids = turns.everything(tx, user_id, scene.message.session_id, scene.message.id)
    by_key = {turn.key: turn for turn in own_turns}
    spots = {turn.key: [(0, len(turn.text))] for turn in own_turns}
    replies = {turn.key: turn for turn in scene.turns if turn.role == ASSISTANT and turn.key in extent.places}
    by_key |= replies
    spots |= {key: list(extent.places[key]) for key in replies if key not in spots}
    tombs = tombstones.lay_user(tx, tenant_id, user_id)
    counts: Counter[str] = Counter()
    derived = lineage.of(tx, ids) if ids else None
    owned: dict[str, list[UUID]] = {}
    for memory_id, row in sorted(memories.of_ids(tx, derived.ids if derived else []).items()):
        owned.setdefault(row.user_id, []).append(memory_id)
    runner.lock_owners(tx, tenant_id, {user_id, *owned})
    for owner, owned_ids in owned.items():
        counts += memory.delete_memories(tx, tenant_id, owner, owned_ids)
        memory.publish_erased(tx, tenant_id, owned_ids[0], Erased(owner, owned_ids), author)
    contents = {key: turn.text for key, turn in by_key.items()}
    pieces = [turn.text for turn in own_turns]
    changed, sessions = passages.erase(tx, tenant_id, spots, contents, pieces, [user_id])
    more = len(own_turns) >= turns.PAGE or len(ids) >= turns.PAGE
    return Forgotten(counts + changed, len(own_turns), len(ids), tombs, sessions, more=more)


def _pieces(extent: Found, by_key: Mapping[Any, Turn]) -> list[str]:
    """Return the erased passages as they stand in the messages."""
    pieces = {
        by_key[key].text[start:end] for key, places in extent.places.items() if key in by_key for start, end in places
    }
    return sorted(pieces | set(extent.values), key=len, reverse=True)


def _repeated(pieces: Sequence[str], extent: Found) -> list[str]:
    """Return by which texts a memory is known to repeat what is erased: its values, or clauses that say something."""
    texts = [clause.text.strip(" .,;:!?。，；：！？、") for piece in pieces for clause in clauses(piece)]
    return [*extent.values, *(text for text in texts if len(set(content_terms(text))) >= LEAST_WORDS)]


def _resting(tx: Tx, request: Request, by_key: Mapping[Any, Turn]) -> set[UUID]:
    """Return the memories of anyone that rest on the erased passages, or on the request."""
    scene, forget_request, extent = request.scene, request.request, request.extent
    places = [key for key in extent.places if isinstance(key, tuple)]
    ids = set()
    for row in turns.citing(tx, [*places, scene.asking.key]):
        if forget_request is not None and (row.session_id, row.message_id) == scene.asking.key:
            rests = _is_about(row.content, forget_request.widened[0], " ".join(forget_request.kept))
        else:
            rests = _rests_on(row.content, by_key[row.session_id, row.message_id], extent)
        if rests:
            ids.add(row.id)
    return ids


def _rests_on(content: str, turn: Turn, extent: Found) -> bool:
    """Return whether a memory that cites a message says what is erased there; a secret in it may have been masked."""
    if any(plain(value) in plain(content) for value in extent.values):
        return True
    if extent.values and MASKED not in content:
        return False
    spots = extent.places[turn.key]
    pieces = [
        (piece.start, piece.end) for piece in turn.pieces if any(a < piece.end and piece.start < b for a, b in spots)
    ]
    gone = " ".join(turn.text[start:end] for start, end in pieces)
    return _is_about(content, gone, matching.rest_of(turn.text, pieces))


def _is_about(content: str, gone: str, rest: str) -> bool:
    """Return whether a memory shares at least as many words with what is erased as with what remains, and some."""
    terms = set(naming_terms(content))
    return len(terms & set(naming_terms(gone))) >= max(1, len(terms & set(naming_terms(rest))))


def _erase_memories(
    tx: Tx, tenant_id: str, ids: Sequence[UUID], repeated: Sequence[str], author: Author
) -> tuple[int, int, Counter[str]]:
    """Erase memories with everything derived from them; what else an active one said is kept as a new one."""
    rows = memories.of_ids(tx, ids)
    runner.lock_owners(tx, tenant_id, {row.user_id for row in rows.values()})
    counts: Counter[str] = Counter()
    erased = tombs = 0
    for memory_id, row in sorted(rows.items()):
        if not memories.of_ids(tx, [memory_id]):
            continue  # Erased with an earlier one.
        rest = _rest(row.content, repeated) if row.status == "active" else ""
        cited = memories.evidence(tx, [memory_id]).get(memory_id, [])
        done = memory.erase(tx, tenant_id, memory_id, author)
        erased, tombs, counts = erased + len(done.memory_ids), tombs + done.tombstones, counts + done.counts
        if rest:
            kept = [replace(evidence, quote="") for evidence in cited]
            whole = replace(memories.candidate_of(row, kept), content=rest, attribute=None, value=None, structured={})
            owner = Owner(row.user_id, row.group_id)
            counts["rewritten"] += equivalents.store_rest(tx, tenant_id, owner, whole, author)
    return erased, tombs, counts


def _rest(content: str, repeated: Sequence[str]) -> str:
    """Return the statements of a memory that repeat none of the texts; empty if none does, or if it quotes a talk."""
    stated = statements(content)
    left = [
        statement.text for statement in stated if not any(plain(text_) in plain(statement.text) for text_ in repeated)
    ]
    return " ".join(left) if 0 < len(left) < len(stated) and not _QUOTE_MARKS.intersection(content) else ""


def _erase_episodes(tx: Tx, tenant_id: str, session_ids: set[str], author: Author) -> Counter[str]:
    """Erase the episodes of these conversations, which retell all of them."""
    counts: Counter[str] = Counter()
    for session_id in sorted(session_ids):
        owners = runner.lock_owners(tx, tenant_id, session.owners(tx, session_id))
        counts += session.erase_episodes(tx, tenant_id, session_id, owners, author)
    return counts


_QUOTE_MARKS: Final = frozenset('“”"「」')
