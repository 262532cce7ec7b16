"""How well the offline extractor reads: coverage of LoCoMo's own observations, precision on our sentences, speed.

    python bench/extract.py [path/to/locomo.json]

Coverage: the share of turns that an observation cites from which something was extracted, beside the share of all turns
that yield anything (a reader that keeps everything would have both at 1). Precision: of the attribute/value pairs
extracted from the labelled sentences, how many are the expected ones; recall likewise. Beside them: how many of the
sentences that say nothing yield nothing, and of those with a label for their kind (a plan, an instruction …) how many
have it. Speed: of one worker, in messages a second of processor time, and how many times as long as it takes to cut the
same messages into words and do nothing with them.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import arguments
from core.extraction.rule_extractor import extract
from core.types import Candidate, Message

ROOT = Path(__file__).resolve().parent.parent
LABELLED = ROOT / "tests" / "core" / "extraction" / "labelled.jsonl"
Json = dict[str, Any]


def sessions(sample: Json) -> Iterator[list[Message]]:
    """The sessions of one LoCoMo conversation, as the two people's messages."""
    talk = sample["conversation"]
    for name in sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k.split("_")[1])):
        said_at = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield [
            Message(
                name, turn["dia_id"], position, turn["dia_id"], talk["speaker_a"],
                "user" if turn["speaker"] == talk["speaker_a"] else "assistant", turn["text"], said_at, turn["speaker"],
            )
            for position, turn in enumerate(talk[name], 1)
        ]  # fmt: skip


def annotated(sample: Json) -> set[str]:
    """The turns that the observations of one conversation cite."""
    cited = (fact[1] for session in sample["observation"].values() for facts in session.values() for fact in facts)
    return {turn for observation in cited for turn in re.findall(r"D\d+:\d+", json.dumps(observation))}


def coverage(samples: list[Json]) -> tuple[int, int, int, int]:
    """Turns, yielding turns, annotated turns, annotated yielding turns."""
    turns = yielding = cited = covered = 0
    for sample in samples:
        expected = annotated(sample)
        for messages in sessions(sample):
            got = {e.message_id for c in extract(messages) for e in c.evidence}
            ids = {m.id for m in messages}
            turns, yielding = turns + len(ids), yielding + len(got)
            cited, covered = cited + len(ids & expected), covered + len(got & expected)
    return turns, yielding, cited, covered


def pairs(candidates: list[Candidate]) -> set[tuple[str, str]]:
    """The attributes and values of `candidates`, exclusive or not."""
    slots = {(c.attribute, c.value) for c in candidates if c.attribute and c.value}
    return slots | {
        ("not " * c.structured["negated"] + c.structured["attribute"], value)
        for c in candidates
        for value in c.structured.get("values", ())
    }


def precision(rows: list[Json]) -> tuple[int, int, int, list[str]]:
    """Right pairs, extracted pairs, expected pairs, and a line for each mistake."""
    right = extracted = expected = 0
    mistakes: list[str] = []
    for row in rows:
        candidates = extract(labelled_talk(row))
        slots = pairs(candidates)
        labels = {(a, v) for a, v in row["slots"]}
        right, extracted, expected = right + len(slots & labels), extracted + len(slots), expected + len(labels)
        if slots != labels:
            mistakes.append(f"{row['text']}\n    wrong {sorted(slots - labels)} missed {sorted(labels - slots)}")
        if row.get("nothing") and candidates:
            mistakes.append(f"{row['text']}\n    should say nothing, said {[c.content for c in candidates]}")
        if not is_of_its_kind(row, candidates):
            mistakes.append(f"{row['text']}\n    is {row['category']}, read as {[c.category for c in candidates]}")
    return right, extracted, expected, mistakes


def is_of_its_kind(row: Json, candidates: list[Candidate]) -> bool:
    """Whether one of them has the category of the label, where it has one."""
    return "category" not in row or any(c.category == row["category"] for c in candidates)


def labelled_talk(row: Json) -> list[Message]:
    """A labelled sentence as a message of its user, on Wednesday, 20 May 2026, after what it was asked."""
    said_at = datetime(2026, 5, 20, 15, tzinfo=UTC)
    questions = [Message("s", "q", 1, "q", "Ada", "assistant", row["asked"], said_at)] if "asked" in row else []
    message = Message("s", "m", 1 + len(questions), "e", "Ada", row.get("role", "user"), row["text"], said_at)
    return [*questions, message]


def share(verdicts: Iterable[bool]) -> str:
    """How many of them are so."""
    each = list(verdicts)
    return f"{sum(each) / max(len(each), 1):.3f}  ({sum(each)} of {len(each)})"


def rates(samples: list[Json]) -> tuple[float, float]:
    """Messages a second of processor time on one core: extracted from, and only cut into words."""
    talks = [messages for sample in samples for messages in sessions(sample)]
    start = time.process_time()
    for messages in talks:
        extract(messages)
    read = time.process_time()
    for messages in talks:
        for message in messages:
            re.findall(r"\w+", message.content)
    count = sum(map(len, talks))
    return count / (read - start), count / (time.process_time() - read)


def main() -> None:
    """Print every figure."""
    parser = arguments.parser(__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=ROOT.parent / "shared" / "data" / "locomo_dev.json")
    parser.add_argument("--mistakes", action="store_true", help="print each labelled sentence that was read wrong")
    options = parser.parse_args()
    lines: list[str] = []
    if LABELLED.exists():
        rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines() if line.strip()]
        right, extracted, expected, mistakes = precision(rows)
        lines.append(f"labelled sentences   {len(rows)}")
        lines.append(f"pair precision       {right / max(extracted, 1):.3f}  ({right} of {extracted})")
        lines.append(f"pair recall          {right / max(expected, 1):.3f}  ({right} of {expected})")
        silent = (not extract(labelled_talk(row)) for row in rows if row.get("nothing"))
        kinds = (is_of_its_kind(row, extract(labelled_talk(row))) for row in rows if "category" in row)
        lines.append(f"nothing said         {share(silent)}")
        lines.append(f"right kind           {share(kinds)}")
        lines += mistakes if options.mistakes else []
    if options.path.exists():
        samples = json.loads(options.path.read_text(encoding="utf-8"))
        turns, yielding, cited, covered = coverage(samples)
        lines.append(f"annotated turns      {covered / cited:.3f} covered  ({covered} of {cited})")
        lines.append(f"all turns            {yielding / turns:.3f} yield    ({yielding} of {turns})")
        rate, floor = rates(samples)
        lines.append(f"speed                {rate:.0f} messages/s  ({floor / rate:.0f} times as long as cutting words)")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
