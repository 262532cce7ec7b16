"""How well the judge tells one statement from another: precision, recall, false merges, by threshold.

    python -m bench.judge [--half held-out|built-on] [--mistakes] [--model right|same]

Right is a pair for which the judge says what its label says: one statement (confirm, merge), the same slot with another
value (supersede), or neither. Precision and recall are over the first two together. Half of the pairs, by a hash of
their statement, was not looked at while the judge was built. `--model`: with a model that is asked what the judge
leaves open, and is always right, or always says that two statements are the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from bench import arguments
from bench.judge_pairs import Pair, made
from core.config import Settings
from core.consolidation import endings
from core.consolidation.endings import Readings
from core.consolidation.judge import (
    USUAL,
    Kind,
    OpinionKind,
    Thresholds,
    Verdict,
    conflict_between,
    judge,
    undecided,
    verdict_from_opinions,
)
from core.inference.configured_embedder import embedder
from core.inference.local_reader import LocalReader
from core.memory.identity import KnownMemory
from core.memory.known_set import KnownSet

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SAME = {Kind.CONFIRM, Kind.MERGE, Kind.REPLACE}
SUPERSEDED = {Kind.SUPERSEDE, Kind.PREDATES}
WORDS = {"same": OpinionKind.SAME, "supersede": OpinionKind.SUPERSEDES, "other": OpinionKind.DIFFERENT}
CURVE = (0.80, 0.85, 0.88, 0.90, 0.92, 0.94, 0.95, 0.96, 0.98)


@dataclass(frozen=True, slots=True)
class Measured:
    """Results over some pairs."""

    pairs: int
    merged: int
    right: int
    positives: int
    near_misses: int
    false_on_near_misses: int

    @property
    def precision(self) -> float:
        """Of the pairs merged or superseded, the share that should be."""
        return self.right / max(self.merged, 1)

    @property
    def recall(self) -> float:
        """Of the pairs that should be, the share that is."""
        return self.right / max(self.positives, 1)


def cosines(pairs: Sequence[Pair]) -> list[float]:
    """How near the two statements of each pair are, by the configured embedder."""
    texts = sorted({c.content for p in pairs for c in (p.first, p.second)})
    vectors = dict(zip(texts, embedder(Settings()).embed(texts), strict=True))
    return [float(vectors[p.first.content] @ vectors[p.second.content]) for p in pairs]


def read_pairs(pairs: Sequence[Pair]) -> Readings:
    """Log-odds of the reader for the pairs whose second statement may end anything."""
    model = LocalReader(idle_seconds=0)
    ending = endings.may_end(model, sorted({p.second.content for p in pairs}))
    beside = [(p.second.content, p.first.content) for p in pairs if p.second.content in ending]
    return endings.read(model, [pair for pair in beside if not endings.repeats(*pair)])


def verdict(
    pair: Pair, cosine: float, readings: Readings, thresholds: Thresholds = USUAL, model: str | None = None
) -> Kind:
    """Verdict of the judge on the second statement where the first is known, with a model's word where that is open."""
    c = pair.first
    known = KnownMemory(UUID(int=1), 1, c.content, c.subject, c.attribute, c.value, c.occurred_at, cosine, c.category)
    judged = judge(pair.second, [known], thresholds)
    if judged.kind is Kind.ADD and endings.ended(pair.second, KnownSet.of([known]), [], readings):
        return Kind.SUPERSEDE
    if model is None or judged.kind is not Kind.ADD:
        return judged.kind
    doubts = undecided(pair.second, [known], thresholds)
    opinion: Verdict | None = verdict_from_opinions(
        pair.second, [(memory, WORDS[pair.expected] if model == "right" else OpinionKind.SAME) for memory in doubts]
    )
    return (opinion or judged).kind


def outcome(kind: Kind) -> str:
    """A verdict in the words of the labels."""
    return "same" if kind in SAME else "supersede" if kind in SUPERSEDED else "other"


def measure(pairs: Sequence[Pair], outcomes: Sequence[str]) -> Measured:
    """Count over pairs what the judge made of each."""
    both = list(zip(pairs, outcomes, strict=True))
    return Measured(
        pairs=len(both),
        merged=sum(outcome != "other" for _, outcome in both),
        right=sum(outcome != "other" and outcome == pair.expected for pair, outcome in both),
        positives=sum(pair.expected != "other" for pair in pairs),
        near_misses=sum(pair.near_miss for pair in pairs),
        false_on_near_misses=sum(pair.near_miss and outcome == "same" for pair, outcome in both),
    )


