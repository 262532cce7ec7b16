"""API keys of the tenant: list, create, revoke."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from api.ingress.answers import refuses, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Admin, Dependencies, Deps, Limit, any_caller, any_key, require_scope
from api.ingress.large_json import Route
from core.errors import Conflict
from core.events.parsing import Label, Name
from core.tenancy import tenants
from core.tenancy.tenants import MOST_LABELS, Caller

router = APIRouter(prefix="/v1/keys", tags=["tenant"], route_class=Route)

Scope = Literal["publish", "read", "write", "rules", "raw", "admin"]


class KeyRequest(RequestBody):
    """A key to create."""

    scopes: Annotated[list[Scope], Field(min_length=1, max_length=6)]
    name: Annotated[Name | None, Field(description="What it is for")] = None
    labels: Annotated[
        list[Label] | None,
        Field(
            max_length=MOST_LABELS, description="All that it may read of what has audience labels; default: anything"
        ),
    ] = None


class ShownKey(BaseModel):
    """A key without its secret. `last_used_at` is true to within a minute."""

    id: str
    name: str | None
    scopes: list[str]
    labels: list[str] | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    own: Annotated[bool, Field(description="The key of this request")]


class CreatedKey(BaseModel):
    """A new key; `key` is shown once, and only its hash is stored."""

    id: str
    key: str
    name: str | None
    scopes: list[str]
    labels: list[str] | None


class Keys(BaseModel):
    """A page of keys."""

    items: list[ShownKey]
    next: str | None


@router.get("", operation_id="listKeys")
def get_keys(
    deps: Deps,
    caller: Admin,
    after: Annotated[str | None, Field(max_length=32, description="`next` of the previous page")] = None,
    limit: Limit = 100,
) -> Keys:
    """List the keys of the tenant, newest first, with scopes, labels and last use; never a key itself."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = tenants.keys(tx, before=after, limit=limit)
    items = [ShownKey(**shown(ShownKey, key, own=key.id == caller.key_id)) for key in rows]
    return Keys(items=items, next=rows[-1].id if len(rows) == limit else None)


class OwnKey(BaseModel):
    """The key of a request: what it may do, and what it can read. `labels` null: whatever labels."""

    id: str
    tenant_id: str
    scopes: list[str]
    labels: list[str] | None


@router.get("/own", operation_id="getOwnKey", dependencies=[Depends(any_key)])
def get_own_key(caller: Annotated[Caller, Depends(any_caller)]) -> OwnKey:
    """Show the scopes and labels of the key of this request; any key may ask. `admin` includes all other scopes."""
    labels = None if caller.labels is None else sorted(caller.labels)
    return OwnKey(id=caller.key_id, tenant_id=caller.tenant_id, scopes=sorted(caller.scopes), labels=labels)


@router.post("", status_code=201, operation_id="createKey", responses=refuses(409))
def post_key(deps: Deps, caller: Admin, request: KeyRequest) -> CreatedKey:
    """Create a key; the answer is the only one that shows it.

    It can have no scope that the key of the request lacks.
    """
    for scope in request.scopes:
        require_scope(caller, scope)
    with deps.db.tenant(caller.tenant_id) as tx:
        tenants.require_room(tx)
        key_id, key = tenants.create_key(tx, caller.tenant_id, request.scopes, request.name, request.labels)
    labels = None if request.labels is None else sorted(set(request.labels))
    return CreatedKey(id=key_id, key=key, name=request.name, scopes=sorted(set(request.scopes)), labels=labels)


@router.delete("/{key_id}", status_code=204, operation_id="revokeKey", responses=refuses(404, 409))
def delete_key(deps: Deps, caller: Admin, key_id: str) -> Response:
    """Revoke a key; all processes refuse it within 5 seconds. 409: it is the key of this request."""
    if key_id == caller.key_id:
        raise Conflict("A key cannot revoke itself; use another one with the scope `admin`.")
    with deps.db.tenant(caller.tenant_id) as tx:
        tenants.revoke_key(tx, key_id)
    _forget(deps, key_id)
    return Response(status_code=204)


def _forget(deps: Dependencies, key_id: str) -> None:
    """Look the key up again with its next request to this process."""
    for key, (_, holder) in list(deps.keys.items()):
        if holder.key_id == key_id:
            deps.keys.pop(key, None)
