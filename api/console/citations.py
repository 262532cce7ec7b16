"""Evidence of a memory in its conversation: the cited messages with those before and after, the passages marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.console.calls import Api, together
from core.types import Json

SHOWN: Final = 6
"""Citations whose conversation is read; of further ones the quote alone is shown."""

AROUND: Final = 5
"""Messages read of a conversation for each citation, the cited one in the middle."""


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of the conversation. `source`: what cites it; its passage stands between `before` and `after`."""

    message: Json
    before: str
    quoted: str
    after: str
    source: Json | None


@dataclass(frozen=True, slots=True)
class Passage:
    """Messages that follow each other, with what cites them.

    `messages`: empty if the conversation is not kept, not shown, or the only source is no message.
    """

    sources: Sequence[Json]
    messages: Sequence[ShownMessage]


async def read(api: Api, sources: Sequence[Json]) -> list[Passage]:
    """Return the passages that the sources cite, in the order of the first source of each."""
    spoken = [source for source in sources if source["session_id"]][:SHOWN]
    pages = await together(
        *(
            api.find("/v1/session/messages", session_id=source["session_id"], around=source["message_id"], limit=AROUND)
            for source in spoken
        )
    )
    sessions: dict[str, dict[int, Json]] = {}
    for source, page in zip(spoken, pages, strict=True):
        sessions.setdefault(source["session_id"], {}).update(
            {each["position"]: each for each in (page or {"items": []})["items"]}
        )
    return passages(sources, sessions)


def passages(sources: Sequence[Json], sessions: Mapping[str, Mapping[int, Json]]) -> list[Passage]:
    """Return the passages that the sources cite; `sessions`: the messages read, by session and position."""
    collected = [
        Passage(cited, [marked(message, cited) for message in run])
        for session_id, messages in sessions.items()
        for run in _runs(messages)
        if (cited := [s for s in sources if s["session_id"] == session_id and s["message_id"] in _ids(run)])
    ]
    included = [id(source) for passage in collected for source in passage.sources]
    collected += [Passage([source], []) for source in sources if id(source) not in included]
    order = {id(source): position for position, source in enumerate(sources)}
    return sorted(collected, key=lambda passage: order[id(passage.sources[0])])


def _runs(messages: Mapping[int, Json]) -> Iterator[list[Json]]:
    """Yield messages without a gap between them."""
    run: list[Json] = []
    for position in sorted(messages):
        if run and position != run[-1]["position"] + 1:
            yield run
            run = []
        run.append(messages[position])
    if run:
        yield run


def _ids(messages: Sequence[Json]) -> frozenset[str]:
    return frozenset(message["id"] for message in messages)


def marked(message: Json, cited: Sequence[Json]) -> ShownMessage:
    """Return a message with the quoted passage apart; a cited message without its passage is quoted whole."""
    content = message["content"]
    source = next((candidate for candidate in cited if candidate["message_id"] == message["id"]), None)
    if source is None:
        return ShownMessage(message, content, "", "", None)
    before, quoted, after = content.partition(source["quote"]) if source["quote"] else ("", content, "")
    if not quoted:  # The wording of the quote is another, for instance without a secret.
        before, quoted, after = "", content, ""
    return ShownMessage(message, before, quoted, after, source)
