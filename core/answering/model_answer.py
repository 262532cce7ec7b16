"""An answer in a model's words, from the results of a search."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.answering.statements import Statement
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.language import grounding
from core.screening import output

LONGEST: Final = 2_000
"""Characters of an answer; what is longer is none."""


class AnswerFromLines(ModelAnswer):
    """The model's answer; `lines`: numbers of the lines that it rests on."""

    answerable: bool
    answer: str
    lines: list[int]


PROMPT: Final = ModelPrompt("answer.v1", AnswerFromLines)


@dataclass(frozen=True, slots=True)
class WordedAnswer:
    """An answer and the statements that it rests on; an empty text: they do not tell."""

    text: str
    statements: Sequence[Statement]


def compose(
    client: ChatClient, on_call: OnCall, question: str, owner: str, today: datetime, statements: Sequence[Statement]
) -> WordedAnswer | ModelRefused:
    """Ask the model once.

    Refused is an answer that rests on no line that was shown, has a name or an address that no line has, or tries to
    command its reader.
    """
    numbered = dict(enumerate(statements, start=1))

    def is_grounded(answer: AnswerFromLines) -> bool:
        if not answer.answerable:
            return True
        cites = bool(answer.lines) and numbered.keys() >= set(answer.lines)
        sources = [question, owner, *(statement.attributed for statement in statements)]
        is_clean = not output.screened_output(answer.answer).hostile and grounding.names_only(answer.answer, sources)
        return cites and 0 < len(answer.answer.strip()) <= LONGEST and is_clean

    answer = ask.ask(client, on_call, PROMPT, transcript(question, owner, today, numbered.items()), is_grounded)
    if isinstance(answer, ModelRefused):
        return answer
    if not answer.answerable:
        return WordedAnswer("", ())
    text = output.screened_output(answer.answer.strip()).text
    return WordedAnswer(text, [numbered[number] for number in dict.fromkeys(answer.lines)])


def transcript(question: str, owner: str, today: datetime, numbered: Iterable[tuple[int, Statement]]) -> str:
    """Return the question and the statements as JSON lines, so that none can pass for another line."""
    heading = {"question": question, "today": f"{today:%Y-%m-%d %A}", "owner": owner}
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in [heading, *map(_line, numbered)])


def _line(numbered: tuple[int, Statement]) -> dict[str, object]:
    number, statement = numbered
    return {
        "n": number,
        "said": f"{statement.said_at:%Y-%m-%d}",
        **({"by": statement.speaker} if statement.speaker else {}),
        "text": statement.text,
        **({"partly_outdated": True} if statement.outdated else {}),
    }
