"""Dry run: what a pasted conversation would become. Nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Form, Rendering, page
from core.types import Json

ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool", "ai": "assistant"}

_SAID: Final = re.compile(r"(?P<who>[^\s:：][^:：]{0,40})\s*[:：]\s*(?P<text>\S.*)", re.DOTALL)
"""A line with its speaker in front: `Ada: I like tea.`"""


@page("/try")
async def get_try(pages: Rendering) -> Response:
    return pages.page("try.html")


@page("/try", method="POST")
async def post_try(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    messages = list(messages_of(form.get("text", "")))
    options = {name: form[name] for name in ("group_id", "extractor") if form.get(name)}
    body = {"user_id": form.get("user_id", ""), "messages": messages, **options}
    preview = await api.post("/v1/extraction/preview", body)
    return pages.page("tried.html", found=preview, messages=messages)


def messages_of(text: str) -> Iterator[Json]:
    """Yield a message for each line; `assistant: …` names its role, another name before a colon its speaker."""
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _SAID.fullmatch(line)
        if match is None:
            yield {"role": "user", "content": line}
        elif role := ROLES.get(match["who"].lower()):
            yield {"role": role, "content": match["text"]}
        else:
            yield {"role": "user", "speaker": match["who"], "content": match["text"]}
