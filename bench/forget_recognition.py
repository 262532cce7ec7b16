"""Weights of `core.forgetting.recognition`: trained on labelled messages, judged on authors who were left out.

    python -m bench.forget_recognition [--write]

The messages of `forget_data` were written and labelled by authors who saw no code; their files are folds, so that each
is judged by weights that never saw its author. Ordinary turns of `bench.talks` ask for nothing, and count less. Of a
message that asks it is not known which sentence does: the one with the highest log-odds is taken, and the weights are
trained again (multiple-instance learning; Andrews et al. 2002). Reported for each fold: how many requests, and how
many other messages, are taken for one with certainty (`SURE`) or perhaps (`LIKELY`). `--write` trains on everything.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import regression, talks
from bench.regression import Row, Vector
from core.config import Settings
from core.forgetting import recognition
from core.forgetting.recognition import LIKELY, SURE, Window, pieces, windows
from core.inference import configured_embedder
from core.language import ngrams

DATA = Path(__file__).with_name("forget_data")
SCENES = ("dev", "dev2", "held", "held2")
TALK_WEIGHT = 0.3
ROUNDS = 4
"""Times that the asking sentence is chosen anew."""

FOLDS = 7


@dataclass(frozen=True, slots=True)
class Message:
    """A labelled message: who wrote it, what it says, whether it asks to forget, and how much it counts."""

    author: str
    text: str
    asks: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Windows:
    """The sentences and pairs of all messages: of which message, their features and their vectors."""

    message: NDArray[np.int64]
    rows: Sequence[Row]
    vectors: Vector


def messages() -> list[Message]:
    return [*_written(), *_scenes(), *_ordinary()]


def _written() -> Iterator[Message]:
    for file in sorted([*DATA.glob("sentences_*.jsonl"), *DATA.glob("train/*.jsonl")]):
        for line in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield Message(file.stem, case["message"], case["label"] == "request")


def _scenes() -> Iterator[Message]:
    for name in SCENES:
        for scene in json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")):
            yield Message("scenes", scene["last"]["text"], scene["is_request"])


def _ordinary() -> Iterator[Message]:
    """Return every third user turn of the talks that are not held out."""
    for name in sorted(set(talks.talks()) - talks.HELD_OUT):
        turns = [turn for session in talks.talk_of(name)["sessions"] for turn in session["turns"]]
        for turn in [turn for turn in turns if turn["role"] == "user"][::3]:
            yield Message("talks", turn["content"], asks=False, weight=TALK_WEIGHT)


def cut(labelled: Sequence[Message]) -> Windows:
    """Return the windows of the messages, embedded."""
    found: list[tuple[int, Window]] = [
        (number, window) for number, one in enumerate(labelled) for window in windows(pieces(one.text))
    ]
    embedder = configured_embedder.embedder(Settings(embedding="local"))
    vectors = embedder.embed_queries([window.text for _, window in found])
    counts = np.bincount([number for number, _ in found], minlength=len(labelled))
    rows = [
        Row(
            ngrams.buckets(recognition.features(window.text)),
            labelled[number].asks,
            labelled[number].weight if labelled[number].asks else labelled[number].weight / counts[number] ** 0.5,
        )
        for number, window in found
    ]
    return Windows(np.array([number for number, _ in found]), rows, np.asarray(vectors, dtype=float))


def trained(shown: Windows, among: NDArray[np.int64], *, meaning: bool) -> regression.TrainedBeside:
    """Train on the windows of some messages; of each that asks, on the most likely window alone."""
    kept = np.flatnonzero(np.isin(shown.message, among))
    for _ in range(ROUNDS):
        vectors = shown.vectors[kept] if meaning else np.zeros((len(kept), 0))
        weights = regression.trained_beside([shown.rows[int(at)] for at in kept], vectors)
        kept = _most_likely(shown, among, weights, meaning=meaning)
    return weights


def _most_likely(
    shown: Windows, among: NDArray[np.int64], weights: regression.TrainedBeside, *, meaning: bool
) -> NDArray[np.int64]:
    places = np.flatnonzero(np.isin(shown.message, among))
    by_logit = np.argsort(_logits(shown, places, weights, meaning=meaning))
    best = {int(shown.message[at]): at for at in places[by_logit].tolist()}
    return np.array([at for at in places.tolist() if not shown.rows[at].wanted or best[int(shown.message[at])] == at])


def _logits(shown: Windows, places: NDArray[np.int64], weights: regression.TrainedBeside, *, meaning: bool) -> Vector:
    vectors = shown.vectors[places] if meaning else np.zeros((len(places), 0))
    return weights.logits([shown.rows[int(at)] for at in places], vectors)


def judged(shown: Windows, labelled: Sequence[Message], *, meaning: bool) -> Iterator[tuple[str, Vector, Vector]]:
    """Yield the authors of each fold with the log-odds of its messages and their labels."""
    authors = sorted({one.author for one in labelled} - {"talks"})
    asks = np.array([one.asks for one in labelled])
    for fold in range(FOLDS):
        left_out = set(authors[fold::FOLDS])
        inside = np.array([number for number, one in enumerate(labelled) if one.author not in left_out])
        weights = trained(shown, inside, meaning=meaning)
        outside = np.array([number for number, one in enumerate(labelled) if one.author in left_out])
        places = np.flatnonzero(np.isin(shown.message, outside))
        best = np.full(len(labelled), -np.inf)
        np.maximum.at(best, shown.message[places], _logits(shown, places, weights, meaning=meaning))
        yield " ".join(sorted(left_out)), best[outside], asks[outside]


def line(name: str, logits: Vector, asks: Vector) -> str:
    """Describe how the messages of authors who were left out are decided."""
    of_requests, of_others = logits[asks.astype(bool)], logits[~asks.astype(bool)]
    shares = [(of_requests >= least).mean() for least in (SURE, LIKELY)]
    wrong = [f"{(of_others >= least).sum()}" for least in (SURE, LIKELY)]
    return (
        f"{name}: of {len(of_requests)} requests {shares[0]:.3f} sure, {shares[1]:.3f} likely; "
        f"of {len(of_others)} others {wrong[0]} sure, {wrong[1]} likely"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    labelled = messages()
    shown = cut(labelled)
    everything = np.arange(len(labelled))
    if write:
        beside = trained(shown, everything, meaning=True)
        beside.words.write(recognition.WORDS)
        np.save(recognition.MEANING, beside.dense.astype(np.float32))
        trained(shown, everything, meaning=False).words.write(recognition.WORDS_ALONE)
        return
    for meaning in (True, False):
        print("words and meaning" if meaning else "words alone")
        parts = list(judged(shown, labelled, meaning=meaning))
        for name, logits, asks in parts:
            print(f"  {line(name, logits, asks)}", flush=True)
        print(f"  {line('all', np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts]))}")


if __name__ == "__main__":
    main()
