"""Corrections of slips ("Sorry, not Porto, Leeds."): how they are read, and the weights of the quick look at words.

    python -m bench.corrections [--pairs FILE [--show]] [--write]

`--pairs`: a file of pairs, a JSON object a line: `statement`, `reply`, `correction`, `kind` (`correction` or another),
the `wrong` and the `right` value, and the `corrected` statement. Reported: how many corrections are read rightly and
wrongly, and how many other messages are changed. Without: for each author of `corrections_data` who is left out, the
share of corrections and of other messages that the quick look lets through. `--write` trains it on everything.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import arguments, reader_data, regression, talks
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
        *(row(pair["corrected"], corrects=False) for pair in pairs if pair["corrected"]),
        *(row(text, corrects=False, weight=TURN_WEIGHT) for text in turns),
    ]


def ordinary() -> list[str]:
    """Return the short turns of the talks that are not held out."""
    texts = (
        turn["content"]
        for name in sorted(set(talks.talks()) - talks.HELD_OUT)
        for session in talks.talk_of(name)["sessions"]
        for turn in session["turns"]
        if turn["role"] == "user"
    )
    return [text for text in texts if len(text) <= self_corrections.LONGEST]


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
        name: np.mean(
            weights.logits([row(example, corrects=False) for example in sample]) >= self_corrections.WORDS_LIKELY
        )
        for name, sample in texts.items()
    }
    return f"{author}: " + ", ".join(f"{share:.2f} of {name}" for name, share in shares.items())


def read(pair: Json, slips: Slips | None) -> list[str]:
    """Return what is read of a person's two messages once the correction is applied."""
    turns = [("user", pair["statement"]), ("assistant", pair["reply"]), ("user", pair["correction"])]
    messages = [
        Message("s", str(at), at, str(at), "u", role, content, datetime.now(UTC), None)
        for at, (role, content) in enumerate(turns)
        if content
    ]
    return [message.content for message in self_corrections.apply(messages, slips)[0] if message.role == "user"]


def is_right(pair: Json, corrected: str) -> bool:
    """Return whether a text says the right value, and not the wrong one beside it."""
    stays = pair["wrong"] in pair["right"] or pair["wrong"] in pair["corrected"]
    return pair["right"] in corrected and (stays or pair["wrong"] not in corrected)


def report(path: Path, *, show: bool) -> None:
    """Print how many corrections of a file are read rightly and wrongly, and how many other messages are changed."""
    slips = local_reader.reader(Settings(embedding="local"))
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    right = wrong = changed = 0
    for pair in pairs:
        statements = read(pair, slips)
        corrects, is_changed = pair["kind"] == "correction", statements != [pair["statement"], pair["correction"]]
        is_good = is_changed and corrects and is_right(pair, " ".join(statements))
        right, wrong = right + is_good, wrong + (corrects and is_changed and not is_good)
        changed += is_changed and not corrects
        if show and is_good != corrects:
            print(f"{pair['id']}: {pair['statement']} / {pair['correction']} -> {statements}")
    corrections = sum(pair["kind"] == "correction" for pair in pairs)
    print(
        f"of {corrections} corrections {right} read rightly and {wrong} wrongly; "
        f"of {len(pairs) - corrections} others {changed} changed"
    )


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--show", action="store_true", help="print the pairs that are read otherwise than labelled")
    parser.add_argument("--write", action="store_true")
    parsed = parser.parse_args()
    if parsed.write:
        regression.trained(rows()).write(self_corrections.WORDS)
    elif parsed.pairs:
        report(parsed.pairs, show=parsed.show)
    else:
        print("\n".join(map(passing, reader_data.corrections())))


if __name__ == "__main__":
    main()
