"""Ids as people type them: lists print the last eight characters, and commands take four or more of them.

A whole id is taken as it is. An event is also named by its place in the log, which lists print.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote
from uuid import UUID

import typer

from api.cli.client import Client, open_client
from core.errors import ImprintError
from core.events import identifiers
from core.types import Json

Kind = Literal["memory", "change", "document", "dispatch", "forgetting", "rebuild", "receipt"]

SHORT: Final = 8
"""Characters that lists print: in a million ids, one in four thousand ends like another one."""

LEAST: Final = 4

_END: Final = re.compile(f"[0-9a-f-]{{{LEAST},36}}")

_LISTS: Final = {
    "memory": "imprint memory list",
    "change": "imprint memory decisions",
    "document": "imprint documents list",
    "dispatch": "imprint dead list` or `imprint approvals list",
    "forgetting": "imprint memory forgettings",
    "rebuild": "imprint memory rebuild --list",
    "receipt": "imprint user erase` or `imprint memory forget",
    "key": "imprint keys list",
}
"""The command that prints ids of a kind."""


class UnknownId(ImprintError):
    """No id ends with these characters."""


class AmbiguousId(ImprintError):
    """Several ids end with these characters."""


def short(whole: object) -> str:
    """Return the end of an id for a list; ids that publishers chose stay as they are."""
    text = str(whole)
    return text[-SHORT:] if len(text) in {32, 36} and identifiers.is_uuid(text) else text


def typed(given: str) -> str:
    """Parse an id or the end of one. BadParameter: it is neither."""
    text = given.strip().lower().lstrip("…")
    if identifiers.is_uuid(text):
        return str(UUID(text))
    if _END.fullmatch(text) and len(text.replace("-", "")) >= LEAST:
        return text
    advice = "give its last four or more characters, as lists print them (1d5743a6), or all of it."
    raise typer.BadParameter(f"{given!r} is no id: {advice}")


def resolve(client: Client, kind: Kind, given: str) -> str:
    """Return the whole id. UnknownId or AmbiguousId: not exactly one ends like this."""
    if identifiers.is_uuid(given):
        return given
    matches = client.get("/v1/ids", type=kind, ends_with=given.replace("-", "")[-SHORT:])["items"]
    return choose(kind, given, [item["id"] for item in matches])


def choose(kind: str, given: str, ids: list[str]) -> str:
    """Return the one of these ids that ends with the given characters."""
    ending = given.replace("-", "")
    fits = [candidate for candidate in ids if candidate.replace("-", "").endswith(ending)]
    if len(fits) > 1:
        listed = "\n".join(f"  {candidate}" for candidate in fits)
        raise AmbiguousId(f"Several ids end with {given!r}; give more characters:\n{listed}")
    if not fits:
        raise UnknownId(f"No {kind} has an id that ends with {given!r}; `{_LISTS[kind]}` prints ids.")
    return fits[0]


def call(method: str, kind: Kind, given: str, path: str, *body: Json, **params: Any) -> Any:
    """Return one answer about what an id names; `{id}` in the path stands for the whole id. `method`: of the client."""
    with open_client() as client:
        return getattr(client, method)(path.format(id=resolve(client, kind, given)), *body, **params)


def read(kind: Kind, given: str, path: str, **params: Any) -> Any:
    """Return the answer to a GET about what an id names."""
    return call("get", kind, given, path, **params)


def event(client: Client, given: str) -> str:
    """Return the id of the event at a place in the log, or the id that was given."""
    if not given.isdigit():
        return given
    events = client.get("/v1/events", after=int(given) + 1, limit=1)["items"]
    if events and events[0]["seq"] == int(given):
        return str(events[0]["id"])
    if client.find(f"/v1/events/{quote(given, safe='')}") is not None:
        return given  # A publisher numbered its events.
    raise UnknownId(
        f"There is no event at place {given} of the log, or it is another tenant's; see `imprint events tail`."
    )


MemoryId = Annotated[
    str,
    typer.Argument(
        parser=typed, metavar="MEMORY_ID", help="Id from `imprint memory list`: its last 4 or more characters."
    ),
]
DocumentId = Annotated[
    str, typer.Argument(parser=typed, metavar="DOCUMENT_ID", help="Id as printed by `imprint documents list`.")
]
