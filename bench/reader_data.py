"""Training data of the reader: labelled messages, written by authors who saw no code.

`forget_data`: messages that ask to forget something or do not, and which of the told statements are meant.
`corrections_data`: a statement, what the assistant replied, and the next message, which corrects a slip in the
statement or does not; `wrong` and `right` are the value in the statement and the one that takes its place.
`changes_data`: earlier statements, a message, and what it does to them. `pairs_data`: a statement, and later messages
that update, end, repeat or leave it; every tenth statement of an author is kept for choosing thresholds.
`references_data`: a sentence behind some said before it, and which of them it needs to be understood, if any.
`matters_data`: conversations, and of each sentence whether it matters for months; `plain_data` and
`work_data/train.jsonl`: single sentences, of talk and from work. `talks_data` (but the held-out ones) and
`ordinary_talks`: conversations of months, of each sentence the facts that it states, and which fact ends which; of some
talks also the earlier sentence that it needs to be understood.
`ordinary_data`, `people_data`, and the labelled talks and sentences of other benches: what people say, to an assistant
and among each other, that asks and corrects nothing, which is nearly all they say. Without it the reader takes a third
of it for one or the other.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import talks
from core.extraction import durability
from core.extraction.speakers import REACH
from core.language.terms import terms

FORGET = Path(__file__).with_name("forget_data")
CORRECTIONS = Path(__file__).with_name("corrections_data")
ORDINARY = Path(__file__).with_name("ordinary_data")
CHANGES = Path(__file__).with_name("changes_data")
PAIRS = Path(__file__).with_name("pairs_data")
PLAIN = Path(__file__).with_name("plain_data")
MATTERS = Path(__file__).with_name("matters_data")
ORDINARY_TALKS = Path(__file__).with_name("ordinary_talks")
PEOPLE = Path(__file__).with_name("people_data")
REFERENCES = Path(__file__).with_name("references_data")
SENTENCES = Path(__file__).with_name("work_data") / "train.jsonl"
STRANGERS = 1
"""Statements of other cases that are set against each request: what it does not mean."""

OTHERS = 5
"""Statements of its own case that are set against each request, of those that it does not mean."""

ROUNDS = 3
"""Times that each correction is read in an epoch: there are few."""

UNRELATED = 2
"""Statements of other cases that are set against a message."""

ALONE = 0.5
"""Share of the sentences of conversations that are read without what was said before, too."""

KEPT_BACK = 10
"""Every tenth statement of `pairs_data` is not trained on."""

BESIDE = 4
"""Every fourth correction is read beside a statement that it does not correct.

