"""Profiles of users and of groups."""

from __future__ import annotations

import json
import zlib
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from api.http.sessions.answers import GroupProfile, UserProfile
from api.ingress.answers import Responses, answers
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Dependencies, Reader, author
from api.ingress.large_json import Route
from core.errors import NotFound
from core.reflection import profile, profile_attributes
from core.reflection.profile import ProfileOwner, StoredProfile
from core.sessions import known_owners
from core.sessions.known_owners import Kind
from core.tenancy.tenants import Caller

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

Fresh = Annotated[
    bool, Query(description="Rebuild the profile now; it is stored only if the key has the scope `write`")
]
Least = Annotated[float, Query(ge=0, le=1, description="Minimum confidence of attributes")]
IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match", description="ETag of the profile you have")]


UNCHANGED: Final[Responses] = {304: {"description": "Unchanged since the version that you have"}}


@router.get(
    "/users/{user_id:path}/profile",
    response_model=None,
    operation_id="getUserProfile",
    responses=answers(UserProfile) | UNCHANGED,
)
def get_user_profile(
    deps: ReaderDeps,
    caller: Reader,
    user_id: str,
    fresh: Fresh = False,
    min_confidence: Least = 0.0,
    held: IfNoneMatch = None,
) -> Response:
    """Return the profile of a user: slots, lists, preferences, habits, goals and topics, each with its memories."""
    owner = ProfileOwner(user_id=user_id)
    return _answer(owner, _require_profile(deps, caller, owner, fresh=fresh), min_confidence, held)


@router.get(
    "/groups/{group_id:path}/profile",
    response_model=None,
    operation_id="getGroupProfile",
    responses=answers(GroupProfile) | UNCHANGED,
)
def get_group_profile(
    deps: ReaderDeps,
    caller: Reader,
    group_id: str,
    fresh: Fresh = False,
    min_confidence: Least = 0.0,
    held: IfNoneMatch = None,
) -> Response:
    """Return the profile of a group: members, shared topics, decisions, events and facts, from its conversations."""
    owner = ProfileOwner(group_id=group_id)
    return _answer(owner, _require_profile(deps, caller, owner, fresh=fresh), min_confidence, held)


def _require_profile(deps: Dependencies, caller: Caller, owner: ProfileOwner, *, fresh: bool) -> StoredProfile:
    current = profile.current(deps.db, caller.tenant_id, owner, author(caller), fresh=fresh, keep=caller.may("write"))
    if current is not None and current.attributes:
        return current
    kind: Kind = "user" if owner.group_id is None else "group"
    with deps.db.tenant(caller.tenant_id) as tx:
        held_of = known_owners.get(tx, kind, owner.user_id or owner.group_id or "")
    if held_of is None or not held_of.memories.count:
        raise NotFound(
            f"Nothing is known of {owner.key} yet. Publish messages with POST /v1/events or store a memory, then "
            "ask again; `?fresh=true` does not wait for a rule to build it."
        )
    # Episodes and skills fill no line of a profile.
    return current or StoredProfile(0, {}, held_of.last_at, None)


def _answer(owner: ProfileOwner, current: StoredProfile, least: float, held: str | None) -> Response:
    """Return the profile, or 304 if the caller has this version."""
    tag = _tag(current)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if held is not None and tag in {etag.strip().removeprefix("W/") for etag in held.split(",")}:
        return Response(status_code=304, headers=headers)
    attributes = profile_attributes.confident(current.attributes, least) if least else current.attributes
    answer = {
        **owner.as_json(),
        "version": current.version,
        "built_at": current.built_at.isoformat(),
        "until": current.until and current.until.isoformat(),
        "attributes": attributes,
    }
    return JSONResponse(answer, headers=headers)


def _tag(current: StoredProfile) -> str:
    """Return an ETag of version and content, because the profile of an erased owner starts at version 1 again."""
    encoded = json.dumps(current.attributes, sort_keys=True).encode()
    return f'"{current.version}-{zlib.crc32(encoded):08x}"'
