"""An OpenAI-compatible server over real HTTP that answers as a test says: well, badly, late, or not at all.

`well`; `slow`: well, after `slow_seconds`; `prose` and `fenced`: well, with words around the JSON; `truncated`: cut off
in the middle; `types`: the right fields with wrong values; `garbage`: no JSON; `page`: the answer of something else;
`429`, with Retry-After; `500`; `never`: the connection is held until who asked gives up.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests import servers
from tests.servers import Handler

RETRY_AFTER_SECONDS = 2

Json = dict[str, Any]


class Model:
    """What the server answers next, and what it was asked when; `script` is used up, then it answers well.

    Of pairs of statements it says `word`, by a script and with questions of their own. Of a window of messages it says
    what `reads` makes of it, by default the umbrellas; `windows` holds the fresh messages of each it was shown. To a
    question about what is remembered it answers by `answers`.
    """

    def __init__(self) -> None:
        self.script: list[str] = []
        self.asked: list[tuple[float, str]] = []
        self.windows: list[list[Json]] = []
        self.questions: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.reads: Callable[[list[Json]], Json] = umbrellas
        self.answers: Callable[[Json], Json] = not_known
        self.word = "different"
        self.script_of_pairs: list[str] = []
        self.pairs: list[Json] = []
        self.slow_seconds = 60.0
        self.url = ""
        self.ended = threading.Event()

    def next(self, asked: Json) -> str:
        if is_of_pairs(asked):
            self.pairs += pairs_of(asked)
            return self.script_of_pairs.pop(0) if self.script_of_pairs else "well"
        how = self.script.pop(0) if self.script else "well"
        self.questions.append(asked)
        if is_of_window(asked):
            self.windows.append(fresh_of(asked))
        self.asked.append((time.monotonic(), how))
        return how

    def content(self, asked: Json, how: str) -> str:
        """What the model writes."""
        if is_of_pairs(asked):
            answer = opinions(asked, self.word)
        else:
            answer = self.reads(fresh_of(asked)) if is_of_window(asked) else {"memories": []}
            answer = self.answers(asked) if shape_of(asked) == "answerfromlines" else answer
        whole = json.dumps(answer, ensure_ascii=False)
        written = {
            "garbage": "I would rather write a poem.",
            "truncated": whole[: len(whole) // 2],
            "types": json.dumps(dict.fromkeys(answer, "three")),
            "prose": f"Here is what I found {{as you asked}}:\n\n{whole}\n\nAnything else?",
            "fenced": f"Sure!\n```json\n{whole}\n```",
        }
        return written.get(how, whole)

    def answer(self, asked: Json, how: str) -> tuple[int, object, dict[str, str]] | None:
        """Status, body and headers of what is answered, when it is; None: nothing ever is."""
        if how == "never":
            self.ended.wait()
            return None
        if how == "slow":
            self.ended.wait(self.slow_seconds)
        refusals: dict[str, tuple[int, object, dict[str, str]]] = {
            "429": (429, {"error": {"message": "slow down"}}, {"Retry-After": str(RETRY_AFTER_SECONDS)}),
            "500": (500, {"error": {"message": "out of order"}}, {}),
            "page": (200, "<html>Please log in.</html>", {"Content-Type": "text/html"}),
        }
        return refusals[how] if how in refusals else (200, completion(self.content(asked, how), how), {})


@contextmanager
def serving() -> Iterator[Model]:
    """A model on a free loopback port."""
    model = Model()

    class Answering(Handler):
        def do_POST(self) -> None:
            asked = self.body()
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = model.answer(asked, model.next(asked))
            self.close_connection = answer is None
            if answer is not None:
                # Who asked may have been killed meanwhile, or have given up; that is the point of the test.
                with suppress(BrokenPipeError, ConnectionResetError):
                    status, body, headers = answer
                    self.answer(status, json.dumps(body).encode(), headers)

    with servers.serving(Answering) as url:
        model.url = f"{url}/v1"
        try:
            yield model
        finally:
            model.ended.set()


def shape_of(asked: Json) -> str:
    """The name of the shape in which the answer is wanted; empty: none is named."""
    return str(asked.get("response_format", {}).get("json_schema", {}).get("name", ""))


def is_of_pairs(asked: Json) -> bool:
    """Whether it is a question about pairs of statements, and not about messages."""
    return shape_of(asked) == "opinions"


def is_of_window(asked: Json) -> bool:
    """Whether it is a question about a window of messages."""
    return shape_of(asked) == "extraction"


def pairs_of(asked: Json) -> list[Json]:
    """The pairs that are put before the model."""
    return [json.loads(line) for line in asked["messages"][1]["content"].split("\n") if line]


def fresh_of(asked: Json) -> list[Json]:
    """The new messages of a window that is put before the model."""
    _, _, new = asked["messages"][1]["content"].rpartition("## New\n")
    return [json.loads(line) for line in new.partition("\n\n")[0].split("\n") if line]


def not_known(_asked: Json) -> Json:
    """The answer of a model that finds none."""
    return {"answerable": False, "answer": "", "lines": []}


def opinions(asked: Json, word: str) -> Json:
    """The same of every pair."""
    return {"opinions": [{"pair": pair["pair"], "verdict": word} for pair in pairs_of(asked)]}


def umbrellas(fresh: list[Json]) -> Json:
    """One statement for each new message that names an umbrella, citing it; and one unit of them all."""
    named = [(one, found[1]) for one in fresh if (found := re.search(r"umbrella (\w+)", one["text"]))]
    return {
        "statements": [
            statement(f"Ada's umbrella {umbrella} is in the drawer.", [one["n"]], subject=one["who"])
            for one, umbrella in named
        ],
        "units": [unit("Umbrellas", [one["n"] for one in fresh])],
    }


def statement(content: str, messages: list[int], **more: Any) -> Json:
    """A statement as a model writes it down."""
    return {
        "content": content,
        "category": "fact",
        "topic": "other",
        "subject": "Ada",
        "also": [],
        "attribute": None,
        "value": None,
        "occurred_at": None,
        "importance": 0.5,
        "confidence": 0.9,
        "corrects": False,
        "same_as": None,
        "more_of": None,
        "ends": [],
        "messages": messages,
        **more,
    }


def unit(subject: str, messages: list[int], **more: Any) -> Json:
    """A unit of talk as a model tells it."""
    told = f"They talked about {subject}."
    return {"subject": subject, "summary": told, "narrative": told, "keywords": [subject], "messages": messages, **more}


def completion(content: str, how: str = "well") -> Json:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length" if how == "truncated" else "stop",
                "message": {"role": "assistant", "content": content},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
