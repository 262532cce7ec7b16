"""How well the guard tells: false alarms over real conversations, precision and recall over labelled texts, time.

    python -m bench.guard [--locomo FILE] [--longmemeval FILE] [--mistakes]

Conversations: each different message is screened once; all of them are benign, so every alarm is a false one, and is
printed with what stands around it. Labelled texts: `bench/guard_texts.json`, attacks in several disguises and benign
ones that look like them, secrets and what only looks like one, written by hand in three rounds.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import arguments
from core.screening import screen
from core.screening.screen import Screened

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
LABELLED = ROOT / "bench" / "guard_texts.json"
AROUND = 60
LONG = 10_000
Json = dict[str, Any]


def locomo(path: Path) -> Iterator[str]:
    """Every message of LoCoMo's conversations."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        for turns in sample["conversation"].values():
            if isinstance(turns, list):
                yield from (turn["text"] for turn in turns)


def longmemeval(path: Path) -> Iterator[str]:
    """Every message of LongMemEval's sessions."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for question in json.load(file):
            yield from (turn["content"] for session in question["haystack_sessions"] for turn in session)


def alarms(name: str, texts: Sequence[str]) -> None:
    """Screen benign texts; print the share that is flagged, each that is, and the time it took."""
    began = time.process_time()
    screened = [screen.screen(text) for text in texts]
    seconds = time.process_time() - began
    hostile, secret = (sum(map(of, screened)) for of in (is_hostile, is_secret))
    print(
        f"{name:12} {len(texts):6} messages   hostile {hostile} ({hostile / len(texts):.3%})   secret {secret} "
        f"({secret / len(texts):.3%})   {seconds / len(texts) * 1e6:.0f} µs/message, "
        f"{seconds / sum(map(len, texts)) * 1e9:.0f} µs/1000 characters"
    )
    for flagged in (result for result in screened if result.findings):
        print(f"    {[(finding.kind, finding.detail) for finding in flagged.findings]}")
        offset = flagged.text.find("[redacted: ")
        if offset >= 0:
            print(f"    {flagged.text[max(0, offset - AROUND) : offset + AROUND]!r}")


def is_hostile(screened: Screened) -> bool:
    return screened.hostile


def is_secret(screened: Screened) -> bool:
    return screened.secret


def told_apart(rows: Sequence[Json], yes: str, no: str, holds: Callable[[Screened], bool]) -> str:
    """Precision and recall over the texts labelled `yes` and `no`."""
    verdicts = [(row["label"] == yes, holds(screen.screen(row["text"]))) for row in rows if row["label"] in {yes, no}]
    right, flagged, expected = (sum(map(both, verdicts)) for both in (all, lambda pair: pair[1], lambda pair: pair[0]))
    return (
        f"precision {right / max(flagged, 1):.3f}   recall {right / max(expected, 1):.3f}   "
        f"({expected} {yes}, {len(verdicts) - expected} {no})"
    )


def is_right(row: Json) -> bool:
    """Whether the guard says what the label says, and leaves nothing of a secret."""
    screened = screen.screen(row["text"])
    if row["label"] == "secret":
        return screened.secret and row["secret"] not in screened.text
    return screened.hostile == (row["label"] == "hostile") and not (row["label"] != "hostile" and screened.secret)


def long_text() -> str:
    """The time of one long benign text, of words and of Chinese."""
    lines = []
    for name, piece in (
        ("English", "I moved to Lisbon in May, and the cat came along. "),
        ("Chinese", "我五月搬到了里斯本。"),
    ):
        text = (piece * LONG)[:LONG]
        began = time.process_time()
        for _ in range(20):
            screen.screen(text)
        lines.append(f"{name} {(time.process_time() - began) / 20 * 1e3:.2f} ms")
    return f"{LONG:,} characters: " + ", ".join(lines)


def main() -> None:
    """Print every figure."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=DATA / "locomo_dev.json")
    parser.add_argument("--longmemeval", type=Path, default=DATA / "longmemeval_s_dev.json.gz")
    parser.add_argument("--mistakes", action="store_true", help="print each labelled text that is taken for another")
    options = parser.parse_args()
    for name, path, read in (("LoCoMo", options.locomo, locomo), ("LongMemEval", options.longmemeval, longmemeval)):
        if path.exists():
            alarms(name, list(dict.fromkeys(read(path))))
        else:
            print(f"{name} was not measured: {path} is not there.")
    rows = json.loads(LABELLED.read_text(encoding="utf-8"))
    for number in (None, *sorted({row["round"] for row in rows})):
        some = [row for row in rows if number in {None, row["round"]}]
        print(f"\n{'all rounds' if number is None else f'round {number}'}")
        print(f"    hostile or not   {told_apart(some, 'hostile', 'benign', is_hostile)}")
        print(f"    secret or not    {told_apart(some, 'secret', 'plain', is_secret)}")
    if options.mistakes:
        for row in rows:
            if not is_right(row):
                print(f"    {row['label']}: {row['text']!r}")
    print(f"\n{long_text()}")


if __name__ == "__main__":
    main()
