"""A digest of all verdicts on labelled conversations and on the statements of `bench.write`.

    python -m bench.verdicts [--talks en-a zh-a] [--known 1000] [--list FILE]

Two checkouts that judge alike print the same digests: of each change its kind, its statement, the memory concerned, the
reason and the time at which something ended, of each question to a model the two statements. Ids do not count. The
statements of a conversation are judged and written in batches of 15 in the order in which they were said, one by one in
the opposite order, as late messages arrive, and in batches with a model that answers by the length of the texts.
`--list` writes what the digests are made of, for comparison by `diff`.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from uuid import UUID

from bench.stand import database
from bench.talks import messages_of, talk_of
from bench.write import AUTHOR, BATCH, FILLED, TENANT, again, candidate
from core.consolidation import pipeline
from core.consolidation.judge import OpinionKind, Pair
from core.consolidation.pipeline import Consolidation
from core.extraction import rule_extractor
from core.inference.embedders import HashEmbedder
from core.memory import writer
from core.memory.changes import (
    Add,
    Change,
    Confirm,
    Dispute,
    Ignore,
    Joined,
    Link,
    Merge,
    Owner,
    Replace,
)
from core.storage import db
from core.tenancy import tenants
from core.types import Candidate

TALKS: Final = ("en-a", "en-i", "zh-a", "zh-i")
"""Two conversations of each language, one of them on which nothing is trained."""
ANSWERS: Final = list(OpinionKind)


@dataclass(slots=True)
class Trial:
    """Judges and writes the statements of one owner, and lists what came of it."""

    consolidation: Consolidation
    owner: Owner
    lines: list[str] = field(default_factory=list)
    contents: dict[UUID, str] = field(default_factory=dict)

    def judge(self, said: Sequence[Candidate], size: int, *, link: bool = False) -> None:
        for start in range(0, len(said), size):
            changes = pipeline.consolidate(
                self.consolidation, TENANT, self.owner, said[start : start + size], link=link
            )
            for change in changes:
                self._know(change)
            self.lines += [self._line(change) for change in changes]
            with self.consolidation.db.tenant(TENANT) as tx:
                writer.apply(tx, TENANT, self.owner, changes, AUTHOR)

    def _know(self, change: Change) -> None:
        if isinstance(change, Add):
            self.contents[change.id] = change.candidate.content

    def _line(self, change: Change) -> str:
        match change:
            case Add():
                ends = [(known.content, reason) for known, reason in change.retired]
                told = [change.candidate.content, change.reason, str(change.past), *map(str, ends)]
            case Confirm() | Merge() | Replace():
                told = [change.candidate.content, change.known.content, change.reason]
            case Ignore():
                told = [change.candidate.content, change.reason]
            case Joined():
                told = [change.candidate.content, self._content(change.memory_id), change.reason, str(change.merged)]
            case Dispute():
                told = [change.one.content, change.other.content, change.reason]
            case Link():
                told = [self._content(change.from_id), change.relation, self._content(change.to_id)]
            case _:
                told = []
        return " | ".join([type(change).__name__, *told])

    def _content(self, memory_id: UUID) -> str:
        return self.contents.get(memory_id, "?")


def run(names: Sequence[str], known: int) -> dict[str, list[str]]:
    """Return what was decided, by trial."""
    found: dict[str, list[str]] = {}
    with database() as (settings, _):
        app = db.connect(db.app_url(settings), 2)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        plain = pipeline.from_settings(app, HashEmbedder(), settings)
        for name in names:
            said = list(statements(name))
            for way, order, size in (("in batches", said, BATCH), ("late, one by one", said[::-1], 1)):
                trial = Trial(plain, Owner(f"{name} {way}"))
                trial.judge(order, size, link=True)
                found[f"{name}, {way}"] = trial.lines
            asked: list[str] = []
            trial = Trial(pipeline.from_settings(app, HashEmbedder(), settings, Model(asked)), Owner(f"{name} model"))
            trial.judge(said, BATCH)
            found[f"{name}, with a model"] = [*trial.lines, *asked]
        found["statements of bench.write"] = written(plain, known)
        app.close()
    return found


def written(consolidation: Consolidation, known: int) -> list[str]:
    """Judge a quarter of the known statements' number, every tenth for the second time."""
    trial, older = Trial(consolidation, Owner("ada")), [candidate(n) for n in range(known)]
    for start in range(0, known, FILLED):
        some = older[start : start + FILLED]
        vectors = consolidation.embedder.embed([one.content for one in some])
        adds = [Add(one, "Filled in.", vector) for one, vector in zip(some, vectors, strict=True)]
        with consolidation.db.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, Owner("ada"), adds, AUTHOR)
    said = [candidate(n) if n % 10 else again(n - known) for n in range(known, known + known // 4)]
    trial.judge(said[: len(said) // 4], 1, link=True)
    trial.judge(said[len(said) // 4 :], BATCH)
    return trial.lines


@dataclass(frozen=True, slots=True)
class Model:
    """A model that answers by the length of the texts, and notes what it was asked."""

    asked: list[str]

    def __call__(self, pairs: Sequence[Pair]) -> list[OpinionKind | None]:
        self.asked.extend(f"asked: {one.candidate.content} | {one.known.content}" for one in pairs)
        return [ANSWERS[(len(one.candidate.content) + len(one.known.content)) % len(ANSWERS)] for one in pairs]


def statements(name: str) -> Iterator[Candidate]:
    """Yield what the rules extract from a conversation, in order."""
    talk = talk_of(name)
    for session in talk["sessions"]:
        yield from rule_extractor.extract(messages_of(talk, session))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talks", nargs="+", default=TALKS, help="labelled conversations")
    parser.add_argument("--known", type=int, default=1_000, help="memories before the statements of bench.write")
    parser.add_argument("--list", type=Path, help="file for all verdicts")
    asked = parser.parse_args()
    found = run(asked.talks, asked.known)
    lines = [f"{name} | {line}" for name, every in found.items() for line in every]
    if asked.list:
        asked.list.write_text("\n".join([*lines, ""]), encoding="utf-8")
    for name, every in found.items():
        print(f"{digest(every)}  {len(every):5} {name}")
    print(f"{digest(lines)}  {len(lines):5} all")


def digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
