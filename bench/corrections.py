"""Corrections of slips ("Sorry, not Porto, Leeds."): how they are read, and the weights of the quick look at words.

    python -m bench.corrections [--chains FILE] [--write]

`--chains`: a file of short conversations, one JSON object a line: `turns`, `right` and `wrong` values, and
`kind: lookalike` where nothing is corrected. Reported: in how many the words that are read say a right value and no
wrong one, and how many lookalikes are left as they are. Without: for each author of `corrections_data` who is left
out, the share of corrections and of other messages that the quick look lets through. `--write` trains it on everything.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import reader_data, regression, talks
from bench.reader_data import Json
from bench.regression import Row
from core.config import Settings
from core.extraction import self_corrections
from core.extraction.self_corrections import Slips
from core.inference import local_reader
from core.language import ngrams
from core.types import Message

TURN_WEIGHT = 0.5
"""Weight of an ordinary turn of a talk, which corrects nothing."""


def row(text: str, *, corrects: bool, weight: float = 1.0) -> Row:
    return Row(ngrams.buckets(self_corrections.features(text)), corrects, weight)


def rows(left_out: str = "") -> list[Row]:
    """Return the labelled messages of all authors but one, and ordinary turns."""
    pairs = [pair for author, written in reader_data.corrections().items() if author != left_out for pair in written]
    turns = [text for number, text in enumerate(ordinary()) if number % 2]
    return [
        *(row(pair["correction"], corrects=pair["kind"] == "correction") for pair in pairs),
        *(row(text, corrects=False, weight=TURN_WEIGHT) for text in turns),
    ]


def ordinary() -> list[str]:
    """Return the short turns of the talks that are not held out."""
    said = (
        turn["content"]
        for name in sorted(set(talks.talks()) - talks.HELD_OUT)
        for session in talks.talk_of(name)["sessions"]
        for turn in session["turns"]
        if turn["role"] == "user"
    )
    return [text for text in said if len(text) <= self_corrections.LONGEST]


def passing(author: str) -> str:
    """Describe what the quick look lets through of the messages of an author who is left out, and of other turns."""
    weights = regression.trained(rows(author))
    pairs = reader_data.corrections()[author]
    texts = {
        "corrections": [pair["correction"] for pair in pairs if pair["kind"] == "correction"],
        "lookalikes": [pair["correction"] for pair in pairs if pair["kind"] != "correction"],
        "ordinary turns": [text for number, text in enumerate(ordinary()) if not number % 2],
    }
    shares = {
        name: np.mean(weights.logits([row(one, corrects=False) for one in shown]) >= self_corrections.WORDS_LIKELY)
        for name, shown in texts.items()
    }
    return f"{author}: " + ", ".join(f"{share:.2f} of {name}" for name, share in shares.items())


def read(chain: Json, slips: Slips | None) -> list[str]:
    """Return what is read of a person's turns once their corrections are applied."""
    messages = [
        Message("s", str(at), at, str(at), "u", turn["role"], turn["content"], datetime.now(UTC), None)
        for at, turn in enumerate(chain["turns"])
    ]
    return [message.content for message in self_corrections.apply(messages, slips)[0] if message.role == "user"]


def is_right(chain: Json, said: str) -> bool:
    return any(value in said for value in chain["right"]) and not any(value in said for value in chain["wrong"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chains", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--write", action="store_true")
    parsed = parser.parse_args()
    if parsed.write:
        regression.trained(rows()).write(self_corrections.WORDS)
        return
    if parsed.chains is None:
        print("\n".join(map(passing, reader_data.corrections())))
        return
    slips = local_reader.reader(Settings(embedding="local"))
    chains = [json.loads(line) for line in parsed.chains.read_text(encoding="utf-8").splitlines()]
    corrected = changed = 0
    lookalikes = [chain for chain in chains if chain.get("kind") == "lookalike"]
    for chain in chains:
        said = read(chain, slips)
        if chain in lookalikes:
            fault = said != [turn["content"] for turn in chain["turns"] if turn["role"] == "user"]
            changed += fault
        else:
            fault = not is_right(chain, " ".join(said))
            corrected += not fault
        if fault and parsed.show:
            print(chain["id"], [turn["content"] for turn in chain["turns"]], "->", said)
    others = len(chains) - len(lookalikes)
    print(f"{corrected} of {others} chains corrected, {changed} of {len(lookalikes)} lookalikes changed")


if __name__ == "__main__":
    main()
