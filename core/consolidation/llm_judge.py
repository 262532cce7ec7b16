"""Asks a model about undecided pairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pydantic import BaseModel, ConfigDict

from core.consolidation.judge import Pair, Word
from core.inference import ask
from core.inference.ask import Prompt, Refused
from core.inference.client import Client, OnCall

PAIRS = 40
"""Pairs put before the model at once, the nearest of a batch: a page, and few enough to be answered one by one."""

Opinion = Callable[[Sequence[Pair]], Sequence[Word | None]]
"""What is said of each of some pairs; None: nothing. Never fails: judgement stands without it."""


class Compared(BaseModel):
    """One pair, by its number, as the model sees it."""

    model_config = ConfigDict(extra="forbid")

    pair: int
    verdict: Word


class Opinions(BaseModel):
    """What the model says of all pairs."""

    model_config = ConfigDict(extra="forbid")

    opinions: list[Compared]


PROMPT: Final = Prompt("judge.v1", Opinions)


def of(client: Client, on_call: OnCall) -> Opinion:
    """The opinion of a model; each call is handed to `on_call`."""
    return partial(_asked, client, on_call)


def _asked(client: Client, on_call: OnCall, pairs: Sequence[Pair]) -> list[Word | None]:
    """One question. A model that refuses, for now or for good, has no opinion: a write does not wait for one."""
    shown = sorted(range(len(pairs)), key=lambda at: -(pairs[at].known.similarity or 0))[:PAIRS]
    table = "\n".join(_line(number, pairs[at]) for number, at in enumerate(shown, start=1))
    answer = ask.ask(client, on_call, PROMPT, table)
    if isinstance(answer, Refused):
        return [None] * len(pairs)
    said = {one.pair: one.verdict for one in answer.opinions}
    words = {at: said.get(number) for number, at in enumerate(shown, start=1)}
    return [words.get(at) for at in range(len(pairs))]


def _line(number: int, pair: Pair) -> str:
    candidate, known = pair
    plain = {
        "pair": number,
        "about": known.subject,
        "known": known.content,
        "known_said": f"{known.occurred_at:%Y-%m-%d}",
        "new": candidate.content,
        "new_said": f"{candidate.occurred_at:%Y-%m-%d}",
    }
    return json.dumps(plain, ensure_ascii=False)
