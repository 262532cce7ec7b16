"""What the reader is trained on: labelled messages, written by authors who saw no code.

`forget_data`: messages that ask to forget something or do not, and which of the told statements are meant.
`corrections_data`: a statement, what the assistant replied, and the next message, which corrects a slip in the
statement or does not; `wrong` and `right` are the value in the statement and the one that takes its place.
`changes_data`: earlier statements, a message, and what it does to them. `matters_data`: conversations, and of each
sentence whether it matters for months. `ordinary_data`, `people_data`, and the labelled talks and sentences of other
benches: what people say, to an assistant and among each other, that asks and corrects nothing, which is nearly all they
say. Without it the reader takes a third of it for one or the other.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import talks
from core.language.terms import terms

FORGET = Path(__file__).with_name("forget_data")
CORRECTIONS = Path(__file__).with_name("corrections_data")
ORDINARY = Path(__file__).with_name("ordinary_data")
CHANGES = Path(__file__).with_name("changes_data")
MATTERS = Path(__file__).with_name("matters_data")
PEOPLE = Path(__file__).with_name("people_data")
SENTENCES = Path(__file__).with_name("work_data") / "train.jsonl"
STRANGERS = 1
"""Statements of other cases that are set against each request: what it does not mean."""

OTHERS = 5
"""Statements of its own case that are set against each request, of those that it does not mean."""

ROUNDS = 3
"""Times that each correction is read in an epoch: there are few."""

BESIDE = 4
"""Every fourth correction is read beside a statement that it does not correct.

