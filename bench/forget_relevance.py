"""Weights of `core.forgetting.relevance`: trained on labelled requests, judged on authors who were left out.

    python -m bench.forget_relevance [--write]

Each case of `forget_data` has what a user told before, a request, and which of it the request means. Beside it stand
statements of other cases in the same language that are unlike what is meant, because a real user has told more than
five things. Reported for each author who was left out of the training: how many requests are answered with exactly
what they mean, with something else as well or instead, and with nothing certain. `--write` trains on everything.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import regression
from bench.regression import Truth, Vector
from core.config import Settings
from core.forgetting import relevance, requests
from core.forgetting.extent import ForgetScope
from core.forgetting.recognition import pieces, recognise
from core.forgetting.talk import PERSON, Talk, Turn
from core.inference import configured_embedder

DATA = Path(__file__).with_name("forget_data")
STRANGERS = 12
"""Statements of other cases beside those of a case."""

UNLIKE = 0.45
"""Cosine with what is meant from which a statement of another case might be meant as well."""

RIDGE = 30.0

CONFUSABLE = ("cases_i", "cases_j")
"""Cases whose statements were chosen to be confused: judged, but not trained on, where they make all others unsure."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A request, by its features with each statement: who wrote it, and which statements it means."""

    author: str
    rows: Vector
    meant: Truth


def cases() -> list[Case]:
    """Return the requests of all authors, with their features."""
    labelled = [
        (file.stem, case)
        for file in sorted([*DATA.glob("sentences_*.jsonl"), *DATA.glob("train/cases_*.jsonl")])
        for case in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        if case["label"] == "request"
    ]
    embedder = configured_embedder.embedder(Settings(embedding="local"))
    texts = list(dict.fromkeys(text for _, case in labelled for text in case["memories"]))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    pools = {
        language: [text for _, case in labelled if case["lang"] == language for text in case["memories"]]
        for language in ("en", "zh")
    }
    draw = random.Random(1)
    found = []
    for author, case in labelled:
        meant = [vectors[case["memories"][at]] for at in case["targets"]]
        drawn = draw.sample(pools[case["lang"]], STRANGERS)
        strangers = [text for text in drawn if all(float(vectors[text] @ one) < UNLIKE for one in meant)]
        statements = [*case["memories"], *(text for text in dict.fromkeys(strangers) if text not in case["memories"])]
        recognised = recognise(case["message"], embedder.embed_queries)
        asking = recognised.sentences if recognised else range(len(pieces(case["message"])))
        request = requests.read(case["message"], asking)
        if request is None or request.scope is ForgetScope.EVERYTHING:
            continue
        wording = relevance.wording(request)
        talk = Talk([Turn(at, at, "u", None, PERSON, text) for at, text in enumerate(statements)])
        cosines = embedder.embed_queries(wording.texts) @ np.array([vectors[text] for text in statements]).T
        places = {passage.turn.key: number for number, passage in reversed(list(enumerate(talk.passages)))}
        shown = [talk.passages[places[at]] for at in range(len(statements)) if at in places]
        rows = relevance.features(request, wording, shown, cosines[:, [p.turn.key for p in shown]].astype(float), talk)
        found.append(Case(author, rows, np.array([p.turn.key in case["targets"] for p in shown])))
    return found


def trained(shown: Sequence[Case]) -> dict[str, Vector]:
    rows, meant = np.concatenate([one.rows for one in shown]), np.concatenate([one.meant for one in shown])
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.clip((rows - mean) / spread, -relevance.CLIPPED, relevance.CLIPPED)
    return {"mean": mean, "spread": spread, "weights": regression.dense(scaled, meant, RIDGE)}


def line(author: str, shown: Sequence[Case], weights: dict[str, Vector]) -> str:
    """Describe how the requests of an author who was left out are answered."""
    exact = wrong = nothing = 0
    for case in shown:
        chosen, sure = relevance.choose(case.rows, weights)
        answer, right = set(chosen) if sure else set(), set(np.flatnonzero(case.meant))
        exact += answer == right
        wrong += bool(answer - right)
        nothing += not answer and bool(right)
    return f"{author}: of {len(shown)} requests {exact} exactly right, {wrong} with something else, {nothing} not sure"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    labelled = cases()
    if write:
        weights = trained([one for one in labelled if one.author not in CONFUSABLE])
        np.savez(relevance.WEIGHTS, mean=weights["mean"], spread=weights["spread"], weights=weights["weights"])
        return
    for author in sorted({one.author for one in labelled}):
        weights = trained([one for one in labelled if one.author not in (author, *CONFUSABLE)])
        print(line(author, [one for one in labelled if one.author == author], weights), flush=True)


if __name__ == "__main__":
    main()
