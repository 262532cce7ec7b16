"""Routes of the memories: reading and writing them, verdicts, disputes, jobs."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.memories import (
    bulk_changes,
    bulk_jobs,
    conflicts,
    decisions,
    entities,
    extraction_preview,
    graph,
    quarantine,
    reading,
    rebuilds,
    relations,
    timeline,
    writing,
)

router = APIRouter(
    routes=[
        route
        for part in (
            conflicts,
            quarantine,
            decisions,
            entities,
            relations,
            bulk_jobs,
            bulk_changes,
            graph,
            timeline,
            writing,
            reading,
            extraction_preview,
            rebuilds,
        )
        for route in part.router.routes
    ]
)
