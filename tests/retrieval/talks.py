"""The gate's conversations, and what is asked about them: text that is written, and reviewed, as text.

A file of `talks/` opens with who speaks and when it is asked. `## s1 2026-02-07 18:30` begins a session, `3 Ann: …` is
its third turn, which further lines indented by two continue, and `s1.3` its name. A table of questions ends the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from core.types import Json
from tests.samples import ended, said

FOLDER: Final = Path(__file__).parent / "talks"
QUESTIONS: Final = "## Questions\n"

BETWEEN_TURNS: Final = timedelta(seconds=30)

_FIELD = re.compile(r"^(user|other|asked): (.+)$", re.MULTILINE)
_SESSION = re.compile(r"^## (\w+) (\d{4}-\d\d-\d\d \d\d:\d\d)\n", re.MULTILINE)
_TURN = re.compile(r"^(\d+) (\S+): (.+(?:\n+  .+)*)", re.MULTILINE)
_QUESTION = re.compile(r"^\| (\w+) \| (\w+\.\d+(?: \w+\.\d+)*) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said. `id` is that of the session and its number in it: `s1.3`."""

    id: str
    session: str
    speaker: str
    role: str
    content: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """`answer`: the turns that hold it."""

    kind: str
    text: str
    answer: Sequence[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation over several sessions. `asked`: the `now` of its questions."""

    name: str
    asked: datetime
    turns: Sequence[Turn]
    questions: Sequence[Question]


def talks() -> list[Talk]:
    """All of them, by name."""
    return [read(path.stem, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))]


def read(name: str, text: str) -> Talk:
    """One conversation. AssertionError: a turn is misnumbered, nobody's or unread, or an answer is in no turn."""
    told, _, asked = text.partition(QUESTIONS)
    head, *parts = _SESSION.split(told)
    fields = dict(_FIELD.findall(head))
    roles = {fields["user"]: "user", fields["other"]: "assistant"}
    sessions = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    turns = [turn for session, start, lines in sessions for turn in _turns(session, _moment(start), lines, roles)]
    questions = [Question(kind, words, answer.split()) for kind, answer, words in _QUESTION.findall(asked)]
    unknown = {turn for question in questions for turn in question.answer} - {turn.id for turn in turns}
    assert not unknown, f"{name}: there are no turns {sorted(unknown)}."
    assert len(questions) == len(asked.strip().splitlines()) - 2, f"{name}: a line of the table is no question."
    return Talk(name, _moment(fields["asked"]), turns, questions)


def events(talk: Talk) -> list[Json]:
    """What a client publishes of it, in order; its user has the talk's name, and its sessions begin with it."""
    documents = []
    for at, turn in enumerate(talk.turns):
        session = f"{talk.name}/{turn.session}"
        who = {"session": session, "user": talk.name, "time": turn.time.isoformat()}
        named = {} if turn.speaker == turn.role else {"speaker": turn.speaker}
        documents.append(said(turn.content, role=turn.role, message_id=turn.id, id=f"{talk.name}-{at}", **named, **who))
        if at + 1 == len(talk.turns) or talk.turns[at + 1].session != turn.session:
            documents.append(ended(id=f"{talk.name}-{at}-end", **who))
    return documents


def _turns(session: str, start: datetime, lines: str, roles: dict[str, str]) -> list[Turn]:
    turns = []
    for place, (number, speaker, words) in enumerate(_TURN.findall(lines), 1):
        assert int(number) == place, f"{session}.{number} should be {session}.{place}."
        assert speaker in roles, f"{session}.{number}: nobody is called {speaker}."
        content = words.replace("\n  ", "\n")
        when = start + BETWEEN_TURNS * (place - 1)
        turns.append(Turn(f"{session}.{number}", session, speaker, roles[speaker], content, when))
    unread = _TURN.sub("", lines).strip()
    assert not unread, f"{session}: {unread[:40]!r} is no turn."
    return turns


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
