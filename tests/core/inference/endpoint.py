"""An endpoint that answers as the test tells it, and the form of the answers asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from tests.servers import Handler, serving


class Mood(StrEnum):
    GLAD = "glad"
    SAD = "sad"


class Place(BaseModel):
    """Where something is."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=20, pattern="^[A-Z]")]
    format: str | None = None


class Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: Annotated[str, Field(min_length=1)]
    share: Annotated[float, Field(ge=0, le=1)]
    mood: Mood = Mood.GLAD
    said: AwareDatetime | None = None
    on: date | None = None
    kind: Literal["fact"] = "fact"
    place: Place | None = Field(None, description="Where it is.")


class Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    facts: Annotated[list[Fact], Field(max_length=3)]


GOOD = {"facts": [{"content": "Ada lives in Turin.", "share": 0.5}]}


class Endpoint:
    """What was asked, and what is answered, one after the other; the last one again and again."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.url = ""

    def next(self, body: Any) -> tuple[int, str, dict[str, str]]:
        self.asked.append(body)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        status, content, headers = answer if isinstance(answer, tuple) else (200, answer, {})
        return status, content if isinstance(content, str) else json.dumps(content), headers

    @property
    def formats(self) -> list[str]:
        return [body.get("response_format", {}).get("type", "none") for body in self.asked]


@contextmanager
def endpoint(*answers: Any) -> Iterator[Endpoint]:
    there = Endpoint(*answers)

    class Answering(Handler):
        def do_POST(self) -> None:
            status, content, headers = there.next(self.body())
            self.answer(status, content.encode(), headers)

    with serving(Answering) as url:
        there.url = f"{url}/v1"
        yield there


def reply(content: object, *, ended: str = "stop", usage: Any = (10, 5), **message: Any) -> dict[str, Any]:
    """A completion, as the endpoint says it."""
    text = content if isinstance(content, str | list) or content is None else json.dumps(content)
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
    told = {"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": text, **message}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [told], "usage": counted}


def refusal(status: int, message: str = "no", **headers: str) -> tuple[int, Any, dict[str, str]]:
    return status, {"error": {"message": message}}, headers


ADA = Facts.model_validate(GOOD)
