"""Users, agents, apps and runs that have memories, in the shape of mem0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC

from fastapi.datastructures import URL

from api.compat import scopes
from api.ingress.dependencies import Dependencies
from core.browsing import owners
from core.browsing.owners import MemoryOwner
from core.tenancy.tenants import Caller
from core.types import Json


def entities(deps: Dependencies, caller: Caller, url: URL, page: int, size: int) -> Json:
    """Return a page of the owners of memories, and how many there are of each type."""
    with deps.db.tenant(caller.tenant_id) as tx:
        latest = owners.latest(tx)
    kinds = Counter(_type(owner) for owner in latest)
    totals = {f"total_{kind}s": kinds[kind] for kind in ("user", "agent", "app", "run")}
    return paged([_json(owner, caller.tenant_id) for owner in latest], url, page, size) | totals


def paged(items: Sequence[Json], url: URL, page: int, size: int) -> Json:
    """Return a page of a list that was read whole, with the addresses of those beside it."""
    start = (page - 1) * size
    following = url.include_query_params(page=page + 1) if start + size < len(items) else None
    before = url.include_query_params(page=page - 1) if page > 1 else None
    return {
        "count": len(items),
        "next": str(following) if following else None,
        "previous": str(before) if before else None,
        "results": items[start : start + size],
    }


def _type(owner: MemoryOwner) -> str:
    return scopes.entity_of(owner.user_id)[0].removesuffix("_id")


def _json(owner: MemoryOwner, tenant_id: str) -> Json:
    return {
        "id": owner.user_id,
        "name": scopes.entity_of(owner.user_id)[1],
        "type": _type(owner),
        "owner": tenant_id,
        "total_memories": owner.memories,
        "metadata": None,
        "created_at": owner.created_at.astimezone(UTC).isoformat(),
        "updated_at": owner.updated_at.astimezone(UTC).isoformat(),
    }
