"""Statements that the reader ends in the held-out talks, statement by statement, without judge or database.

    python -m bench.ending [--talks en-i zh-i] [--folder bench/unseen/talks]

The statements that the extractor reads of a talk are judged as production does: each that may end anything with the
nearest earlier ones (`core.consolidation.endings`). A statement is over if the labels end a fact that its sentence
states. Reported by log-odds: of the statements that are ended, how many are over, and of those that are over, how many
are ended; and the same of exact pairs, where the ending statement states the fact by which the labels end the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import arguments
from bench.talks import FOLDER, HELD_OUT, in_third_person, messages_of, named, says, talk_of, talks
from core.config import Settings
from core.consolidation import endings
from core.consolidation.endings import Floats, Pair
from core.extraction import rule_extractor
from core.inference.configured_embedder import embedder
from core.inference.local_reader import LocalReader
from core.types import Candidate, Json, Message

LEVELS = (-1.0, 0.0, endings.LEAST, 2.0, 3.0)


@dataclass(frozen=True, slots=True)
class Told:
    """A statement of a talk. `facts`: what it states of what its sentences state."""

    candidate: Candidate
    facts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Statements that are read of a labelled talk. `ends`: by fact, the fact that ends it."""

    statements: Sequence[Told]
    vectors: Floats
    ends: Mapping[str, str]

    def is_over(self, at: int) -> bool:
        return not self.statements[at].facts.isdisjoint(self.ends)

    def ended_by(self, at: int, other: int) -> bool:
        facts = self.statements[other].facts
        return any(self.ends.get(fact) in facts for fact in self.statements[at].facts)


def read(talk: Json, reader: LocalReader) -> Conversation:
    """Read a talk; what it states is compared with the labels as `bench.talks` compares it."""
    statements = [
        Told(replace(candidate, said_at=message.occurred_at), _facts(talk, session, message, candidate))
        for session in talk["sessions"]
        for messages in [messages_of(talk, session)]
        for candidate in rule_extractor.extract(messages, reader)
        for message in messages
        if message.id == candidate.evidence[0].message_id
    ]
    vectors = embedder(Settings()).embed([statement.candidate.content for statement in statements])
    return Conversation(
        statements, vectors, {fact["id"]: fact["ended_by"] for fact in talk["facts"] if fact["ended_by"]}
    )


def _facts(talk: Json, session: Json, message: Message, candidate: Candidate) -> frozenset[str]:
    (turn,) = [turn for turn in session["turns"] if str(turn["n"]) == message.id]
    quote = candidate.evidence[0].quote or ""
    stated = [fact for s in turn["sentences"] if s["text"] in quote or quote in s["text"] for fact in s["facts"]]
    text = in_third_person(candidate.content, talk)
    matching = {
        fact["id"] for fact in talk["facts"] if fact["id"] in stated and (says(text, fact) or named(text, fact))
    }
    return frozenset(matching or stated)


def compared(conversation: Conversation, reader: LocalReader) -> list[tuple[int, int]]:
    """Return the places of each statement that may end anything, and of those that it is read with."""
    candidates = [statement.candidate for statement in conversation.statements]
    ending = endings.may_end(reader, [candidate.content for candidate in candidates])
    return [
        (at, other)
        for at, candidate in enumerate(candidates)
        if candidate.content in ending
        for other in endings.within(candidate, candidates[:at], conversation.vectors[:at] @ conversation.vectors[at])
    ]


def report(talk: Json, reader: LocalReader) -> Iterator[str]:
    """Yield a line for each level of log-odds."""
    name, conversation = talk["id"], read(talk, reader)
    places = compared(conversation, reader)
    pairs: list[Pair] = [
        (conversation.statements[at].candidate.content, conversation.statements[other].candidate.content)
        for at, other in places
    ]
    readings = endings.read(reader, pairs)
    over = {at for at in range(len(conversation.statements)) if conversation.is_over(at)}
    exact = np.array([conversation.ended_by(other, at) for at, other in places])
    values = np.array([readings[pair].likely for pair in pairs])
    for level in LEVELS:
        chosen = values >= level
        ended = {other for (_, other), is_chosen in zip(places, chosen, strict=True) if is_chosen}
        yield (
            f"{name}, log-odds {level}: {len(ended)} ended, {len(ended & over) / max(1, len(ended)):.3f} of them over; "
            f"{len(ended & over) / max(1, len(over)):.3f} of {len(over)} that are; "
            f"pairs {(chosen & exact).sum()} of {chosen.sum()} exact"
        )
    yield f"{name}: {len(places)} pairs read of {len(conversation.statements)} statements"


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--talks", nargs="+", help="default: the held-out ones, or all of the folder")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parsed = parser.parse_args()
    reader = LocalReader(idle_seconds=0)
    for name in parsed.talks or (sorted(HELD_OUT) if parsed.folder == FOLDER else talks(parsed.folder)):
        for line in report(talk_of(name, parsed.folder), reader):
            print(line, flush=True)


if __name__ == "__main__":
    main()
