"""Weights of the words of requests to forget (`core.forgetting.recognition`), judged on authors who were left out.

    python -m bench.forget_recognition [--write] [--ordinary ../shared/data/locomo_dev.json]

They count beside the reader, and decide alone where there is none. The messages of `forget_data` were
written and labelled by authors who saw no code; their files are folds, so that each is judged by weights that never
saw its author. Ordinary turns of `bench.talks` ask for nothing, and count less. Of a message that asks it is not known
which sentence does: the one with the highest log-odds is taken, and the weights are trained again (multiple-instance
learning; Andrews et al. 2002). Reported for each fold: how many requests, and how many other messages, are taken for a
request by words alone, and how many perhaps. `--write` trains on everything.
`--ordinary`: what of the conversations of a LoCoMo file, of the held-out talks and of those of `bench/unseen`, in which
nobody asks to forget anything, is taken for a request all the same, by the reader and by words alone. Nothing was
trained on them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import arguments, reader_data, regression, talks
from bench.regression import Row, Trained, Vector
from core.config import Settings
from core.forgetting import recognition
from core.forgetting.recognition import LIKELY_BY_WORDS, SURE_BY_WORDS, pieces, windows
from core.inference import local_reader
from core.language import ngrams
from core.types import Json

ORDINARY = "ordinary"
ORDINARY_WEIGHT = 0.5
ROUNDS = 4
"""Times that the asking sentence is chosen anew."""

FOLDS = 7
SAMPLE = 1500
"""Messages of a LoCoMo file that are read."""


@dataclass(frozen=True, slots=True)
class Message:
    """A labelled message: who wrote it, what it says, whether it asks to forget, and how much it counts."""

    author: str
    text: str
    asks: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Windows:
    """The sentences and pairs of all messages: of which message each is, and its features."""

    message: NDArray[np.int64]
    rows: Sequence[Row]


def messages() -> list[Message]:
    by_author = reader_data.authors()
    written = [
        Message(name, case["message"], case["label"] == "request")
        for name, cases in by_author.items()
        for case in cases
    ]
    scenes = [Message("scenes", scene["last"]["text"], scene["is_request"]) for scene in reader_data.scenes()]
    ordinary = reader_data.ordinary(by_author, random.Random(0))
    return [*written, *scenes, *(Message(ORDINARY, text, asks=False, weight=ORDINARY_WEIGHT) for text in ordinary)]


def cut(labelled: Sequence[Message]) -> Windows:
    """Return the windows of the messages."""
    numbered = [
        (number, window)
        for number, message in enumerate(labelled)
        for window in windows(message.text, pieces(message.text))
    ]
    counts = np.bincount([number for number, _ in numbered], minlength=len(labelled))
    rows = [
        Row(
            ngrams.buckets(recognition.features(window.text)),
            labelled[number].asks,
            labelled[number].weight if labelled[number].asks else labelled[number].weight / counts[number] ** 0.5,
        )
        for number, window in numbered
    ]
    return Windows(np.array([number for number, _ in numbered]), rows)


def trained(windows: Windows, among: NDArray[np.int64]) -> Trained:
    """Train on the windows of some messages; of each that asks, on the most likely window alone."""
    kept = np.flatnonzero(np.isin(windows.message, among))
    for _ in range(ROUNDS):
        weights = regression.trained([windows.rows[int(at)] for at in kept])
        kept = _most_likely(windows, among, weights)
    return weights


def _most_likely(windows: Windows, among: NDArray[np.int64], weights: Trained) -> NDArray[np.int64]:
    places = np.flatnonzero(np.isin(windows.message, among))
    by_logit = np.argsort(weights.logits([windows.rows[int(at)] for at in places]))
    best = {int(windows.message[at]): at for at in places[by_logit].tolist()}
    return np.array(
        [at for at in places.tolist() if not windows.rows[at].label or best[int(windows.message[at])] == at]
    )


def judged(windows: Windows, labelled: Sequence[Message]) -> Iterator[tuple[str, Vector, Vector]]:
    """Yield the authors of each fold with the log-odds of its messages and their labels."""
    authors = sorted({message.author for message in labelled} - {ORDINARY})
    asks = np.array([message.asks for message in labelled])
    for fold in range(FOLDS):
        left_out = set(authors[fold::FOLDS])
        inside = np.array([number for number, message in enumerate(labelled) if message.author not in left_out])
        weights = trained(windows, inside)
        outside = np.array([number for number, message in enumerate(labelled) if message.author in left_out])
        places = np.flatnonzero(np.isin(windows.message, outside))
        best = np.full(len(labelled), -np.inf)
        np.maximum.at(best, windows.message[places], weights.logits([windows.rows[int(at)] for at in places]))
        yield " ".join(sorted(left_out)), best[outside], asks[outside]


def line(name: str, logits: Vector, asks: Vector) -> str:
    """Describe how the messages of authors who were left out are decided."""
    of_requests, of_others = logits[asks.astype(bool)], logits[~asks.astype(bool)]
    parts = [
        f"{(of_requests >= least).mean():.3f} / {(of_others >= least).mean():.3f} {what}"
        for least, what in ((SURE_BY_WORDS, "sure"), (LIKELY_BY_WORDS, "likely"))
    ]
    return f"{name}: of {len(of_requests)} requests / {len(of_others)} others {', '.join(parts)}"


def unseen(locomo: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield conversations that nothing was trained on, by name, as their messages."""
    texts = [
        turn["text"]
        for sample in json.loads(locomo.read_text(encoding="utf-8"))
        for turns in sample["conversation"].values()
        if isinstance(turns, list)
        for turn in turns
    ]
    yield "LoCoMo", random.Random(1).sample(texts, min(SAMPLE, len(texts)))
    yield "held-out talks", _spoken(talks.talk_of(name) for name in sorted(talks.HELD_OUT))
    yield "ordinary talks", _spoken(talks.talk_of(name, talks.UNSEEN) for name in talks.talks(talks.UNSEEN))


def _spoken(conversations: Iterable[Json]) -> list[str]:
    """Return the messages of the people of conversations."""
    sessions = [session for talk in conversations for session in talk["sessions"]]
    return [turn["content"] for session in sessions for turn in session["turns"] if turn["role"] == "user"]


def report_ordinary(locomo: Path, *, show: bool) -> None:
    """Print how many messages of ordinary conversations are taken for a request."""
    read = local_reader.reader(Settings(embedding="local"))
    for name, texts in unseen(locomo):
        for by, asks in (("reader", read.asks if read else None), ("words alone", None)):
            recognised = [(text, recognition.recognise(text, asks)) for text in texts]
            taken = [(text, request) for text, request in recognised if request is not None]
            sure = sum(request.sure for _, request in taken)
            print(
                f"{name}, {by}: of {len(texts)} messages {sure} are carried out, {len(taken) - sure} held", flush=True
            )
            for text, request in taken if show else ():
                print(f"    {'sure' if request.sure else 'held'}: {text}")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ordinary", type=Path)
    parser.add_argument("--show", action="store_true", help="print the ordinary messages that are taken for requests")
    options = parser.parse_args()
    if options.ordinary:
        report_ordinary(options.ordinary, show=options.show)
        return
    labelled = messages()
    windows = cut(labelled)
    if options.write:
        trained(windows, np.arange(len(labelled))).write(recognition.WORDS)
        return
    parts = list(judged(windows, labelled))
    for name, logits, asks in parts:
        print(line(name, logits, asks), flush=True)
    print(line("all", np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts])))


if __name__ == "__main__":
    main()
