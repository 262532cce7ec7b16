"""What the gate measured: where the answer to each question stands, as a file that is read in a diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

FILE: Final = Path(__file__).parent / "rows.md"

COMMAND: Final = "python -m tests.retrieval.rewrite"

DEEPEST: Final = 20
"""The last rank that is written down; what stands behind it counts as not found."""

ALLOWED: Final = 0.02
"""How far a total may fall: two questions of a hundred."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question, and at which rank each turn stands that holds its answer; None: not among the first 20."""

    talk: str
    kind: str
    question: str
    ranks: Mapping[str, int | None]

    def share(self, k: int) -> float:
        """How much of the answer is among the first k."""
        return fmean(rank is not None and rank <= k for rank in self.ranks.values())


_MEASURES: Final[Mapping[str, Callable[[Row], float]]] = {
    "rec@5": lambda row: row.share(5),
    "rec@10": lambda row: row.share(10),
    "any@10": lambda row: float(row.share(10) > 0),
    "all@10": lambda row: float(row.share(10) == 1),
}

_ROW = re.compile(r"^\| (\w+) \| (\w+) \| (.+) \| (\S+: [\d–]+(?: · \S+: [\d–]+)*) \|$", re.MULTILINE)


def totals(rows: Sequence[Row]) -> dict[str, float]:
    """The mean of each measure."""
    return {name: fmean(map(measure, rows)) for name, measure in _MEASURES.items()}


def drops(kept: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """What is to be said against `now`: the totals that fell by more than is allowed, and whose answers were lost.

    AssertionError: they are not the same questions, so that nothing can be compared.
    """
    assert _asked(kept) == _asked(now), f"The questions are not those of {FILE.name}. Run `{COMMAND}`."
    were, are = totals(kept), totals(now)
    fallen = [
        f"{name}: {were[name]:.3f} → {are[name]:.3f}" for name in were if round(were[name] - are[name], 9) > ALLOWED
    ]
    pairs = zip(kept, now, strict=True) if fallen else ()
    return fallen + [f"{_ranks(old)} → {_ranks(new)} | {new.question}" for old, new in pairs if _worse(old, new)]


def written(rows: Sequence[Row]) -> str:
    """The file: the totals of each kind and of all, then every question."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    lines = [_total(kind, [row for row in rows if row.kind == kind]) for kind in kinds]
    asked = [f"| {row.talk} | {row.kind} | {row.question} | {_ranks(row)} |" for row in rows]
    heads = ["kind", "questions", *_MEASURES]
    return "\n".join(
        [
            "# What the gate of retrieval measured",
            "",
            f"Written by `{COMMAND}`, never by hand. `s1.3: 4`: turn 3 of session s1, which holds",
            f"(part of) the answer, stands at rank 4 of the turns that the results cite; –: behind rank {DEEPEST}.",
            "",
            *_headed(heads),
            *lines,
            _total("all", rows),
            "",
            *_headed(["talk", "kind", "question", "answer"]),
            *asked,
            "",
        ]
    )


def read(text: str) -> list[Row]:
    """The questions of such a file."""
    return [Row(talk, kind, question, _read_ranks(ranks)) for talk, kind, question, ranks in _ROW.findall(text)]


def _asked(rows: Sequence[Row]) -> list[tuple[str, str, list[str]]]:
    return [(row.talk, row.question, [*row.ranks]) for row in rows]


def _worse(old: Row, new: Row) -> bool:
    return any(measure(new) < measure(old) for measure in _MEASURES.values())


def _headed(names: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]


def _total(name: str, rows: Sequence[Row]) -> str:
    return f"| {name} | {len(rows)} | {' | '.join(f'{value:.3f}' for value in totals(rows).values())} |"


def _ranks(row: Row) -> str:
    return " · ".join(f"{turn}: {rank or '–'}" for turn, rank in row.ranks.items())


def _read_ranks(text: str) -> dict[str, int | None]:
    pairs = (part.split(": ") for part in text.split(" · "))
    return {turn: None if rank == "–" else int(rank) for turn, rank in pairs}
