"""Sentences a summary must keep: tasks, decisions, constraints. Pure.

A key sentence sets a task, decides, obliges, promises, or gives a standing order. Excluded are questions, denials,
hypotheses and reported speech, and anything from tools or system prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import languages, sentences
from core.language.terms import terms
from core.types import Json, Message

Kind = Literal["task", "instruction", "decision", "commitment", "constraint", "question"]
"""Kinds of key sentences; open questions are found by `core.summaries.open_questions`."""

MOST: Final = 12
"""Maximum key sentences of one message: a longer list is a document, and stays searchable as one."""


@dataclass(frozen=True, slots=True)
class KeyMessage:
    """A sentence that a summary keeps word for word."""

    message_id: str
    position: int
    kind: str
    quote: str
    by: str

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in KeyMessage.__slots__}


def key_messages_of(message: Message) -> list[KeyMessage]:
    """Return the key sentences of a message, in their order."""
    if message.role not in {"user", "assistant"}:
        return []
    by, keys = speaker(message), list[KeyMessage]()
    for sentence in sentences.split(message.content):
        kind = kind_of(sentence, message.role)
        if kind is not None:
            keys.append(KeyMessage(message.id, message.position, kind, sentence, by))
    return keys[:MOST]


def speaker(message: Message) -> str:
    """Return the display name of a message: the speaker's, else the user's; the role of an assistant or a tool."""
    if message.speaker:
        return message.speaker
    return message.user_id if message.role == "user" else message.role


def kind_of(sentence: str, role: str = "user") -> Kind | None:
    """Return the kind of a key sentence, None for any other; an assistant decides and promises, and orders nothing."""
    if role == "user" and _is_task(sentence):
        return "task"
    asserted = sentences.asserted_part(sentence)
    if asserted is None:
        return None
    normalised = _APOSTROPHE.sub("'", asserted)
    forms = languages.of(normalised).key_sentences
    if forms is None:
        return None
    if forms.settled and forms.settled.search(sentence):
        return "decision"  # What leads in says so itself: "It's settled: …".
    return next((kind for kind in _kinds(role) if forms.kinds[kind](normalised)), None)


def merge(earlier: Sequence[KeyMessage], later: Sequence[KeyMessage]) -> list[KeyMessage]:
    """Merge both lists in order, without literal repeats and without sentences that a later one replaces.

    A sentence replaces one of its kind if it says so ("instead of …", "no longer …") and the other
    contains every word that it withdraws.
    """
    merged = list(earlier)
    quotes_by_kind = {(key.kind, _fold(key.quote)) for key in merged}
    for key in later:
        aside = _put_aside(key.quote)
        if aside:
            merged = [kept for kept in merged if kept.kind != key.kind or not aside <= set(terms(kept.quote))]
        if (key.kind, _fold(key.quote)) not in quotes_by_kind:
            merged.append(key)
            quotes_by_kind.add((key.kind, _fold(key.quote)))
    return merged


def _kinds(role: str) -> Sequence[Kind]:
    return ("instruction", "decision", "commitment", "constraint") if role == "user" else ("decision", "commitment")


def _is_task(sentence: str) -> bool:
    normalised = _APOSTROPHE.sub("'", sentence)
    forms = languages.of(normalised).key_sentences
    if forms is None or sentences.is_hypothetical(normalised) or sentences.is_quoted(normalised):
        return False
    return forms.is_task(normalised)


def _put_aside(quote: str) -> set[str]:
    """Return the words that a sentence withdraws."""
    forms = languages.of(quote).key_sentences
    match = forms.replaces.search(quote) if forms else None
    return set(terms(next(filter(None, match.groups())))) if match else set()


def _fold(quote: str) -> str:
    return " ".join(_WORD.findall(quote.casefold()))


_APOSTROPHE = re.compile("[‘’]")

_WORD = re.compile(r"\w+")
