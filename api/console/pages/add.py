"""Beginning: a conversation that is pasted, a file, a line for the shell, or the demo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response
from uuid_utils.compat import uuid7

from api.console.calls import ApiCalls
from api.console.pages.dry_run import messages_of
from api.console.routing import Form, Rendering, Text, go_to, page

SHOWN: Final = 50
"""Messages of a pasted conversation that are shown before it is imported."""


@page("/add")
async def get_add(request: Request, pages: Rendering, user_id: Text = "") -> Response:
    return pages.page("add.html", url=url_of(request), user_id=user_id)


@page("/add/paste", method="POST")
async def post_paste(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Show what a pasted text holds, or import it and lead to the live page, where its memories appear."""
    text, user_id, session = form.get("text", ""), form.get("user_id", ""), form.get("session") or f"pasted-{uuid7()}"
    raw, messages = read(text, session)
    query: dict[str, Any] = {"user_id": user_id}
    if form.get("step") == "import":
        await api.send("/v1/import", raw, dry_run="false", **query)
        return go_to(f"/console?added={quote(session, safe='')}")
    report = await api.send("/v1/import", raw, dry_run="true", **query)
    return pages.page(
        "add_preview.html", found=report, messages=messages, shown=SHOWN, text=text, user_id=user_id, session=session
    )


@page("/add/result")
async def get_result(api: ApiCalls, pages: Rendering, session_id: Text) -> Response:
    """Show what is remembered of a conversation so far."""
    listing = await api.get("/v1/memories", session_id=session_id, limit=20)
    return pages.page("add_result.html", memories=listing["items"], added=session_id)


def read(text: str, session: str) -> tuple[bytes, list[dict[str, Any]]]:
    """Return a pasted text as an import takes it, and its messages where it is a conversation in plain lines.

    What is JSON is left as it is: the import recognises its format.
    """
    if is_json(text):
        return text.encode(), []
    messages = list(messages_of(text))
    return b"\n".join(lines_of(messages, session)), messages


def lines_of(messages: list[dict[str, Any]], session: str) -> Iterator[bytes]:
    """Yield messages as lines of the format that is called `messages`."""
    for number, message in enumerate(messages):
        yield json.dumps({**message, "session_id": session, "id": f"{session}:{number}"}, ensure_ascii=False).encode()


def is_json(text: str) -> bool:
    """Return whether a text is one JSON value, or a line of JSON objects each."""
    begins = text.lstrip()[:1]
    if begins not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except ValueError:
        return all(_is_object(line) for line in text.splitlines() if line.strip())
    return True


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def url_of(request: Request) -> str:
    """Return the address of this server as the browser knows it."""
    return f"{request.url.scheme}://{request.headers.get('host', request.url.netloc)}"
