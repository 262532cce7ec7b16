"""Weights of what lasts in English: trained on labelled sentences, judged on those left out, written beside the code.

    python -m bench.lasting [--locomo ../shared/data/locomo_dev.json] [--write]

Three kinds of sentences: those of `lasting_sentences.txt` (+ worth remembering, - not), the labelled sentences of the
extractor's tests, and the talks of `bench.talks`, cut into statements; a statement of a talk counts if it says a fact
of its labels. Turns of LoCoMo count little, for what cites them cites whole turns. A fold leaves out every fifth
sentence of each source; precision and recall at a threshold are those of statements that were left out.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import extract as locomo
from bench.talks import FOLDER, says, talk_of
from bench.talks import named as names_fact
from core.extraction import rule_extractor, salience
from core.extraction.english import informal, lasting, statements
from core.extraction.english.people import Persons
from core.language import dates, sentences, third_person
from core.types import Message

SENTENCES = Path(__file__).with_name("lasting_sentences.txt")
NOW = datetime(2026, 5, 20, 15, tzinfo=UTC)
FOLDS = 5
STEPS, RIDGE = 12, 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A statement by its cues, whether it is worth remembering, and how much it counts."""

    plain: str
    cues: tuple[str, ...]
    keep: bool
    weight: float
    source: str


def considered(messages: list[Message]) -> Iterator[tuple[Message, statements.Statement]]:
    """The statements that fill no slot, before anything says whether they last."""
    persons: dict[str, Persons] = {}
    for number, message in enumerate(messages):
        speaker = rule_extractor.speaker_of(message)
        if speaker is None:
            for known in persons.values():
                known.hear(message.content, number)
            continue
        known = persons.setdefault(speaker, Persons(speaker))
        for quote in sentences.split(message.content):
            for one in statements.read(quote, frozenset(), known, number):
                if not one.slots and salience.is_statement(one.plain, of_a_person=one.person is not None):
                    yield message, one


def row(statement: statements.Statement, at: datetime, keep: bool, weight: float, source: str) -> Row:
    seen = lasting.Seen(statement.plain, 0, bool(dates.find(statement.plain, at)), statement.person is not None)
    return Row(statement.plain, tuple(lasting.cues(seen)), keep, weight, source)


def of_sentences() -> Iterator[Row]:
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        plain = informal.cleaned(line[2:], frozenset())
        yield row(statements.stated(plain, Persons("Ada")), NOW, line[0] == "+", 1.0, "own")


def of_tests() -> Iterator[Row]:
    for line in locomo.LABELLED.read_text(encoding="utf-8").splitlines():
        labelled = json.loads(line)
        if "asked" in labelled or sentences.is_chinese(labelled["text"]) or labelled.get("role", "user") != "user":
            continue
        keep = bool(labelled["slots"]) or "category" in labelled
        if keep or labelled.get("nothing"):
            message = Message("s", "m", 1, "e", "Ada", "user", labelled["text"], NOW)
            for _, one in considered([message]):
                yield row(one, NOW, keep, 0.5 if keep else 1.0, "tests")


def of_talks() -> Iterator[Row]:
    for path in sorted(FOLDER.glob("en-*.json")):
        talk = talk_of(path.stem)
        for session in talk["sessions"]:
            at = datetime.fromisoformat(session["date"])
            turns = [
                Message("s", str(t["n"]), n, "e", talk["user"], t["role"], t["content"], at, talk["speaker"])
                for n, t in enumerate(session["turns"], 1)
            ]
            turns = [m if m.role == "user" else Message(*(getattr(m, f) for f in m.__slots__[:8])) for m in turns]
            for _, one in considered(turns):
                found = list(dates.find(one.plain, at))
                told = third_person.third_person(dates.written_out(one.plain, found), talk["speaker"])
                keep = any(says(told, fact) or (not fact["holds"] and names_fact(told, fact)) for fact in talk["facts"])
                yield row(one, at, keep, 1.0, path.stem)


def of_locomo(path: Path) -> Iterator[Row]:
    for sample in json.loads(path.read_text(encoding="utf-8")):
        wanted = locomo.annotated(sample)
        for messages in locomo.sessions(sample):
            for message, one in considered(messages):
                yield row(one, message.occurred_at, message.id in wanted, 0.08, "locomo")


def trained(rows: Iterable[Row]) -> dict[str, float]:
    """Weights by Newton's method on the logistic loss, with a ridge."""
    several = list(rows)
    names = ["", *sorted({name for one in several for name in one.cues})]
    shown = np.array([[name == "" or name in one.cues for name in names] for one in several], dtype=float)
    wanted = np.array([one.keep for one in several], dtype=float)
    counts = np.array([one.weight for one in several])
    ridge = np.diag([0.0, *[RIDGE] * (len(names) - 1)])
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        guessed = 1 / (1 + np.exp(-shown @ weights))
        slope = shown.T @ (counts * (guessed - wanted)) + ridge @ weights
        bend = (shown * (counts * guessed * (1 - guessed))[:, None]).T @ shown + ridge
        weights -= np.linalg.solve(bend, slope)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def _probability(weights: dict[str, float], one: Row) -> float:
    return 1 / (1 + math.exp(-weights[""] - sum(weights.get(name, 0.0) for name in one.cues)))


def judged(rows: list[Row]) -> list[tuple[Row, float]]:
    """Each row with the probability that weights give it which were made without its fold."""
    found = []
    for fold in range(FOLDS):
        weights = trained(one for n, one in enumerate(rows) if n % FOLDS != fold)
        found += [(one, _probability(weights, one)) for n, one in enumerate(rows) if n % FOLDS == fold]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true", help="list what is decided wrongly")
    asked = parser.parse_args()
    rows = [*of_sentences(), *of_tests(), *of_talks()]
    left_out = judged(rows)
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        for source in ("own", "tests", "en-a"):
            kept = [one for one, p in left_out if p >= threshold and one.source == source]
            wanted = [one for one, _ in left_out if one.keep and one.source == source]
            right = sum(one.keep for one in kept)
            print(
                f"{threshold} {source}: precision {right / max(1, len(kept)):.3f} recall "
                f"{right / max(1, len(wanted)):.3f} "
                f"of {len(kept)} kept, {len(wanted)} worth it",
            )
    if asked.show:
        for one, p in sorted(left_out, key=lambda found: found[1]):
            if (p >= lasting.THRESHOLD) != one.keep:
                print(f"{p:.2f} {'+' if one.keep else '-'} {one.source} {one.plain} {one.cues}")
    if asked.write:
        rows += of_locomo(asked.locomo) if asked.locomo else []
        lasting.WEIGHTS_FILE.write_text(json.dumps(trained(rows), indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
