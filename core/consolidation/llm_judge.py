"""Asks a model about pairs of statements that the words leave undecided."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from core.consolidation.judge import OpinionKind, Pair
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer

PAIRS = 40
"""Pairs in one call, the nearest of a batch: a page, and few enough to be answered one by one."""

Opinion = Callable[[Sequence[Pair]], Sequence[OpinionKind | None]]
"""Answers to some pairs; None: no answer. Never fails, because judging works without it."""


class LlmOpinion(ModelAnswer):
    """The model's answer to the pair with this number."""

    pair: int
    verdict: OpinionKind


class Opinions(ModelAnswer):
    """The model's answers."""

    opinions: list[LlmOpinion]


PROMPT: Final = ModelPrompt("judge.v1", Opinions)


def opinion_of(client: ChatClient, on_call: OnCall) -> Opinion:
    """Return the opinion of a model; each call is passed to `on_call`."""
    return partial(_ask, client, on_call)


def _ask(client: ChatClient, on_call: OnCall, pairs: Sequence[Pair]) -> list[OpinionKind | None]:
    """Ask once. A model that fails, for now or for good, gives no answers: a write does not wait for one."""
    indices = sorted(range(len(pairs)), key=lambda index: -(pairs[index].known.similarity or 0))[:PAIRS]
    table = "\n".join(_line(number, pairs[index]) for number, index in enumerate(indices, start=1))
    answer = ask.ask(client, on_call, PROMPT, table)
    if isinstance(answer, ModelRefused):
        return [None] * len(pairs)
    verdicts = {opinion.pair: opinion.verdict for opinion in answer.opinions}
    opinions = {index: verdicts.get(number) for number, index in enumerate(indices, start=1)}
    return [opinions.get(index) for index in range(len(pairs))]


def _line(number: int, pair: Pair) -> str:
    candidate, known = pair
    fields = {
        "pair": number,
        "about": known.subject,
        "known": known.content,
        "known_said": f"{known.told_at:%Y-%m-%d}",
        "new": candidate.content,
        "new_said": f"{candidate.told_at:%Y-%m-%d}",
    }
    return json.dumps(fields, ensure_ascii=False)
