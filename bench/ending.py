"""Weights of `core.statements.endings`: trained on labelled conversations, judged on those that were left out.

    python -m bench.ending [--write] [--talks en-h zh-h]

The statements that the rules read of a conversation are compared as they would be when they are judged. A statement is
ended by another if that one's sentence states the fact by which the labels end it. Each conversation in turn is left
out; reported: of the statements that weights trained on the others end, how many have a fact that the labels end, and
how many of those are found. `--write` trains on all that are not held out and writes the weights.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from bench import arguments, regression
from bench.regression import Row, Trained
from bench.talks import HELD_OUT, in_third_person, messages_of, named, says, talk_of, talks
from core.config import Settings
from core.extraction import rule_extractor
from core.inference.configured_embedder import embedder
from core.language import ngrams
from core.statements import endings, revision
from core.statements.endings import Features, Sketch
from core.types import Candidate, Category, Json, Message

RIDGE = 3.0
FOLDS = 4
RARE = 0.005
"""The share of statements above which a word is told apart from those that are rare."""
KINDS = ("ends", "ended")


@dataclass(frozen=True, slots=True)
class Told:
    """A statement of a conversation. `facts`: what its sentences state; `says`: what it states itself."""

    candidate: Candidate
    facts: frozenset[str]
    similarity: float | None = None

    @property
    def content(self) -> str:
        return self.candidate.content

    @property
    def sketch(self) -> Sketch:
        return Sketch(self.content)

    @property
    def subject(self) -> str:
        return self.candidate.subject

    @property
    def attribute(self) -> str | None:
        return self.candidate.attribute

    @property
    def value(self) -> str | None:
        return self.candidate.value

    @property
    def category(self) -> Category | None:
        return self.candidate.category

    @property
    def told_at(self) -> datetime:
        return self.candidate.told_at


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements of a conversation, by number, and whether the newer one ends the older."""

    old: int
    new: int
    rule: bool
    label: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the rules read of a labelled conversation. `ends`: by fact, the fact that ends it."""

    name: str
    statements: Sequence[Told]
    ends: Mapping[str, str]
    likeness: np.ndarray[tuple[int, int], np.dtype[np.float32]]

    @property
    def language(self) -> str:
        return self.name[:2]

    def ender(self, at: int) -> bool:
        return not self.statements[at].facts.isdisjoint(self.ends.values())

    def stale(self, at: int) -> bool:
        return not self.statements[at].facts.isdisjoint(self.ends)

    def older(self, at: int) -> list[Told]:
        return [
            replace(statement, similarity=float(self.likeness[at, n]))
            for n, statement in enumerate(self.statements[:at])
        ]


def read(name: str) -> Conversation:
    talk = talk_of(name)
    statements = [
        Told(replace(candidate, said_at=message.occurred_at), _facts(talk, session, message, candidate))
        for session in talk["sessions"]
        for messages in [messages_of(talk, session)]
        for candidate in rule_extractor.extract(messages)
        for message in messages
        if message.id == candidate.evidence[0].message_id
    ]
    vectors = embedder(Settings()).embed([statement.content for statement in statements])
    ends = {fact["id"]: fact["ended_by"] for fact in talk["facts"] if fact["ended_by"]}
    return Conversation(name, statements, ends, vectors @ vectors.T)


def _facts(talk: Json, session: Json, message: Message, candidate: Candidate) -> frozenset[str]:
    """The facts of the sentences that a statement rests on: those that it says, if it says any."""
    (turn,) = [turn for turn in session["turns"] if str(turn["n"]) == message.id]
    quote = candidate.evidence[0].quote or ""
    stated = [fact for s in turn["sentences"] if s["text"] in quote or quote in s["text"] for fact in s["facts"]]
    text = in_third_person(candidate.content, talk)
    matching = {
        fact["id"] for fact in talk["facts"] if fact["id"] in stated and (says(text, fact) or named(text, fact))
    }
    return frozenset(matching or stated)


class Look:
    """Sketches statements with n-gram regressions of its own."""

    def __init__(self, trained: Mapping[str, Trained]) -> None:
        self._trained = trained
        self._known: dict[str, Sketch] = {}

    def __call__(self, content: str) -> Sketch:
        if content not in self._known:
            self._known[content] = sketch = Sketch(content)
            row = [Row(ngrams.buckets(sketch.grams), label=False)]
            ends, ended = (float(self._trained[kind].logits(row)[0]) for kind in KINDS)
            sketch.traits = replace(sketch.traits, ends=ends, ended=ended)
        return self._known[content]


def _row(content: str, *, label: bool) -> Row:
    return Row(ngrams.buckets(endings.sketch(content).grams), label)


def looks(conversations: Sequence[Conversation]) -> dict[str, Trained]:
    """The regressions over n-grams of one language; both outcomes count alike."""
    weights = {}
    for kind, is_so in (("ends", Conversation.ender), ("ended", Conversation.stale)):
        rows = [
            _row(statement.content, label=is_so(c, at))
            for c in conversations
            for at, statement in enumerate(c.statements)
        ]
        share = sum(row.label for row in rows) / len(rows)
        weights[kind] = regression.trained(
            [replace(row, weight=0.5 / (share if row.label else 1 - share)) for row in rows]
        )
    return weights


def compared(conversation: Conversation, look: Look) -> list[tuple[Pair, Features]]:
    """All pairs that judgement would compare."""
    pairs = []
    for at, new in enumerate(conversation.statements):
        older = endings.ListedStatements(conversation.older(at), look)
        places, columns = endings.pairs(new.candidate, older, look)
        may_end = endings.may_be_ended(new.candidate, older.marks.take(places))
        for row, (position, old) in enumerate(zip(places.tolist(), older.statements(places.tolist()), strict=True)):
            if not may_end[row]:
                continue
            rule = revision.revises(endings.rule_view(new.candidate), endings.rule_view(old)) is not None
            label = any(conversation.ends.get(fact) in new.facts for fact in old.facts)
            kinds = endings.of_categories(new.category, old.category) | {endings.RULE: float(rule)}
            features = {name: float(values[row]) for name, values in columns.items()}
            pairs.append((Pair(position, at, rule, label), features | kinds))
    return pairs


def weighed(rows: Sequence[tuple[Pair, Features]]) -> dict[str, float]:
    """Weights of the features of a pair, by name; that of the empty name counts always."""
    names = list(rows[0][1])
    inputs = np.array([[features[name] for name in names] for _, features in rows])
    mean, spread = inputs.mean(0), inputs.std(0) + 1e-6
    weights = regression.dense((inputs - mean) / spread, np.array([pair.label for pair, _ in rows]), RIDGE)
    raw = weights[:-1] / spread
    return {"": float(weights[-1] - raw @ mean), **{name: float(w) for name, w in zip(names, raw, strict=True)}}


def trained(conversations: Sequence[Conversation]) -> dict[str, float]:
    """Weights of pairs, with n-gram regressions that were trained without the conversation of each pair."""
    rows = []
    for language in dict.fromkeys(conversation.language for conversation in conversations):
        mine = [conversation for conversation in conversations if conversation.language == language]
        for fold in range(FOLDS):
            look = Look(looks([conversation for n, conversation in enumerate(mine) if n % FOLDS != fold]))
            rows += [
                row for n, conversation in enumerate(mine) if n % FOLDS == fold for row in compared(conversation, look)
            ]
    return weighed(rows)


def _rated(weights: Mapping[str, float], features: Features) -> float:
    return ngrams.logistic(weights[""] + sum(weights[name] * value for name, value in features.items()))


def report(conversations: Sequence[Conversation], names: Iterable[str]) -> Iterable[str]:
    for left_out in [conversation for conversation in conversations if conversation.name in names]:
        rest = [conversation for conversation in conversations if conversation is not left_out]
        look = Look(looks([conversation for conversation in rest if conversation.language == left_out.language]))
        weights = trained([conversation for conversation in rest if conversation.language == left_out.language])
        rated = [(pair, _rated(weights, features)) for pair, features in compared(left_out, look)]
        stale = {at for at in range(len(left_out.statements)) if left_out.stale(at)}
        for least in sorted({0.2, 0.3, 0.4, 0.5, endings.LEAST}):
            ended = {pair.old for pair, p in rated if p >= least}
            yield (
                f"{left_out.name}, {least}: {len(ended)} ended, {len(ended & stale) / max(1, len(ended)):.3f} of them "
                f"by the labels, too; {len(ended & stale) / max(1, len(stale)):.3f} of {len(stale)}"
            )


def write(conversations: Sequence[Conversation]) -> None:
    for language in dict.fromkeys(conversation.language for conversation in conversations):
        for kind, network in looks([c for c in conversations if c.language == language]).items():
            network.write(endings.file_of(kind, language))
    _write(usual=usual(conversations), weights={})
    weights = {name: round(weight, 4) for name, weight in trained(conversations).items()}
    _write(usual=usual(conversations), weights=weights)


def _write(**learned: Mapping[str, float]) -> None:
    text = json.dumps(learned, indent=1, sort_keys=True, ensure_ascii=False)
    endings.WEIGHTS_FILE.write_text(f"{text}\n", encoding="utf-8")


def usual(conversations: Sequence[Conversation]) -> dict[str, float]:
    """The share of statements of one language in which a word stands, of those that are not rare."""
    shares: dict[str, float] = {}
    for language in dict.fromkeys(conversation.language for conversation in conversations):
        sketches = [
            Sketch(statement.content) for c in conversations if c.language == language for statement in c.statements
        ]
        several = [endings.words_of(sketch.content, sketch.language, sketch.speaker) for sketch in sketches]
        counts = Counter(word for words in several for word in words)
        shares |= {word: round(n / len(several), 4) for word, n in counts.items() if n > RARE * len(several)}
    return shares


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--talks", nargs="+", default=talks())
    options = parser.parse_args()
    conversations = [read(name) for name in talks() if name not in HELD_OUT]
    if options.write:
        write(conversations)
        return
    for line in report(conversations, options.talks):
        print(line, flush=True)


if __name__ == "__main__":
    main()
