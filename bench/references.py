"""What a quoted sentence needs to be understood, and what remains of a statement that is over in part.

    python -m bench.references [--cases bench/unseen/references.jsonl | FOLDER] [--parts bench/unseen/parts.jsonl]
        [--show]

Cases (`references_data`, or the sentences of a folder of talks that state a fact): by language, precision and recall of
the sentences that are taken to lean on something said before, by the reader and by words alone, and of those that do
the share that gets the right sentence. Parts: a statement of several facts and a later message; whether it ends nothing
of it, one fact or all, and whether exactly what holds remains.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench import arguments, reader_data, talks
from core.consolidation import endings
from core.extraction import references, speakers
from core.extraction.references import LocatedSentence
from core.inference.local_reader import LocalReader
from core.language import languages
from core.types import Json, Message

UNSEEN: Final = Path(__file__).with_name("unseen")
AT: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)


def located(case: Json) -> LocatedSentence:
    """Return the sentence of a case in its message, behind what was said before."""
    texts = [*case["before"], case["sentence"]]
    messages = [Message("s", f"m{at}", at, f"e{at}", "ada", "user", text, AT) for at, text in enumerate(texts, 1)]
    (*_, heard) = speakers.heard(messages)
    return heard, 0, languages.grammar_of(case["sentence"])


def labelled_cases(path: Path) -> list[Json]:
    """Return the cases of a file, or those of the talks of a folder."""
    if path.is_file():
        return reader_data.lines(path)
    return [
        {
            "lang": talk["id"],
            "before": spoken,
            "sentence": sentence["text"],
            "needs": "needs" in sentence,
            "which": spoken.index(sentence["needs"]) if sentence.get("needs") in spoken else None,
        }
        for talk in talks.talks_in(path)
        for sentence, spoken in reader_data.referring([talk])
    ]


def contexts(reader: LocalReader, cases: Sequence[Json]) -> Iterator[str]:
    """Yield a line for each language."""
    placed = [located(case) for case in cases]
    ways = {"reader": references.contexts(placed, reader), "words": references.contexts(placed, None)}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for way, explained in ways.items():
        for case, context in zip(cases, explained, strict=True):
            for language in (case["lang"], "all"):
                counts[language][f"{way} {case['needs']} {context is not None}"] += 1
                if case["which"] is not None and context is not None:
                    right = context != "" and context in case["before"][case["which"]]
                    counts[language][f"{way} right"] += right
    for language, count in counts.items():
        yield f"{language}: {'; '.join(_line(count, way) for way in ways)}"


def _line(count: Mapping[str, int], way: str) -> str:
    right, wrong, missed = (count[f"{way} {case}"] for case in ("True True", "False True", "True False"))
    return (
        f"by {way} precision {right / max(1, right + wrong):.3f}, recall {right / max(1, right + missed):.3f}, "
        f"the right sentence {count[f'{way} right']} of {right}"
    )


def parts(reader: LocalReader, cases: Sequence[Json], *, show: bool) -> Iterator[str]:
    """Yield how many statements are left, cut and ended, by what should become of them."""
    pairs = [(case["later"], f"Ada said: “{case['earlier']}”") for case in cases]
    readings = endings.read(reader, pairs)
    ending = endings.may_end(reader, [new for new, _ in pairs])
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case, pair in zip(cases, pairs, strict=True):
        reading = readings[pair]
        is_ended = pair[0] in ending and reading.likely >= endings.LEAST
        outcome = _outcome(case, reading.rest) if is_ended else "left"
        counts["nothing" if not case["over"] else "a part" if case["holds"] else "all"][outcome] += 1
        if show:
            yield f"{outcome} ({reading.whole:.1f}, {reading.part:.1f}): {' | '.join(pair)} | {reading.rest}"
    for due, count in counts.items():
        yield f"{due} is over: " + ", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items()))


def _outcome(case: Json, rest: str) -> str:
    if not rest:
        return "ended"
    holds, over, remains = (_letters(text) for text in (case["holds"], case["over"], rest))
    return (
        "cut rightly" if case["holds"] and case["over"] and holds in remains and over not in remains else "cut wrongly"
    )


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--cases", type=Path, default=UNSEEN / "references.jsonl")
    parser.add_argument("--parts", type=Path, default=UNSEEN / "parts.jsonl")
    parser.add_argument("--show", action="store_true")
    parsed = parser.parse_args()
    reader = LocalReader(idle_seconds=0)
    for line in contexts(reader, labelled_cases(parsed.cases)):
        print(line, flush=True)
    for line in parts(reader, reader_data.lines(parsed.parts), show=parsed.show):
        print(line, flush=True)


if __name__ == "__main__":
    main()
