"""What scripts of the pages ask for: the schema and the words of the rule editor, and finds of the command palette."""

from __future__ import annotations

from fastapi.responses import JSONResponse, Response

from api.console import vocabulary
from api.console.calls import ApiCalls, together
from api.console.routing import page

RECENT = 100
"""Events whose fields are offered beside the documented ones."""


@page("/rules/schema.json")
async def get_rule_words(api: ApiCalls) -> Response:
    """Return the JSON Schema of rules, and the fields of events by type."""
    schema, reference, events = await together(
        api.get("/v1/rules/schema"), api.get("/asyncapi.json"), api.get("/v1/events", limit=RECENT)
    )
    return JSONResponse({"schema": schema, "events": vocabulary.of_events(reference, events["items"])})
