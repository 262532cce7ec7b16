"""Conversations for the demo: the one shipped with Imprint or one from a LoCoMo file, with questions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from core.errors import ImprintError
from core.types import Json

SOURCE = "imprint-demo"
QUESTIONS = 5
TURN_SECONDS = 30
"""Between two turns of a session: the data names only when a session begins."""

ADVERSARIAL = 5
"""LoCoMo's category of questions that have no answer."""

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


class NoConversation(ImprintError, kind="Unreadable"):
    """The file holds no conversation."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A message of a conversation."""

    id: str
    session_id: str
    role: str
    speaker: str | None
    content: str
    time: datetime


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question, the turns that contain its answer, and why it is worth asking."""

    query: str
    expects: frozenset[str]
    note: str


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation of one user, in order, and questions about it."""

    title: str
    user_id: str
    turns: Sequence[ConversationTurn]
    questions: Sequence[DemoQuestion]

    @property
    def sessions(self) -> list[str]:
        """Return the sessions in order."""
        return list(dict.fromkeys(turn.session_id for turn in self.turns))

    def turn(self, turn_id: str) -> ConversationTurn:
        """Return the turn with that id."""
        return next(turn for turn in self.turns if turn.id == turn_id)


def shipped_conversation() -> DemoConversation:
    """Return the conversation shipped with Imprint; turn ids are session and number, from 1."""
    document = json.loads(files("api.demo").joinpath("conversation.json").read_text(encoding="utf-8"))
    turns = [turn for session in document["sessions"] for turn in _shipped_session(session, document["speaker"])]
    questions = [DemoQuestion(q["query"], frozenset([q["expects"]]), q["note"]) for q in document["questions"]]
    return DemoConversation(f"{document['speaker']} and her agent", document["user_id"], turns, questions)


def of_locomo(path: Path, name: str | None) -> DemoConversation:
    """Return a conversation from a LoCoMo file: the one whose `sample_id` is `name`, else the first."""
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
        return _sample(_sample_of(samples, name))
    except OSError as error:
        raise NoConversation(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoConversation(f"{path} is not in LoCoMo's format ({type(error).__name__}: {error}).") from None


def events(talk: DemoConversation) -> Iterator[list[Json]]:
    """Yield the events to publish, session by session: the messages, then the end of the session."""
    lengths = Counter(turn.session_id for turn in talk.turns)
    for session_id in talk.sessions:
        turns = [turn for turn in talk.turns if turn.session_id == session_id]
        ended = {"session_id": session_id, "user_id": talk.user_id, "message_count": lengths[session_id]}
        end = _event("session.ended", f"{session_id}:end", turns[-1].time, ended)
        yield [*(_message(talk, turn) for turn in turns), end]


def _message(talk: DemoConversation, turn: ConversationTurn) -> Json:
    payload = {
        "session_id": turn.session_id,
        "user_id": talk.user_id,
        "message_id": turn.id,
        "role": turn.role,
        "content": turn.content,
    }
    return _event("message.added", turn.id, turn.time, payload | ({"speaker": turn.speaker} if turn.speaker else {}))


def _event(event_type: str, event_id: str, time: datetime, payload: Json) -> Json:
    return {
        "id": event_id,
        "event_type": event_type,
        "source": SOURCE,
        "subject": f"session:{payload['session_id']}",
        "time": time.isoformat(),
        "payload": payload,
    }


def _shipped_session(session: Json, speaker: str) -> Iterator[ConversationTurn]:
    start = datetime.fromisoformat(session["time"])
    for number, turn in enumerate(session["turns"]):
        said_by = speaker if turn["role"] == "user" else None
        at = start + timedelta(seconds=TURN_SECONDS * number)
        yield ConversationTurn(
            f"{session['id']}:{number + 1}", session["id"], turn["role"], said_by, turn["content"], at
        )


def _sample_of(samples: Sequence[Json], name: str | None) -> Json:
    names = [str(sample["sample_id"]) for sample in samples]
    if not names or (name is not None and name not in names):
        raise NoConversation(
            f"There is no conversation {name or ''} in this file; it has: {', '.join(names) or 'none'}."
        )
    return samples[names.index(name) if name else 0]


def _sample(sample: Json) -> DemoConversation:
    talk, turns = sample["conversation"], []
    for key in sorted(filter(_SESSION.fullmatch, talk), key=lambda key: int(key.removeprefix("session_"))):
        start = datetime.strptime(talk[key + "_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        turns += [_turn(talk, key, start + timedelta(seconds=TURN_SECONDS * i), t) for i, t in enumerate(talk[key])]
    title = f"{talk['speaker_a']} and {talk['speaker_b']} ({sample['sample_id']})"
    questions = list(_questions(sample["qa"], {turn.id for turn in turns}))
    return DemoConversation(title, str(sample["sample_id"]), turns, _spread(questions))


def _turn(talk: Json, session: str, time: datetime, turn: Json) -> ConversationTurn:
    picture = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    role = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
    return ConversationTurn(turn["dia_id"], session, role, turn["speaker"], turn["text"] + picture, time)


def _questions(pairs: Sequence[Json], turns: set[str]) -> Iterator[DemoQuestion]:
    """Return the questions that have an answer and name the turns that contain it."""
    for pair in pairs:
        gold = {f"D{int(a)}:{int(b)}" for line in pair.get("evidence", []) for a, b in _EVIDENCE.findall(line)}
        if gold & turns and pair["category"] != ADVERSARIAL:
            yield DemoQuestion(pair["question"], frozenset(gold & turns), f"The answer in the file: {pair['answer']}")


def _spread(questions: Sequence[DemoQuestion]) -> list[DemoQuestion]:
    count = min(QUESTIONS, len(questions))
    return [questions[i * len(questions) // count] for i in range(count)]
