"""How the reader judges what nobody trained it on: which statements a message ends, and which sentences matter.

    python -m bench.reading [--pairs bench/unseen/pairs_z.jsonl] [--sentences bench/unseen/plain_y.jsonl]
        [--talks bench/unseen/matters_k.jsonl] [--show]

Pairs (`pairs_data`): by language, of the later messages that end the statement how many are judged so, and how many of
the others. Sentences (`plain_data`) and the sentences of talks (`matters_data`) by themselves: precision and recall of
what the extractor without a language model keeps, which counts orders and slots, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import arguments, reader_data
from bench.reader_data import OVER
from core.consolidation import endings
from core.extraction import rule_extractor
from core.inference.local_reader import LocalReader
from core.types import Json, Message

UNSEEN = Path(__file__).with_name("unseen")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def ends(reader: LocalReader, cases: Sequence[Json], *, show: bool) -> Iterator[str]:
    """Yield a line for each language, and with `show` one for each pair that is judged wrongly."""
    pairs = [(later["text"], f"Ada said: “{case['earlier']}”") for case in cases for later in case["later"]]
    over = [later["kind"] in OVER for case in cases for later in case["later"]]
    languages = [case["lang"] for case in cases for _ in case["later"]]
    ending = endings.may_end(reader, [text for text, _ in pairs])
    readings = endings.read(reader, pairs)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, is_over, language in zip(pairs, over, languages, strict=True):
        value = readings[pair].likely
        judged = value >= endings.LEAST and pair[0] in ending
        counts[language][f"{'over' if is_over else 'holds'} {judged}"] += 1
        if show and judged != is_over:
            gate = "" if pair[0] in ending else " (not read beside it)"
            yield f"{'missed' if is_over else 'wrong'} {value:.2f}{gate}: {' | '.join(pair)}"
    for language, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        right, wrong = count["over True"], count["holds True"]
        of, others = right + count["over False"], wrong + count["holds False"]
        yield (
            f"{language}: {right} of {of} that end it are judged so, {wrong} of {others} others; "
            f"precision {right / max(1, right + wrong):.3f}, recall {right / max(1, of):.3f}"
        )


def kept_sentences(reader: LocalReader, cases: Sequence[Json], *, show: bool) -> Iterator[str]:
    """Yield precision and recall of the sentences that are kept of conversations, by language."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        messages = [_message(at, turn) for at, turn in enumerate(case["turns"], 1)]
        quotes = [
            evidence.quote or ""
            for candidate in rule_extractor.extract(messages, reader)
            for evidence in candidate.evidence
        ]
        for turn in case["turns"]:
            for sentence in turn.get("sentences", ()):
                text = sentence["text"]
                is_kept = any(text in quote or (quote and quote in text) for quote in quotes)
                counts[case["lang"]][f"{'keep' if sentence['keep'] else 'pass'} {is_kept}"] += 1
                if show and is_kept != sentence["keep"]:
                    yield f"{'missed' if sentence['keep'] else 'wrong'}: {text}"
    for language, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        right = count["keep True"]
        yield (
            f"{language}: precision {right / max(1, right + count['pass True']):.3f}, "
            f"recall {right / max(1, right + count['keep False']):.3f} of {right + count['keep False']}"
        )


def _message(at: int, turn: Json) -> Message:
    text = " ".join(sentence["text"] for sentence in turn["sentences"]) if turn.get("sentences") else turn["text"]
    return Message("s", f"m{at}", at, f"e{at}", "ada", turn["role"], text, START + timedelta(minutes=at))


def as_talk(case: Json) -> Json:
    """Return a single sentence as a conversation."""
    return {"lang": case["lang"], "turns": [{"role": "user", "sentences": [case]}]}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--pairs", type=Path, default=UNSEEN / "pairs_z.jsonl")
    parser.add_argument("--sentences", type=Path, default=UNSEEN / "plain_y.jsonl")
    parser.add_argument("--talks", type=Path, default=UNSEEN / "matters_k.jsonl")
    parser.add_argument("--show", action="store_true")
    parsed = parser.parse_args()
    reader = LocalReader(idle_seconds=0)
    sentences = [as_talk(case) for case in reader_data.lines(parsed.sentences)]
    for title, lines in (
        ("What a message ends", ends(reader, reader_data.lines(parsed.pairs), show=parsed.show)),
        ("What is kept of single sentences", kept_sentences(reader, sentences, show=parsed.show)),
        ("What is kept of conversations", kept_sentences(reader, reader_data.lines(parsed.talks), show=parsed.show)),
    ):
        print(title, flush=True)
        for line in lines:
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