More would teach that nothing fits: "make that 12" corrects any statement with a number.
"""

MOST_OF_A_KIND = 2_000
"""Texts of each file of talk, and replies, that are read."""

MOST_TOLD = 5_000
"""Messages of `pairs_data` that are read as asking for nothing."""

LONGEST = 400
"""Characters of ordinary talk that are read."""

ALIKE = 6
"""Earlier sentences that share most words with a message, beside those that it ends."""

TOGETHER = 8
"""Statements that are read together with a message."""

QUIET = 0.3
"""Share of the statements of talks that end nothing which are read beside what is like them."""

OVER = frozenset({"updates", "ends", "part", "corrects"})
"""Effects of a message on a statement that no longer holds, or not as it was said."""

SCENES = ("dev", "dev2", "held", "held2")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """Texts of a task, and what is true of them by head; for a corrected slip both values.

    `each`: of a message and statements that are read together, whether it ends each of these.
    """

    task: str
    texts: tuple[str, ...]
    labels: Mapping[str, bool]
    values: tuple[str, str] | None = None
    each: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class StatingSentence:
    """A sentence of a talk that states a fact.

    `over`: earlier ones of which it ends a fact. `earlier`: all earlier ones, with the number of terms that they share
    with it. `ends`: it states a fact that ends one, told or not.
    """

    text: str
    over: Sequence[str]
    earlier: Sequence[tuple[str, int]]
    ends: bool


def authors() -> Mapping[str, list[Json]]:
    """Return the labelled messages about forgetting by author."""
    files = sorted([*FORGET.glob("sentences_*.jsonl"), *FORGET.glob("train/*.jsonl")])
    return {file.stem: lines(file) for file in files}


def cases_in(folder: Path, left_out: Collection[str] = ()) -> Mapping[str, list[Json]]:
    """Return the labelled cases of a folder by author."""
    return {file.stem: lines(file) for file in sorted(folder.glob("*.jsonl")) if file.stem not in left_out}


def corrections() -> Mapping[str, list[Json]]:
    """Return the labelled pairs of a statement and a correction by author."""
    return {file.stem: lines(file) for file in sorted(CORRECTIONS.glob("*.jsonl"))}


def conversations() -> list[list[str]]:
    """Return ordinary conversations: what a person said and what was replied, in turn, the person first and last."""
    files = sorted(ORDINARY.glob("*.jsonl"))
    return [case["turns"] for file in files for case in lines(file)] + [
        list(_alternating(session["turns"])) for talk in trained_talks().values() for session in talk["sessions"]
    ]


def trained_talks() -> Mapping[str, Json]:
    """Return the labelled talks that are trained on, by their names."""
    dense = {name: talks.talk_of(name) for name in sorted(set(talks.talks()) - talks.HELD_OUT)}
    return dense | {name: talks.talk_of(name, ORDINARY_TALKS) for name in talks.talks(ORDINARY_TALKS)}


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
    return [
        *asking(left_out, talk, draw),
        *_meaning(by_author, draw),
        *_slips(slips, draw),
        *_correcting_nothing(by_author, draw),
        *(
            example
            for name, cases in cases_in(CHANGES).items()
            if name not in left_out
            for example in changing(cases, draw)
        ),
        *pairs(left_out),
        *_changing_talks(draw),
        *lists(left_out, draw),
        *(example for name, cases in cases_in(MATTERS).items() if name not in left_out for example in mattering(cases)),
        *_mattering_talks(),
        *_mattering_alone(left_out, draw),
        *leaning(left_out),
        *explaining(left_out),
    ]


def asking(left_out: frozenset[str], talk: Sequence[Path], draw: random.Random) -> Iterator[Example]:
    """Yield messages that ask to forget something, and what people say that does not: `talk` as for `examples`."""
    by_author = {name: cases for name, cases in authors().items() if name not in left_out}
    replies = [reply for turns in conversations() for reply in turns[1::2] if reply]
    kinds = [replies, *(list(_spoken_texts(file)) for file in talk)]
    others = [text for texts in kinds for text in draw.sample(texts, min(MOST_OF_A_KIND, len(texts)))]
    yield from _asking(by_author)
    yield from map(_asks_nothing, [*ordinary(by_author, draw), *others, *_personal_statements(left_out, draw)])


def _personal_statements(left_out: frozenset[str], draw: random.Random) -> Iterator[str]:
    """Yield what people say of themselves: it lasts, changes or ends, and nobody asks to forget it."""
    for cases in cases_in(MATTERS, left_out).values():
        yield from (sentence["text"] for sentence, _ in _sentences(cases))
    for cases in cases_in(CHANGES, left_out).values():
        yield from (case["message"] for case in cases)
    later = [each["text"] for cases in cases_in(PAIRS, left_out).values() for case in cases for each in case["later"]]
    yield from draw.sample(later, min(MOST_TOLD, len(later)))


def _asks_nothing(text: str) -> Example:
    return Example("asks", (text,), {"asks": False})


def _spoken_texts(file: Path) -> Iterator[str]:
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
    texts += [turn for file in sorted(PEOPLE.glob("*.jsonl")) for case in lines(file) for turn in case["turns"]]
    sentences = [line["text"] for line in lines(SENTENCES)]
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


def changing(cases: Sequence[Json], draw: random.Random | None = None) -> Iterator[Example]:
    """Yield each message with each earlier statement, and with `draw` with some of other cases of its language."""
    by_language = _by_language(cases)
    for case in cases:
        kinds = {effect["on"]: effect["kind"] for effect in case["effects"]}
        for at, earlier in enumerate(case["earlier"]):
            kind = kinds.get(at)
            labels = {"over": kind in OVER, "same": kind == "same", "more": kind in {"same", "more"}}
            yield Example("changes", (case["message"], earlier["text"]), labels)
        if draw is not None:
            for other in _strangers(case, by_language, draw):
                yield _unrelated(case["message"], draw.choice(other["earlier"])["text"])


def pairs(left_out: frozenset[str]) -> Iterator[Example]:
    """Yield each statement with each later message, and these with statements of other cases of their language."""
    draw = random.Random(0)
    cases = [case for cases in cases_in(PAIRS, left_out).values() for case in without_kept_back(cases)]
    by_language = _by_language(cases)
    for case in cases:
        yield from pairs_of(case)
        # What changes something is taken to change anything, unless it is seen beside much that it leaves alone.
        for later in (later for later in case["later"] if later["kind"] in OVER):
            for other in _strangers(case, by_language, draw):
                yield _unrelated(later["text"], other["earlier"])


def messages_of(files: frozenset[str]) -> Iterator[str]:
    """Yield the messages of files of `pairs_data`, `changes_data`, `matters_data` and of talks, as they are read."""
    for name, cases in cases_in(PAIRS).items():
        yield from (later["text"] for case in cases for later in case["later"] if name in files)
    for name, cases in cases_in(CHANGES).items():
        yield from (case["message"] for case in cases if name in files)
    for name, cases in cases_in(MATTERS).items():
        yield from (sentence["text"] for sentence, _ in _sentences(cases) if name in files)
    for name, talk in trained_talks().items():
        yield from (sentence["text"] for sentence in _spoken_sentences(talk) if name in files)


def _by_language(cases: Sequence[Json]) -> Mapping[str, list[Json]]:
    by_language: dict[str, list[Json]] = {}
    for case in cases:
        by_language.setdefault(case["lang"], []).append(case)
    return by_language


def _strangers(case: Json, by_language: Mapping[str, list[Json]], draw: random.Random) -> list[Json]:
    """Return some other cases of a language."""
    others = draw.sample(by_language[case["lang"]], min(UNRELATED, len(by_language[case["lang"]])))
    return [other for other in others if other is not case]


def _unrelated(message: str, earlier: str) -> Example:
    return Example("changes", (message, earlier), {"over": False, "same": False, "more": False})


def pairs_of(case: Json) -> Iterator[Example]:
    """Yield a statement with each later message."""
    for later in case["later"]:
        kind = later["kind"]
        labels = {"over": kind in OVER, "same": kind == "same", "more": kind in {"same", "more"}}
        yield Example("changes", (later["text"], case["earlier"]), labels)


def lists(left_out: frozenset[str], draw: random.Random) -> Iterator[Example]:
    """Yield messages with several statements: as labelled, of talks what is alike, of pairs theirs among others."""
    for cases in cases_in(CHANGES, left_out).values():
        by_language = _by_language(cases)
        for case in cases:
            ended = {effect["on"] for effect in case["effects"] if effect["kind"] in OVER}
            statements = [(earlier["text"], at in ended) for at, earlier in enumerate(case["earlier"])]
            others = _texts_of_others(case, by_language[case["lang"]], TOGETHER - len(statements), draw)
            yield _list(case["message"], statements, [text["text"] for text in others], draw)
    for cases in cases_in(PAIRS, left_out).values():
        by_language = _by_language(cases)
        for case in without_kept_back(cases):
            for later in _one_of_each(case["later"], draw):
                statement = (case["earlier"], later["kind"] in OVER)
                others = _texts_of_others(case, by_language[case["lang"]], TOGETHER - 1, draw)
                yield _list(later["text"], [statement], others, draw)
    yield from _lists_of_talks(draw)


def _list(message: str, statements: Sequence[tuple[str, bool]], others: Sequence[str], draw: random.Random) -> Example:
    both = [*statements, *((other, False) for other in others if other not in dict(statements))][:TOGETHER]
    draw.shuffle(both)
    return Example("lists", (message, *(text for text, _ in both)), {}, each=tuple(is_over for _, is_over in both))


def _texts_of_others(case: Json, cases: Sequence[Json], most: int, draw: random.Random) -> list[Any]:
    """Return what was said earlier in other cases, at most so much."""
    others = [other for other in draw.sample(cases, min(most + 1, len(cases))) if other is not case][: max(0, most)]
    return [draw.choice(other["earlier"]) if "message" in other else other["earlier"] for other in others]


def _one_of_each(later: Sequence[Json], draw: random.Random) -> list[Json]:
    """Return a message that ends its statement and one that does not, if there are any."""
    kinds = [[each for each in later if (each["kind"] in OVER) == is_over] for is_over in (True, False)]
    return [draw.choice(kind) for kind in kinds if kind]


def _lists_of_talks(draw: random.Random) -> Iterator[Example]:
    """Yield the sentences of the labelled talks that state something, each with the earlier ones most like it."""
    for sentence in _stating_sentences():
        alike = sorted(((shared, draw.random(), text) for text, shared in sentence.earlier), reverse=True)
        statements = [(text, True) for text in dict.fromkeys(sentence.over[-TOGETHER:])]
        if sentence.earlier and (sentence.over or draw.random() < QUIET):
            others = dict.fromkeys(text for *_, text in alike if text not in sentence.over)
            yield _list(sentence.text, statements, list(others), draw)


def _stating_sentences() -> Iterator[StatingSentence]:
    """Yield the sentences of the talks that are trained on which state a fact."""
    for talk in trained_talks().values():
        ended_by = {fact["id"]: fact["ended_by"] for fact in talk["facts"] if fact["ended_by"]}
        before: list[tuple[str, frozenset[str], frozenset[str]]] = []
        for sentence in (sentence for sentence in _spoken_sentences(talk) if sentence["facts"]):
            stated, own_terms = frozenset(sentence["facts"]), frozenset(terms(sentence["text"]))
            yield StatingSentence(
                sentence["text"],
                over=[text for text, facts, _ in before if any(ended_by.get(fact) in stated for fact in facts)],
                earlier=[(text, len(own_terms & theirs)) for text, _, theirs in before],
                ends=not stated.isdisjoint(ended_by.values()),
            )
            before.append((sentence["text"], stated, own_terms))


def _spoken_sentences(talk: Json) -> Iterator[Json]:
    """Yield the sentences that the person of a talk says."""
    for turn in (turn for session in talk["sessions"] for turn in session["turns"] if turn["role"] == "user"):
        yield from turn["sentences"]


def ending(left_out: frozenset[str], *_: Any) -> Iterator[Example]:
    """Yield messages, and whether they end or change anything that was said before; ordinary talk does not."""
    for name, cases in cases_in(PAIRS).items():
        for case in without_kept_back(cases) if name not in left_out else ():
            yield from ending_of(case)
    for name, cases in cases_in(CHANGES).items():
        for case in cases if name not in left_out else ():
            yield Example("ends", (case["message"],), {"ends": any(e["kind"] in OVER for e in case["effects"])})
    for talk in trained_talks().values():
        enders = {fact["ended_by"] for fact in talk["facts"]}
        for sentence in _spoken_sentences(talk):
            yield Example("ends", (sentence["text"],), {"ends": not enders.isdisjoint(sentence["facts"])})
    for turns in conversations():
        yield from (Example("ends", (text,), {"ends": False}) for text in turns[::4])


def ending_of(case: Json) -> Iterator[Example]:
    """Yield the later messages of a statement by themselves."""
    for later in case["later"]:
        yield Example("ends", (later["text"],), {"ends": later["kind"] in OVER})


def without_kept_back(cases: Sequence[Json]) -> list[Json]:
    """Return the cases but every tenth."""
    return [case for at, case in enumerate(cases) if at % KEPT_BACK]


def kept_back(cases: Sequence[Json]) -> list[Json]:
    """Return every tenth case."""
    return list(cases[::KEPT_BACK])


def _changing_talks(draw: random.Random) -> Iterator[Example]:
    """Yield the sentences of the labelled talks with earlier ones: those that they end, and some that are alike."""
    for sentence in _stating_sentences():
        rest = [(shared, draw.random(), text) for text, shared in sentence.earlier if text not in sentence.over]
        alike, others = (ALIKE, UNRELATED) if sentence.ends else (1, 0)
        beside = [text for _, _, text in sorted(rest, reverse=True)[:alike]]
        beside += draw.sample([text for *_, text in rest], min(others, len(rest)))
        yield from (Example("changes", (sentence.text, text), {"over": True}) for text in sentence.over)
        yield from (Example("changes", (sentence.text, text), {"over": False}) for text in dict.fromkeys(beside))


def mattering(cases: Sequence[Json]) -> Iterator[Example]:
    """Yield each sentence of a person behind what was said before, and whether it matters."""
    for sentence, before in _sentences(cases):
        yield Example("matters", (sentence["text"], before), {"matters": sentence["keep"]})


def _sentences(cases: Sequence[Json]) -> Iterator[tuple[Json, str]]:
    """Yield each sentence of a person with the end of what was said before."""
    for case in cases:
        before = ""
        for turn in case["turns"]:
            sentences = turn.get("sentences", ())
            for sentence in sentences:
                yield sentence, before[-durability.BEFORE :]
                before = f"{before} {sentence['text']}"
            if not sentences:
                before = turn["text"]


def leaning(left_out: frozenset[str]) -> Iterator[Example]:
    """Yield sentences behind what was said before, and whether they need it to be understood."""
    for case in _references(left_out):
        before = " ".join(case["before"])[-durability.BEFORE :].strip()
        yield Example("leans", (case["sentence"], before), {"leans": case["needs"]})
    for cases in cases_in(MATTERS, left_out).values():
        for sentence, before in _sentences(cases):
            if sentence["keep"]:
                yield Example("leans", (sentence["text"], before), {"leans": "needs" in sentence})
    for sentence, spoken in referring(trained_talks().values()):
        before = " ".join(spoken)[-durability.BEFORE :]
        yield Example("leans", (sentence["text"], before), {"leans": "needs" in sentence})


def explaining(left_out: frozenset[str]) -> Iterator[Example]:
    """Yield what was said before with a sentence that needs some of it, and whether it is that."""
    for case in _references(left_out):
        for at, before in enumerate(case["before"] if case["needs"] else ()):
            yield Example("explains", (before, case["sentence"]), {"explains": case["which"] == at})
    for sentence, spoken in referring(trained_talks().values()):
        for before in spoken if sentence.get("needs") in spoken else ():
            yield Example("explains", (before, sentence["text"]), {"explains": sentence["needs"] == before})


def referring(labelled: Iterable[Json]) -> Iterator[tuple[Json, Sequence[str]]]:
    """Yield the sentences that state a fact with what the person said before, of talks where `needs` is labelled."""
    for talk in labelled:
        if any("needs" in sentence for sentence in _spoken_sentences(talk)):
            for session in talk["sessions"]:
                spoken: list[str] = []
                for turn in session["turns"]:
                    for sentence in turn.get("sentences", ()):
                        if sentence["facts"]:
                            yield sentence, spoken[-REACH:]
                        spoken.append(sentence["text"])


def _references(left_out: frozenset[str]) -> Iterator[Json]:
    for cases in cases_in(REFERENCES, left_out).values():
        yield from cases


def _mattering_alone(left_out: frozenset[str], draw: random.Random) -> Iterator[Example]:
    """Yield sentences with nothing before them, as they open a conversation."""
    for cases in [*cases_in(PLAIN).values(), lines(SENTENCES)]:
        yield from mattering_plain(cases)
    for name, cases in cases_in(MATTERS).items():
        for example in mattering(cases) if name not in left_out else ():
            if draw.random() < ALONE:
                yield Example("matters", (example.texts[0], ""), example.labels)
    for name, cases in cases_in(PAIRS).items():
        for case in without_kept_back(cases) if name not in left_out else ():
            yield Example("matters", (case["earlier"], ""), {"matters": True})


def mattering_plain(cases: Sequence[Json]) -> Iterator[Example]:
    """Yield single sentences, and whether they matter."""
    for case in cases:
        yield Example("matters", (case["text"], ""), {"matters": case["keep"]})


def _mattering_talks() -> Iterator[Example]:
    for talk in trained_talks().values():
        yield from _mattering_talk(talk)


def _mattering_talk(talk: Json) -> Iterator[Example]:
    core = {fact["id"] for fact in talk["facts"] if fact["core"]}
    for session in talk["sessions"]:
        before = ""
        for turn in session["turns"]:
            sentences = turn.get("sentences", ()) if turn["role"] == "user" else ()
            for sentence in sentences:
                if not sentence["facts"] or core.intersection(sentence["facts"]):
                    matters = {"matters": bool(sentence["facts"])}
                    yield Example("matters", (sentence["text"], before[-durability.BEFORE :]), matters)
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


def lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