More would teach that nothing fits: "make that 12" corrects any statement with a number.
"""

MOST_OF_A_KIND = 2_000
"""Texts of each file of talk, and replies, that are read."""

LONGEST = 400
"""Characters of ordinary talk that are read."""

ALIKE = 4
"""Earlier sentences that share most words with a message, beside those that it ends."""

BEFORE = 150
"""Characters of what was said before a sentence."""

OVER = frozenset({"updates", "ends", "part", "corrects"})
"""What a message does to a statement that no longer holds, or not as it was said."""

SCENES = ("dev", "dev2", "held", "held2")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """Texts of a task, and what is true of them by head; for a corrected slip both values."""

    task: str
    texts: tuple[str, ...]
    labels: Mapping[str, bool]
    values: tuple[str, str] | None = None


def authors() -> Mapping[str, list[Json]]:
    """Return the labelled messages about forgetting by author."""
    files = sorted([*FORGET.glob("sentences_*.jsonl"), *FORGET.glob("train/*.jsonl")])
    return {file.stem: _lines(file) for file in files}


def cases_in(folder: Path) -> Mapping[str, list[Json]]:
    """Return the labelled cases of a folder by author."""
    return {file.stem: _lines(file) for file in sorted(folder.glob("*.jsonl"))}


def corrections() -> Mapping[str, list[Json]]:
    """Return the labelled pairs of a statement and a correction by author."""
    return {file.stem: _lines(file) for file in sorted(CORRECTIONS.glob("*.jsonl"))}


def conversations() -> list[list[str]]:
    """Return ordinary conversations: what a person said and what was replied, in turn, the person first and last."""
    files = sorted(ORDINARY.glob("*.jsonl"))
    return [case["turns"] for file in files for case in _lines(file)] + [
        list(_alternating(session["turns"]))
        for name in sorted(set(talks.talks()) - talks.HELD_OUT)
        for session in talks.talk_of(name)["sessions"]
    ]


def _alternating(turns: Sequence[Json]) -> Iterator[str]:
    """Yield what a person said and the reply to it in turn; where nobody replied, an empty text."""
    person_is_next = True
    for turn in turns:
        is_person = turn["role"] == "user"
        if is_person != person_is_next:
            if not is_person:
                continue
            yield ""
        yield turn["content"]
        person_is_next = not is_person


def examples(left_out: frozenset[str], talk: Sequence[Path], draw: random.Random) -> list[Example]:
    """Return all examples but those of the authors who are left out.

    `talk`: files of LoCoMo's shape and of LongMemEval's (`.gz`), in which nobody asks to forget anything.
    """
    by_author = {name: cases for name, cases in authors().items() if name not in left_out}
    slips = {name: pairs for name, pairs in corrections().items() if name not in left_out}
    replies = [reply for turns in conversations() for reply in turns[1::2] if reply]
    kinds = [replies, *(list(_said(file)) for file in talk)]
    others = [text for texts in kinds for text in draw.sample(texts, min(MOST_OF_A_KIND, len(texts)))]
    return [
        *_asking(by_author),
        *(_asks_nothing(text) for text in [*ordinary(by_author, draw), *others]),
        *_meaning(by_author, draw),
        *_slips(slips, draw),
        *_correcting_nothing(by_author, draw),
        *(example for name, cases in cases_in(CHANGES).items() if name not in left_out for example in changing(cases)),
        *_changing_talks(draw),
        *(example for name, cases in cases_in(MATTERS).items() if name not in left_out for example in mattering(cases)),
        *_mattering_talks(),
    ]


def _asks_nothing(text: str) -> Example:
    return Example("asks", (text,), {"asks": False})


def _said(file: Path) -> Iterator[str]:
    """Yield what is said in a file of conversations; of a long text the beginning."""
    raw = file.read_bytes()
    for sample in json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw):
        if "haystack_sessions" in sample:
            yield from (turn["content"][:LONGEST] for turns in sample["haystack_sessions"] for turn in turns)
        else:
            sessions = (turns for turns in sample["conversation"].values() if isinstance(turns, list))
            yield from (turn["text"][:LONGEST] for turns in sessions for turn in turns)


def _asking(by_author: Mapping[str, Sequence[Json]]) -> Iterator[Example]:
    for cases in by_author.values():
        for case in cases:
            yield Example("asks", (case["message"],), {"asks": case["label"] == "request"})
    for scene in scenes():
        yield Example("asks", (scene["last"]["text"],), {"asks": scene["is_request"]})


def scenes() -> list[Json]:
    """Return conversations about forgetting; of each the last message is read."""
    files = [FORGET / f"{name}.json" for name in SCENES]
    return [scene for file in files for scene in json.loads(file.read_text(encoding="utf-8"))]


def ordinary(by_author: Mapping[str, Sequence[Json]], draw: random.Random) -> list[str]:
    """Return what asks for nothing: all that people said in conversations, sentences, and a statement of each case."""
    texts = [turn for turns in conversations() for turn in turns[::2]]
    texts += [turn for file in sorted(PEOPLE.glob("*.jsonl")) for case in _lines(file) for turn in case["turns"]]
    sentences = [line["text"] for line in _lines(SENTENCES)]
    statements = [
        draw.choice(case["memories"]) for cases in by_author.values() for case in cases if case.get("memories")
    ]
    return [*texts, *sentences, *statements]


def _correcting_nothing(by_author: Mapping[str, Sequence[Json]], draw: random.Random) -> Iterator[Example]:
    """Yield what follows what in ordinary conversations, and statements of the same person."""
    for turns in conversations():
        for at in range(0, len(turns) - 2, 2):
            yield Example("slips", (turns[at], turns[at + 1], turns[at + 2]), {"slips": False})
    for case in [case for cases in by_author.values() for case in cases if len(case.get("memories", ())) > 1]:
        at = draw.randrange(len(case["memories"]) - 1)
        yield Example("slips", (case["memories"][at], "", case["memories"][at + 1]), {"slips": False})


def _meaning(by_author: Mapping[str, Sequence[Json]], draw: random.Random) -> Iterator[Example]:
    requests = [
        case for cases in by_author.values() for case in cases if case["label"] == "request" and "memories" in case
    ]
    pools = {
        language: [text for case in requests if case["lang"] == language for text in case["memories"]]
        for language in sorted({case["lang"] for case in requests})
    }
    for case in requests:
        for at in case["targets"]:
            yield Example("meant", (case["message"], case["memories"][at]), {"meant": True})
        others = [statement for at, statement in enumerate(case["memories"]) if at not in case["targets"]]
        strangers = [memory for memory in draw.sample(pools[case["lang"]], STRANGERS) if memory not in case["memories"]]
        for statement in [*draw.sample(others, min(OTHERS, len(others))), *strangers]:
            yield Example("meant", (case["message"], statement), {"meant": False})


def changing(cases: Sequence[Json]) -> Iterator[Example]:
    """Yield each message with each earlier statement, and what it does to it."""
    for case in cases:
        effects = {effect["on"]: effect["kind"] for effect in case["effects"]}
        for at, earlier in enumerate(case["earlier"]):
            kind = effects.get(at)
            labels = {"over": kind in OVER, "same": kind == "same", "more": kind in {"same", "more"}}
            yield Example("changes", (case["message"], earlier["text"]), labels)


def _changing_talks(draw: random.Random) -> Iterator[Example]:
    """Yield the messages of the labelled talks with earlier sentences: those that they end, and some that are alike."""
    for name in sorted(set(talks.talks()) - talks.HELD_OUT):
        talk = talks.talk_of(name)
        ended_by = {fact["id"]: fact["ended_by"] for fact in talk["facts"] if fact["ended_by"]}
        before: list[tuple[str, frozenset[str], frozenset[str]]] = []
        for turn in (turn for session in talk["sessions"] for turn in session["turns"] if turn["role"] == "user"):
            stated = frozenset(fact for sentence in turn["sentences"] for fact in sentence["facts"])
            words = frozenset(terms(turn["content"]))
            over = [text for text, facts, _ in before if any(ended_by.get(fact) in stated for fact in facts)]
            rest = [(len(words & own), draw.random(), text) for text, _, own in before if text not in over]
            alike = [text for _, _, text in sorted(rest, reverse=True)[:ALIKE]]
            others = draw.sample([text for *_, text in rest], min(1, len(rest)))
            for text in over:
                yield Example("changes", (turn["content"], text), {"over": True})
            for text in dict.fromkeys([*alike, *others]):
                yield Example("changes", (turn["content"], text), {"over": False})
            before += [
                (sentence["text"], frozenset(sentence["facts"]), frozenset(terms(sentence["text"])))
                for sentence in turn["sentences"]
                if sentence["facts"]
            ]


def mattering(cases: Sequence[Json]) -> Iterator[Example]:
    """Yield each sentence of a person behind what was said before, whether it matters and whether it leans on that."""
    for case in cases:
        before = ""
        for turn in case["turns"]:
            sentences = turn.get("sentences", ())
            for sentence in sentences:
                labels = {"matters": sentence["keep"]}
                if sentence["keep"]:
                    labels["leans"] = "needs" in sentence
                yield Example("matters", (sentence["text"], before[-BEFORE:]), labels)
                before = f"{before} {sentence['text']}"
            if not sentences:
                before = turn["text"]


def _mattering_talks() -> Iterator[Example]:
    for name in sorted(set(talks.talks()) - talks.HELD_OUT):
        yield from _mattering_talk(talks.talk_of(name))


def _mattering_talk(talk: Json) -> Iterator[Example]:
    core = {fact["id"] for fact in talk["facts"] if fact["core"]}
    for session in talk["sessions"]:
        before = ""
        for turn in session["turns"]:
            sentences = turn.get("sentences", ()) if turn["role"] == "user" else ()
            for sentence in sentences:
                if not sentence["facts"] or core.intersection(sentence["facts"]):
                    matters = {"matters": bool(sentence["facts"])}
                    yield Example("matters", (sentence["text"], before[-BEFORE:]), matters)
                before = f"{before} {sentence['text']}"
            if not sentences:
                before = turn["content"]


def _slips(slips: Mapping[str, Sequence[Json]], draw: random.Random) -> Iterator[Example]:
    """Yield each pair several times, some corrections beside what they do not correct, and statements that are alike.

    The right statement by itself, without a word of correcting, or one with other numbers, tells of another thing.
    """
    pairs = [pair for written in slips.values() for pair in written]
    for number, pair in enumerate(pairs):
        corrects = pair["kind"] == "correction"
        values = (pair["wrong"], pair["right"]) if corrects else None
        texts = pair["statement"], pair["reply"], pair["correction"]
        yield from [Example("slips", texts, {"slips": corrects}, values)] * ROUNDS
        alike = pair["corrected"] if corrects else _renumbered(pair["statement"], draw)
        if alike != pair["statement"]:
            yield Example("slips", (pair["statement"], pair["reply"], alike), {"slips": False})
        if number % BESIDE == 0:
            other = draw.choice(
                [candidate for candidate in pairs if candidate["lang"] == pair["lang"] and candidate is not pair]
            )
            yield Example("slips", (other["statement"], pair["reply"], pair["correction"]), {"slips": False})


def _renumbered(statement: str, draw: random.Random) -> str:
    """Return a statement with other digits."""
    return "".join(str(draw.randrange(10)) if sign.isdigit() else sign for sign in statement)


def _lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
