"""Certainty of answers among near misses: of eight statements near a question, is the most certain one an answer?

    python -m bench.questions [--cases bench/unseen/questions_u.jsonl] [--show]

Questions and statements are by authors who had not seen the code: each statement shares the person, the subject or most
words with the question, and those that answer it often share none. Reported: of the questions that a statement answers,
for how many the most certain one does; and how many of these, and of the questions that nothing answers, are answered
at all. `questions_data` has more of them, for training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench import arguments, reader_data
from core.answering import certainty
from core.answering.answer import LEAST
from core.config import Settings
from core.inference import configured_embedder
from core.inference.embedders import Embedder
from core.types import Json


def most_certain(embedder: Embedder, cases: Sequence[Json]) -> Iterator[tuple[int, float]]:
    """Yield the place of the most certain statement of each case, and its certainty."""
    for case in cases:
        vectors = np.asarray(embedder.embed([statement["text"] for statement in case["statements"]]))
        certainties = certainty.certainties(vectors @ np.asarray(embedder.embed_queries([case["question"]]))[0])
        best = int(certainties.argmax())
        yield best, float(certainties[best])


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--cases", type=Path, default=Path(__file__).with_name("unseen") / "questions_u.jsonl")
    parser.add_argument("--show", action="store_true", help="list what is answered wrongly")
    parsed = parser.parse_args()
    cases = reader_data.lines(parsed.cases)
    counts: Counter[str] = Counter()
    for case, (best, certain) in zip(cases, most_certain(configured_embedder.embedder(Settings()), cases), strict=True):
        kind = "answered" if case["answers"] else "never said"
        counts[kind] += 1
        counts[f"{kind}, right"] += best in case["answers"]
        counts[f"{kind}, certain"] += certain >= LEAST
        if parsed.show and best not in case["answers"]:
            print(f"{case['question']} → {case['statements'][best]['text']} ({certain:.2f})")
    print(
        f"{counts['answered, right']} of {counts['answered']} best statements answer, "
        f"{counts['answered, certain']} are certain enough; of {counts['never said']} questions that nothing answers "
        f"{counts['never said, certain']} are answered"
    )


if __name__ == "__main__":
    main()
