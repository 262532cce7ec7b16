"""Recall on LoCoMo with one part of the ranking switched off at a time; precision of recipes.

    python -m bench.ablation [--locomo ../shared/data/locomo_dev.json] [--talks 0] [--recipes default precise]

The conversations are published to a stack of their own and extracted by the default rules; then each question is asked
once for each row of the table, by the function behind `POST /v1/search`, with the weight of one part set to zero.
Recall is that of the first distinct messages which the results cite: a result that cites several takes several places.

With `--recipes`, questions that have one message of evidence are asked once for each recipe instead. Reported: the
number of results, the share of them that cites the evidence, and whether it is among the first five messages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Final

from bench import arguments
from bench.peers_talks import Question as Labelled
from bench.peers_talks import Talk, talks
from bench.stand import Stand, stack
from core.config import Settings
from core.inference.embedders import CachedEmbedder
from core.inference.local_embedder import LocalEmbedder
from core.search import query, ranking
from core.search.question import Question
from core.search.recipes import RECIPES, Recipe
from core.storage import db
from core.storage.db import Database
from core.types import Json

PARTS: Final[Mapping[str, Mapping[str, float]]] = OrderedDict(
    {
        "all of it": {},
        "words": {"LEXICAL": 0},
        "likeness": {"COSINE": 0},
        "likeness around": {"COSINE_AROUND": 0},
        "session": {"SESSION": 0},
        "session alike for broad questions": {"BROAD_SESSION": 0},
        "answers": {"ANSWERS": 0},
        "tells": {"TOLD": 0},
        "names": {"NAMES": 0},
        "a time, if one is asked for": {"TIME": 0},
        "said at the time that is named": {"SPAN": 0},
        "who": {"SPEAKER": 0, "ROLE": 0},
        "what a memory lacks of its messages": {"LACK": 0},
    }
)

RESULTS: Final = 40
"""As many as the recall harness asks for: several of them cite the same message."""

TENANT: Final = "default"


Table = list[tuple[str, dict[str, float]]]


def run(file: Path, count: int, recipes: Sequence[str]) -> Table:
    conversations = talks(file, count, 0)
    with stack() as stand:
        publish(stand, conversations)
        database = db.connect(db.app_url(Settings(home=stand.home)), 1)
        embedder = CachedEmbedder(LocalEmbedder()).of(TENANT)
        table = [(name, precision(database, conversations, RECIPES[name], embedder)) for name in recipes]
        for name, weights in () if recipes else PARTS.items():
            with weighing(weights):
                table.append((name, recall(database, conversations, embedder)))
        database.close()
    return table


def publish(stand: Stand, conversations: Sequence[Talk]) -> None:
    token = ""
    for talk in conversations:
        events = [message(talk.name, turn) for turn in talk.turns]
        for start in range(0, len(events), 500):
            token = stand.call("POST", "/v1/events", events[start : start + 500])["settle_token"]
    stand.settle(token, flush=True)


def message(user: str, turn: Json) -> Json:
    payload = {name: turn[name] for name in ("role", "speaker", "content")}
    names = {"user_id": user, "session_id": f"{user}/{turn['session']}", "message_id": turn["id"]}
    return {"event_type": "message.added", "source": "bench", "time": turn["time"], "payload": payload | names}


@contextmanager
def weighing(weights: Mapping[str, float]) -> Iterator[None]:
    """The ranking with some of its weights changed."""
    before = {name: getattr(ranking, name) for name in weights}
    for name, weight in weights.items():
        setattr(ranking, name, weight)
    try:
        yield
    finally:
        for name, weight in before.items():
            setattr(ranking, name, weight)


def recall(database: Database, conversations: Sequence[Talk], embedder: CachedEmbedder) -> dict[str, float]:
    """Over all questions, and over those that need several messages."""
    rows = [
        (labelled.evidence, cited_messages(database, talk.name, labelled, embedder))
        for talk in conversations
        for labelled in talk.questions
    ]
    several = [(gold, seen) for gold, seen in rows if len(gold) > 1]
    return {
        "rec@5": fmean(len(gold & set(seen[:5])) / len(gold) for gold, seen in rows),
        "rec@10": fmean(len(gold & set(seen[:10])) / len(gold) for gold, seen in rows),
        "any@10": fmean(bool(gold & set(seen[:10])) for gold, seen in rows),
        "several: all@10": fmean(gold <= set(seen[:10]) for gold, seen in several) if several else 0.0,
    }


def precision(
    database: Database, conversations: Sequence[Talk], recipe: Recipe, embedder: CachedEmbedder
) -> dict[str, float]:
    """Over the questions that one message answers."""
    rows = []
    for talk in conversations:
        for labelled in talk.questions:
            if len(labelled.evidence) == 1:
                question = Question(labelled.text, talk.name, limit=recipe.limit, recipe=recipe)
                results = query.search(database, TENANT, question, embedder).results
                cited = [{source.message_id for source in result.sources} for result in results]
                first = list(dict.fromkeys(source.message_id for result in results for source in result.sources))[:5]
                rows.append(
                    (
                        len(cited),
                        fmean(bool(labelled.evidence & own) for own in cited),
                        bool(labelled.evidence & set(first)),
                    )
                )
    results_, share, any_ = zip(*rows, strict=True)
    return {"results": fmean(results_), "precision": fmean(share), "any@5": fmean(any_)}


def cited_messages(database: Database, user: str, labelled: Labelled, embedder: CachedEmbedder) -> list[str]:
    """Return the distinct messages that the results cite, best first."""
    answer = query.search(database, TENANT, Question(labelled.text, user, limit=RESULTS), embedder)
    return list(dict.fromkeys(source.message_id for result in answer.results for source in result.sources))


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    parser.add_argument("--talks", type=int, default=0, help="the first conversations alone; 0: all")
    parser.add_argument("--recipes", nargs="*", default=[], choices=RECIPES)
    options = parser.parse_args()
    table = run(options.locomo, options.talks, options.recipes)
    heads = ["recipe" if options.recipes else "without", *table[0][1]]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for name, figures in table:
        print(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures.values())} |")


if __name__ == "__main__":
    main()
