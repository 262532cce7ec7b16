"""Quality of a summary: key sentences found, how short a conversation becomes, and which sentences stay in it.

    python -m bench.summary [path/to/locomo.json] [--mistakes]

Labelled: precision and recall over `tests/core/summaries/keys.jsonl`. LoCoMo: each conversation as one long session,
step by step as it grows, without a model. Beside it, of as many tokens as each summary, the floors: the beginning of
what it stands for, and messages taken evenly out of all of it. Kept is a key sentence that can be read there word for
word; an observation (LoCoMo's own facts, of those messages) is told where one line has half of its words.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import arguments
from core.language.terms import terms, token_estimate
from core.summaries import extractive, key_messages, rolling
from core.summaries.rolling import SummaryInput, SummaryLimits
from core.types import Json, Message

ROOT = Path(__file__).resolve().parent.parent
LABELLED = ROOT / "tests" / "core" / "summaries" / "keys.jsonl"
LIMITS = SummaryLimits(200, 8000)


def detected(rows: list[Json]) -> tuple[Counter[str], list[str]]:
    """How many kinds were found rightly, wrongly, and not at all, and a line for each mistake."""
    counts: Counter[str] = Counter()
    mistakes: list[str] = []
    for row in rows:
        message = Message("s", "m", 1, "e", "ada", row.get("role", "user"), row["text"], datetime.now(UTC))
        expected, got = set(row["kinds"]), {key.kind for key in key_messages.key_messages_of(message)}
        counts.update(right=len(expected & got), wrong=len(got - expected), missed=len(expected - got))
        if expected != got:
            mistakes.append(f"  {row['text']}  expected {sorted(expected)}, found {sorted(got)}")
    return counts, mistakes


def conversation(sample: Json) -> list[Message]:
    """All sessions of a LoCoMo conversation, one after the other, as one; both people are users."""
    talk = sample["conversation"]
    messages: list[Message] = []
    for name in sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k.split("_")[1])):
        at = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in talk[name]:
            n, who = len(messages) + 1, turn["speaker"]
            messages.append(Message("s", turn["dia_id"], n, turn["dia_id"], who, "user", turn["text"], at, who))
    return messages


def summarised(messages: Sequence[Message]) -> tuple[str, int]:
    """The last summary of a session that has grown to these messages, and how many it stands for."""
    content, keys, upto = "", list[key_messages.KeyMessage](), 0
    for end in range(1, len(messages) + 1):
        half = rolling.first_half(messages[upto:end], LIMITS)
        if half:
            upto += len(half)
            keys = extractive.fit_key_messages(rolling.key_messages_after(keys, half, messages[upto:end]))
            covered = sum(token_estimate(m.content) for m in messages[:upto])
            content = rolling.by_rules(SummaryInput(content, half, keys, extractive.room(keys, covered))).content
    return extractive.render(content, keys), upto


def beginning(messages: Sequence[Message], tokens: int) -> str:
    return "\n".join(_within(messages, tokens))


def evenly(messages: Sequence[Message], tokens: int) -> str:
    """Every so manieth message, as many as there is room for."""
    every = max(1, sum(token_estimate(m.content) for m in messages) // max(1, tokens))
    return "\n".join(_within(messages[::every], tokens))


def _within(messages: Sequence[Message], tokens: int) -> Iterator[str]:
    for message in messages:
        line = f"{message.speaker}: {message.content}"
        tokens -= token_estimate(f"{line}\n")
        if tokens < 0:
            return
        yield line


def key_sentence_counts(text: str, covered: Sequence[Message]) -> tuple[int, int]:
    """Of the key sentences of these messages: how many there are, and how many can be read in a text."""
    quotes = [key.quote for message in covered for key in key_messages.key_messages_of(message)]
    return len(quotes), sum(quote.rstrip(" .!") in text for quote in quotes)


def facts(sample: Json) -> list[tuple[frozenset[str], str]]:
    """Facts that people wrote down of a LoCoMo conversation: the words of each, without names, and its turn."""
    observations = []
    for session in sample["observation"].values():
        for who, stated in session.items():
            for fact, turns in stated:
                turn = re.search(r"D\d+:\d+", json.dumps(turns))
                if turn:
                    observations.append((frozenset(terms(fact)) - frozenset(terms(who)), turn[0]))
    return observations


def fact_counts(
    text: str, covered: Sequence[Message], observations: Sequence[tuple[frozenset[str], str]]
) -> tuple[int, int]:
    """Of the facts from these messages: how many there are, and of how many a line of a text has half of the words."""
    ids = {message.id for message in covered}
    mine = [words for words, turn in observations if turn in ids and words]
    lines = [frozenset(terms(line)) for line in text.splitlines()]
    return len(mine), sum(any(len(words & line) * 2 >= len(words) for line in lines) for words in mine)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=ROOT.parent / "shared" / "data" / "locomo_dev.json")
    parser.add_argument("--mistakes", action="store_true", help="print each labelled sentence that was told wrongly")
    options = parser.parse_args()
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    counts, mistakes = detected(rows)
    right = counts["right"]
    lines = [f"labelled sentences   {len(rows)}"]
    lines.append(f"key precision        {right / (right + counts['wrong']):.3f}")
    lines.append(f"key recall           {right / (right + counts['missed']):.3f}")
    lines += mistakes if options.mistakes else []
    if options.path.exists():
        lines += compared(json.loads(options.path.read_text(encoding="utf-8")))
    sys.stdout.write("\n".join(lines) + "\n")


def compared(samples: Sequence[Json]) -> list[str]:
    """A line for the summaries and for each floor."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("summary", "beginning", "evenly")}
    tokens, covered_tokens, longest = 0, 0, 0
    for sample in samples:
        messages, observations = conversation(sample), facts(sample)
        summary, upto = summarised(messages)
        covered, size = messages[:upto], token_estimate(summary)
        tokens, covered_tokens, longest = tokens + size, covered_tokens + _size(covered), max(longest, size)
        texts = {"summary": summary, "beginning": beginning(covered, size), "evenly": evenly(covered, size)}
        for name, text in texts.items():
            (there, read), (many, stated) = key_sentence_counts(text, covered), fact_counts(text, covered, observations)
            counts[name].update(keys=there, kept=read, facts=many, told=stated)
    lines = [f"conversations        {len(samples)}, of {covered_tokens // len(samples)} tokens summarised on average"]
    lines.append(f"tokens left          {tokens / max(1, covered_tokens):.3f}  (the longest summary has {longest})")
    for name, counter in counts.items():
        shares = counter["kept"] / max(1, counter["keys"]), counter["told"] / max(1, counter["facts"])
        lines.append(
            f"{name:<20} key sentences {shares[0]:.3f} ({counter['kept']} of {counter['keys']}), "
            f"observations {shares[1]:.3f} ({counter['told']} of {counter['facts']})"
        )
    return lines


def _size(messages: Sequence[Message]) -> int:
    return sum(token_estimate(m.content) for m in messages)


if __name__ == "__main__":
    main()