def show(name: str, measured: Measured) -> str:
    """One line of the table."""
    return (
        f"| {name} | {measured.pairs} | {measured.precision:.3f} | {measured.recall:.3f} | "
        f"{measured.false_on_near_misses} of {measured.near_misses} |"
    )


def curve(pairs: Sequence[Pair], near: Sequence[float], readings: Readings) -> Iterator[str]:
    """The judge with another `near`, and beside it what the cosine alone would do, and the cosine with the guards."""
    ways = " | ".join(f"{way}: precision | recall | false" for way in ("judge", "cosine alone", "with guards"))
    yield f"| cosine | {ways} |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    free = [conflict_between(p.first.content, p.second.content) is None for p in pairs]
    for at in CURVE:
        moved = replace(USUAL, near=at, merge=max(at, USUAL.merge))
        judged = [outcome(verdict(p, c, readings, moved)) for p, c in zip(pairs, near, strict=True)]
        alone = ["same" if c >= at else "other" for c in near]
        guarded = [judgement if ok else "other" for judgement, ok in zip(alone, free, strict=True)]
        cells = (measure(pairs, outcomes) for outcomes in (judged, alone, guarded))
        line = " | ".join(f"{m.precision:.3f} | {m.recall:.3f} | {m.false_on_near_misses}" for m in cells)
        yield f"| {at:.2f} | {line} |"


def families(pairs: Sequence[Pair], outcomes: Sequence[str]) -> Iterator[str]:
    """Results of each family: how many of its pairs were judged as they are labelled."""
    counts: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for pair, outcome in zip(pairs, outcomes, strict=True):
        key = pair.family, pair.expected
        counts[key] += 1
        # Of a near-miss it matters that it is not merged; that one denies the other may supersede.
        right[key] += outcome != "same" if pair.near_miss else outcome == pair.expected
    yield "| family | expected | pairs | right |"
    yield "| --- | --- | --- | --- |"
    for (family, expected), count in counts.items():
        yield f"| {family} | {expected} | {count} | {right[family, expected]} |"


def main() -> None:
    """Print every figure."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=DATA / "locomo_dev.json")
    parser.add_argument("--longmemeval", type=Path, default=DATA / "longmemeval_s_dev.json.gz")
    parser.add_argument("--half", choices=("held-out", "built-on"), help="only this half")
    parser.add_argument("--model", choices=("right", "same"), help="with a model that is right, or says `same` of all")
    parser.add_argument("--mistakes", action="store_true", help="print each pair of the half built on that went wrong")
    options = parser.parse_args()
    pairs = [p for p in made(options.locomo, options.longmemeval) if options.half in (None, HALVES[p.held_out])]
    near, readings = cosines(pairs), read_pairs(pairs)
    outcomes = [outcome(verdict(p, c, readings, model=options.model)) for p, c in zip(pairs, near, strict=True)]
    lines = ["| pairs | number | precision | recall | false merges of near-misses |", "| --- | --- | --- | --- | --- |"]
    for name in ("all", *HALVES.values()):
        kept = [at for at, p in enumerate(pairs) if name in ("all", HALVES[p.held_out])]
        lines.append(show(name, measure([pairs[at] for at in kept], [outcomes[at] for at in kept])))
    retold = [at for at, p in enumerate(pairs) if p.family in ("told twice", "of one turn")]
    lines.append(
        show("written twice by people", measure([pairs[at] for at in retold], [outcomes[at] for at in retold]))
    )
    late = [at for at, p in enumerate(pairs) if p.family.startswith("late: ")]
    lines.append(show("rules written late", measure([pairs[at] for at in late], [outcomes[at] for at in late])))
    han = [at for at, p in enumerate(pairs) if not p.first.content.isascii() and "Ada" in p.first.content]
    lines.append(show("Chinese", measure([pairs[at] for at in han], [outcomes[at] for at in han])))
    lines += ["", *families(pairs, outcomes), "", *curve(pairs, near, readings)]
    if options.mistakes:
        lines += mistakes(pairs, near, outcomes)
    sys.stdout.write("\n".join(lines) + "\n")


HALVES = {True: "held-out", False: "built-on"}


def mistakes(pairs: Sequence[Pair], near: Sequence[float], outcomes: Sequence[str]) -> Iterator[str]:
    """Wrong verdicts in the half that may be looked at."""
    for pair, cosine, outcome in zip(pairs, near, outcomes, strict=True):
        if outcome != pair.expected and not pair.held_out:
            yield f"{pair.family}: {pair.expected}, judged {outcome} at {cosine:.3f}"
            yield f"  {pair.first.content}\n  {pair.second.content}"


if __name__ == "__main__":
    main()
