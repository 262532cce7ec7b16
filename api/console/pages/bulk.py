"""Several memories at once: a job that previews what would happen to each row, then the same rows for good."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from fastapi.responses import Response

from api.console.calls import Api, ApiCalls, together
from api.console.routing import Form, FormLists, Rendering, at, go_to, page
from core.types import Json

ACTIONS: Final = ("pin", "unpin", "archive", "restore", "merge", "erase")
OUTCOMES: Final = ("done", "unchanged", "refused")

FILTER: Final = ("user_id", "group_id", "q", "category", "status", "trust")
"""Conditions of the table of memories by which a job chooses."""

ROWS: Final = 50

JOBS: Final = "/v1/memories/bulk/jobs"

Outcome = Annotated[str, Query(pattern="^(done|unchanged|refused)?$")]
After = Annotated[int, Query(ge=0)]


@page("/bulk")
async def get_jobs(api: ApiCalls, pages: Rendering, after: Annotated[str, Query(max_length=100)] = "") -> Response:
    listing = await api.get(JOBS, after=after, limit=50)
    return pages.page("bulk_jobs.html", jobs=listing["items"], following=listing["next"])


@page("/bulk", method="POST")
async def post_job(api: ApiCalls, pages: Rendering, form: FormLists) -> Response:
    """Begin the preview of an action on the ticked memories, or on all that match the filter of the table."""
    body: Json = {"action": form.get("action", [""])[-1]}
    if form.get("scope", [""])[-1] == "all":
        given = {name: form.get(f"filter_{name}", [""])[-1].strip() for name in FILTER}
        body["filter"] = {name: value for name, value in given.items() if value}
    elif ids := form.get("id", []):
        body["ids"] = ids
    else:
        return pages.notice("bulk.none", bad=True)
    return _to(await api.post(JOBS, body))


@page("/bulk/{job_id}")
async def get_job(api: ApiCalls, pages: Rendering, job_id: str, outcome: Outcome = "", after: After = 0) -> Response:
    return pages.page("bulk_job.html", **await _job_with_rows(api, job_id, outcome, after))


@page("/bulk/{job_id}/standing")
async def get_standing(
    api: ApiCalls, pages: Rendering, job_id: str, outcome: Outcome = "", after: After = 0
) -> Response:
    """Return the part of the page that changes while the job runs."""
    return pages.page("bulk_standing.html", **await _job_with_rows(api, job_id, outcome, after))


@page("/bulk/{job_id}/run", method="POST")
async def post_run(api: ApiCalls, pages: Rendering, form: Form, job_id: str) -> Response:
    """Carry a preview out, when the number of its rows was typed."""
    preview = await api.get(at("memories", "bulk", "jobs", job_id))
    typed = form.get("confirm", "").strip()
    if typed != str(preview["rows"]):
        return pages.notice("bulk.mismatch", bad=True)
    body: Json = {"confirm": preview["rows"]} if preview["action"] == "erase" else {}
    reason = form.get("reason", "").strip()
    return _to(
        await api.post(f"{at('memories', 'bulk', 'jobs', job_id)}/run", body | ({"reason": reason} if reason else {}))
    )


@page("/bulk/{job_id}/cancel", method="POST")
async def post_cancel(api: ApiCalls, job_id: str) -> Response:
    return _to(await api.post(f"{at('memories', 'bulk', 'jobs', job_id)}/cancel", {}))


async def _job_with_rows(api: Api, job_id: str, outcome: str, after: int) -> dict[str, Any]:
    """Return a job with a page of its rows, and the memories of these that are still there."""
    path = at("memories", "bulk", "jobs", job_id)
    job, rows = await together(api.get(path), api.get(f"{path}/rows", outcome=outcome, after=after, limit=ROWS))
    ids = [row["memory_id"] for row in rows["items"]]
    memories = (await api.post("/v1/memories/fetch", {"ids": ids}))["items"] if ids else []
    return {
        "job": job,
        "rows": rows["items"],
        "following": rows["next"],
        "memories": {memory["id"]: memory for memory in memories},
        "outcome": outcome,
        "after": after,
        "outcomes": OUTCOMES,
    }


def _to(job: Json) -> Response:
    return go_to(f"/console/bulk/{job['id']}")
