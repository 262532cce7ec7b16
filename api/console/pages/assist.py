"""Data for the scripts of the pages: schema and words of the rule editor, entries of the command palette."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Annotated, Final

from fastapi import Query
from fastapi.responses import JSONResponse, Response

from api.console import finds, vocabulary
from api.console.calls import Api, ApiCalls, together
from api.console.finds import Find
from api.console.routing import Rendering, at, page

RECENT: Final = 100
"""Events that are looked at: for fields beside the documented ones, and for words."""

SESSIONS: Final = 200
"""Sessions whose users are offered."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


@page("/rules/schema.json")
async def get_rule_words(api: ApiCalls) -> Response:
    """Return the JSON Schema of rules, and the fields of events by type."""
    schema, reference, events = await together(
        api.get("/v1/rules/schema"), api.get("/asyncapi.json"), api.get("/v1/events", limit=RECENT)
    )
    return JSONResponse({"schema": schema, "events": vocabulary.of_events(reference, events["items"])})


@page("/palette")
async def get_palette(api: ApiCalls, pages: Rendering, q: Annotated[str, Query(max_length=300)] = "") -> Response:
    """Return what the characters may mean, by kind, as options of the palette."""
    term = q.strip()
    results = await _finds_for(api, term) if term else []
    groups = [(kind, list(ones)) for kind, ones in groupby(results, key=lambda find: find.kind)]
    return pages.page("palette_finds.html", word=term, groups=groups)


async def _finds_for(api: Api, term: str) -> list[Find]:
    if _UUID.fullmatch(term):
        return await _of_id(api, term)
    rules, sessions, events = await together(
        api.get("/v1/rules"), api.get("/v1/sessions", limit=SESSIONS), api.get("/v1/events", limit=RECENT)
    )
    lower = term.lower()
    return [
        *finds.of_rules(rules["items"], lower),
        *finds.of_users(sessions["items"], lower),
        *finds.of_events(events["items"], lower),
    ]


async def _of_id(api: Api, identifier: str) -> list[Find]:
    memory, dispatch, event = await together(
        api.find(at("memories", identifier)), api.find(at("dispatches", identifier)), api.find(at("events", identifier))
    )
    made = ((memory, finds.of_memory), (dispatch, finds.of_dispatch), (event, finds.of_event))
    return [find(entity) for entity, find in made if entity]
