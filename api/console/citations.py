"""Evidence of a memory in its conversation: the cited messages with those before and after, the passage marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.console.calls import Api, together
from core.types import Json

SHOWN: Final = 6
"""Citations whose conversation is read; of further ones the quote alone is shown."""

AROUND: Final = 5
"""Messages that are shown of a conversation, the cited one in the middle."""


@dataclass(frozen=True, slots=True)
class CitedMessage:
    """A message of the conversation. `quoted`: the cited passage, between `before` and `after`; empty: none."""

    message: Json
    before: str
    quoted: str
    after: str
    is_cited: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of evidence; `messages`: empty if its conversation is not kept, not shown, or it is no message."""

    source: Json
    messages: Sequence[CitedMessage]


async def read(api: Api, sources: Sequence[Json]) -> list[Citation]:
    """Return each citation with its conversation."""
    spoken = [one for one in sources if one["session_id"]][:SHOWN]
    pages = await together(
        *(
            api.find("/v1/session/messages", session_id=one["session_id"], around=one["message_id"], limit=AROUND)
            for one in spoken
        )
    )
    found = {_place(one): page["items"] for one, page in zip(spoken, pages, strict=True) if page}
    return [Citation(one, [marked(each, one) for each in found.get(_place(one), ())]) for one in sources]


def marked(message: Json, source: Json) -> CitedMessage:
    """Return a message with the quoted passage apart; a cited message without its passage is quoted whole."""
    content = message["content"]
    if message["id"] != source["message_id"]:
        return CitedMessage(message, content, "", "", is_cited=False)
    before, quoted, after = content.partition(source["quote"]) if source["quote"] else ("", content, "")
    if not quoted:  # The wording of the quote is another, for instance without a secret.
        before, quoted, after = "", content, ""
    return CitedMessage(message, before, quoted, after, is_cited=True)


def _place(source: Json) -> tuple[str, str]:
    return source["session_id"], source["message_id"]
