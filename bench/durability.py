"""Weights of `core.extraction.durability`: trained on labelled sentences, judged on conversations that were left out.

    python -m bench.durability [--write]

Each conversation that is trained on (`reader_data.trained_talks`, in the languages of the weights) is left out in turn:
weights trained on the others decide on its sentences. Reported:
the area under the curve; and at the threshold in use, how many of the sentences kept state a labelled fact at all, and
how many of those with a fact that matters (`core`) are kept. `--write` trains on everything and writes the weights.
Also in training: sentences from work (`work_data/train.jsonl`), and with a lower weight `lasting_sentences.txt` (+
worth remembering, - not) and the labelled sentences of the extractor's tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import arguments, reader_data, regression
from bench import extract as locomo
from bench.reader_data import Json
from bench.regression import Row
from core.extraction import durability, quoting, speakers
from core.language import ngrams
from core.language.zh.recognition import is_chinese

SENTENCES = Path(__file__).with_name("lasting_sentences.txt")
WORK = Path(__file__).parent / "work_data" / "train.jsonl"
OTHERS = 0.5
"""Weight of a sentence without a conversation."""
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of the regression, and whether the sentence states any labelled fact, one that matters or not."""

    row: Row
    fact: bool


def of_talk(talk: Json, language: str) -> Iterator[Sentence]:
    core = {fact["id"] for fact in talk["facts"] if fact["core"]}
    for session in talk["sessions"]:
        question = ""
        for turn in session["turns"]:
            if turn["role"] == "user":
                for position, sentence in enumerate(turn["sentences"]):
                    features = durability.features(
                        sentence["text"], language, question=question if position == 0 else "", position=position
                    )
                    keep = bool(core.intersection(sentence["facts"]))
                    yield Sentence(Row(ngrams.buckets(features), keep), bool(sentence["facts"]))
            question = (speakers.question_in(turn["content"]) or "") if turn["role"] == "assistant" else ""


def of_others(language: str) -> Iterator[Row]:
    """Labelled sentences that stand alone."""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines() if language == "en" else []
    labelled = [(line[2:], line[0] == "+") for line in lines]
    for line in locomo.LABELLED.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        keep = bool(case["slots"]) or "category" in case
        spoken = "asked" not in case and case.get("role", "user") == "user"
        if spoken and (keep or case.get("nothing")) and is_chinese(case["text"]) == (language == "zh"):
            labelled.append((case["text"], keep))
    for text, keep in labelled:
        yield Row(ngrams.buckets(durability.features(text, language)), keep, OTHERS)
    for line in WORK.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["lang"] == language:
            yield Row(ngrams.buckets(durability.features(case["text"], language)), case["keep"])


def language_of(name: str) -> str | None:
    """Return the language of a conversation, by its name; None: there are no weights of it."""
    return next((language for language in LANGUAGES if language in name.split("-")), None)


def report(by_talk: dict[str, list[Sentence]], others: dict[str, list[Row]]) -> Iterable[str]:
    """A line for each conversation that was left out of the training."""
    for name, rows in by_talk.items():
        language = str(language_of(name))
        rest = [
            sentence.row
            for other, its in by_talk.items()
            if other != name and language_of(other) == language
            for sentence in its
        ]
        guessed = regression.logistic(
            regression.trained([*rest, *others[language]]).logits([sentence.row for sentence in rows])
        )
        keep, fact = np.array([sentence.row.label for sentence in rows]), np.array([sentence.fact for sentence in rows])
        kept = guessed >= regression.logistic(np.array(quoting.LEAST))
        yield (
            f"{name}: area {regression.area(guessed, keep):.3f}, kept that state a fact {fact[kept].mean():.3f}, "
            f"sentences that matter kept {keep[kept].sum() / keep.sum():.3f}"
        )


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    by_talk = {
        name: list(of_talk(talk, language))
        for name, talk in reader_data.trained_talks().items()
        if (language := language_of(name))
    }
    others = {language: list(of_others(language)) for language in LANGUAGES}
    if not options.write:
        for line in report(by_talk, others):
            print(line, flush=True)
        return
    for language, more in others.items():
        rows = [sentence.row for name, its in by_talk.items() if language_of(name) == language for sentence in its]
        regression.trained([*rows, *more]).write(durability.file_of(language))


if __name__ == "__main__":
    main()
