"""Dates that sentences mean, without a model: what is resolved rightly, wrongly, and not at all.

    python -m bench.dates [--half dev] [--show]

Each sentence of `dates_data` was said at a time and means a date, or none that can be resolved ("every Monday"). It is
right if one of the dates that are found is that date; without one, if none is found. Authors who had not seen the code
wrote both halves; `dev` is for mending.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import arguments
from core.language import dates, languages

FOLDER = Path(__file__).with_name("dates_data")
HALVES = ("dev", "held")
OUTCOMES = ("right", "wrong", "missed")

Json = dict[str, Any]


def outcome_of(sentence: Json) -> str:
    """Return what becomes of the date of a sentence."""
    resolved = resolve(sentence)
    if sentence["date"] in resolved or (sentence["date"] is None and not resolved):
        return "right"
    return "wrong" if resolved else "missed"


def resolve(sentence: Json) -> list[str]:
    """Return the days of the dates in a sentence."""
    forms = next(language.dates for language in languages.ALL if language.code == sentence["lang"])
    mentions = dates.find(sentence["text"], datetime.fromisoformat(sentence["said"]), forms)
    return [f"{mention.when:%Y-%m-%d}" for mention in mentions]


def rows(sentences: Sequence[Json]) -> list[str]:
    counts = Counter((sentence["lang"], outcome_of(sentence)) for sentence in sentences)
    return [
        f"| {lang} | {' | '.join(str(counts[lang, outcome]) for outcome in OUTCOMES)} |"
        for lang in sorted({lang for lang, _ in counts})
    ]


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--show", action="store_true", help="list what is not right")
    parsed = parser.parse_args()
    lines = (FOLDER / f"{parsed.half}.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = [json.loads(line) for line in lines]
    print(f"| language | {' | '.join(OUTCOMES)} |", "| --- | --- | --- | --- |", *rows(sentences), sep="\n")
    for sentence in sentences if parsed.show else ():
        if (outcome := outcome_of(sentence)) != "right":
            print(f"{outcome}: {sentence['said']} {sentence['text']} → {resolve(sentence)}, not {sentence['date']}")


if __name__ == "__main__":
    main()
