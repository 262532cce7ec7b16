"""How the reader judges what nobody trained it on: which statements a message ends, and which sentences matter.

    python -m bench.reading [--pairs bench/unseen/pairs_z.jsonl] [--sentences bench/unseen/plain_y.jsonl]
        [--changes bench/unseen/changes_q.jsonl] [--talks bench/unseen/matters_k.jsonl | FOLDER] [--show]

Pairs (`pairs_data`): by language, of the later messages that end the statement how many are judged so, and how many of
the others; and of messages beside several statements that are alike (`changes_data`), which they end. Sentences
(`plain_data`) and the sentences of talks (`matters_data`, or a folder of talks labelled as `bench.talks` reads them) by
themselves: precision and recall of what the extractor without a language model keeps, which counts orders and slots,
too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import arguments, reader_data, talks
from bench.reader_data import OVER
from core.consolidation import endings
from core.consolidation.endings import Pair
from core.extraction import rule_extractor
from core.inference.local_reader import LocalReader
from core.types import Json, Message

UNSEEN = Path(__file__).with_name("unseen")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MessageBeside:
    """A message beside statements that are near it, as `pairs` for the reader, and whether it ends each."""

    lang: str
    message: str
    pairs: Sequence[Pair]
    over: Sequence[bool]


def beside_one(cases: Sequence[Json]) -> list[MessageBeside]:
    """Return each later message of `pairs_data` beside its statement."""
    return [
        MessageBeside(case["lang"], later["text"], [_pair(later["text"], case["earlier"])], [later["kind"] in OVER])
        for case in cases
        for later in case["later"]
    ]


def beside_several(cases: Sequence[Json]) -> list[MessageBeside]:
    """Return each message of `changes_data` beside all of its statements."""
    return [
        MessageBeside(
            case["lang"],
            case["message"],
            [_pair(case["message"], earlier["text"]) for earlier in case["earlier"]],
            [
                any(effect["on"] == at and effect["kind"] in OVER for effect in case["effects"])
                for at in range(len(case["earlier"]))
            ],
        )
        for case in cases
    ]


def _pair(message: str, statement: str) -> Pair:
    return message, f"Ada said: “{statement}”"


def ends(reader: LocalReader, messages: Sequence[MessageBeside], *, show: bool) -> Iterator[str]:
    """Yield a line for each language, and with `show` one for each pair that is judged wrongly.

    As in production, a message ends the likeliest statements beside it, and makes others doubtful.
    """
    ending = endings.may_end(reader, [each.message for each in messages])
    readings = endings.read(reader, list(dict.fromkeys(pair for each in messages for pair in each.pairs)))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in messages:
        values = [readings[pair].likely for pair in each.pairs]
        least = max(endings.LEAST, max(values) - endings.MARGIN)
        for pair, value, is_over in zip(each.pairs, values, each.over, strict=True):
            judged = "holds" if each.message not in ending or value < endings.DOUBT else "doubted"
            judged = "over" if value >= least and each.message in ending else judged
            counts[each.lang][f"{'over' if is_over else 'holds'}, judged {judged}"] += 1
            if show and (judged == "over") != is_over:
                gate = "" if each.message in ending else " (not read beside it)"
                yield f"{'missed' if is_over else 'wrong'} {value:.2f}{gate}: {' | '.join(pair)}"
    for language, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        right, wrong = count["over, judged over"], count["holds, judged over"]
        doubted = count["over, judged doubted"], count["holds, judged doubted"]
        of = sum(count[f"over, judged {judged}"] for judged in ("over", "doubted", "holds"))
        yield (
            f"{language}: {right} of {of} that end it are judged so, {wrong} of {count.total() - of} others; "
            f"precision {right / max(1, right + wrong):.3f}, recall {right / max(1, of):.3f}; "
            f"doubted {doubted[0]} more, and {doubted[1]} that hold"
        )


def kept_sentences(reader: LocalReader, cases: Iterable[Json], *, show: bool) -> Iterator[str]:
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
    text = turn.get("text") or " ".join(sentence["text"] for sentence in turn["sentences"])
    return Message("s", f"m{at}", at, f"e{at}", "ada", turn["role"], text, START + timedelta(minutes=at))


def labelled_conversations(path: Path) -> Iterator[Json]:
    """Yield the labelled conversations of a file, or each session of the talks of a folder."""
    if path.is_file():
        yield from reader_data.lines(path)
        return
    for talk in talks.talks_in(path):
        core = {fact["id"] for fact in talk["facts"] if fact["core"]}
        for session in talk["sessions"]:
            yield {"lang": talk["id"], "turns": [_labelled_turn(turn, core) for turn in session["turns"]]}


def _labelled_turn(turn: Json, core: AbstractSet[str]) -> Json:
    """Return a turn of a talk; its sentences are worth keeping for a fact of `core`, and of no account for another."""
    sentences = [
        {"text": sentence["text"], "keep": bool(sentence["facts"])}
        for sentence in turn.get("sentences", ())
        if not sentence["facts"] or not core.isdisjoint(sentence["facts"])
    ]
    return {"role": turn["role"], "text": turn["content"], "sentences": sentences}


def as_talk(case: Json) -> Json:
    """Return a single sentence as a conversation."""
    return {"lang": case["lang"], "turns": [{"role": "user", "sentences": [case]}]}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--pairs", type=Path, default=UNSEEN / "pairs_z.jsonl")
    parser.add_argument("--changes", type=Path, default=UNSEEN / "changes_q.jsonl")
    parser.add_argument("--sentences", type=Path, default=UNSEEN / "plain_y.jsonl")
    parser.add_argument("--talks", type=Path, default=UNSEEN / "matters_k.jsonl")
    parser.add_argument("--show", action="store_true")
    parsed = parser.parse_args()
    reader = LocalReader(idle_seconds=0)
    sentences = [as_talk(case) for case in reader_data.lines(parsed.sentences)]
    conversations = labelled_conversations(parsed.talks)
    for title, lines in (
        ("What a message ends", ends(reader, beside_one(reader_data.lines(parsed.pairs)), show=parsed.show)),
        ("What it ends of several", ends(reader, beside_several(reader_data.lines(parsed.changes)), show=parsed.show)),
        ("What is kept of single sentences", kept_sentences(reader, sentences, show=parsed.show)),
        (
            "What is kept of conversations",
            kept_sentences(reader, conversations, show=parsed.show),
        ),
    ):
        print(title, flush=True)
        for line in lines:
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
