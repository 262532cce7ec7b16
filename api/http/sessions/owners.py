"""Users and groups: lists of them by time and by name, and who spoke in a group."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from api.http.sessions.answers import GroupPage, GroupRow, MemberList, UserPage, UserRow, UserSettingsInForce
from api.ingress import paging
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Reader, Writer
from api.ingress.large_json import Route
from core.errors import Invalid, NotFound, Problem
from core.events.parsing import Name, Who
from core.sessions import known_owners, speaker_clocks
from core.sessions.known_owners import Kind, KnownOwner, OwnerFilter
from core.tenancy.tenants import Caller
from core.types import Json
from rules.document.fields import Zone

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)


class OwnerListRequest(RequestBody):
    """Which users or groups are listed, and in which order."""

    prefix: Annotated[Name | None, Field(description="Only ids that begin with this; they are listed by id")] = None
    order: Annotated[
        Literal["recent", "id"] | None,
        Field(
            description="`recent`: who was active last comes first, the default; `id`: by id, the default of `prefix`"
        ),
    ] = None
    after: Annotated[str | None, Field(max_length=400, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("/users", operation_id="listUsers", responses=answers(UserPage))
def get_users(deps: Deps, caller: Reader, request: Annotated[OwnerListRequest, Query()]) -> Json:
    """List the users of whom something is held, with their sessions and active memories, each counted up to 200."""
    return _page(deps, caller, "user", request)


@router.get("/groups", operation_id="listGroups", responses=answers(GroupPage))
def get_groups(deps: Deps, caller: Reader, request: Annotated[OwnerListRequest, Query()]) -> Json:
    """List the groups of which something is held, with their sessions and active memories, each counted up to 200."""
    return _page(deps, caller, "group", request)


class UserSettings(RequestBody):
    """Settings of a user."""

    time_zone: Annotated[
        Zone | None,
        Field(description="Zone of the user's clock, such as `Europe/Lisbon`, for times that come in UTC; null: UTC"),
    ]


@router.get("/users/{user_id:path}/settings", operation_id="getUserSettings", responses=answers(UserSettingsInForce))
def get_user_settings(deps: Deps, caller: Reader, user_id: str) -> Json:
    """Return the time zone that was set for a user; null: none was."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return {"user_id": user_id, "time_zone": speaker_clocks.get(tx, user_id)}


@router.put("/users/{user_id:path}/settings", operation_id="putUserSettings", responses=answers(UserSettingsInForce))
def put_user_settings(deps: Deps, caller: Writer, user_id: Annotated[Who, Path()], settings: UserSettings) -> Json:
    """Set a user's time zone: "yesterday" in a message whose time came in UTC is then the day before on that clock."""
    with deps.db.tenant(caller.tenant_id) as tx:
        speaker_clocks.put(tx, caller.tenant_id, user_id, settings.time_zone)
    return {"user_id": user_id, "time_zone": settings.time_zone}


@router.get(
    "/users/{user_id:path}/activity", operation_id="getUserActivity", responses=answers(UserRow, refusals=(404,))
)
def get_user(deps: Deps, caller: Reader, user_id: str) -> Json:
    """Return since when a user is known, when they were active last, and how many sessions and memories there are."""
    return _entry_of(deps, caller, "user", user_id)


@router.get(
    "/groups/{group_id:path}/activity", operation_id="getGroupActivity", responses=answers(GroupRow, refusals=(404,))
)
def get_group(deps: Deps, caller: Reader, group_id: str) -> Json:
    """Return since when a group is known, when it was active last, and how many sessions and memories there are."""
    return _entry_of(deps, caller, "group", group_id)


@router.get(
    "/groups/{group_id:path}/members", operation_id="getGroupMembers", responses=answers(MemberList, refusals=(404,))
)
def get_members(deps: Deps, caller: Reader, group_id: str) -> Json:
    """Return who spoke in the latest 50 sessions of a group, as far as their latest 200 messages say."""
    with deps.db.tenant(caller.tenant_id) as tx:
        if known_owners.get(tx, "group", group_id) is None:
            raise _unknown("group", group_id)
        return {"items": [asdict(member) for member in known_owners.members(tx, group_id)]}


def _page(deps: Dependencies, caller: Caller, kind: Kind, request: OwnerListRequest) -> Json:
    order = request.order or ("id" if request.prefix else "recent")
    if request.prefix and order == "recent":
        raise Invalid([Problem("/order", "must be `id` with a prefix; or leave it out")])
    after = None if request.after is None else _place(request.after, order)
    owner_filter = OwnerFilter(kind, request.prefix or "", order, after, request.limit)
    with deps.db.tenant(caller.tenant_id) as tx:
        owners = known_owners.find(tx, owner_filter)
    more = len(owners) == request.limit
    return {"items": [_json(kind, owner) for owner in owners], "next": _cursor(order, owners[-1]) if more else None}


def _entry_of(deps: Dependencies, caller: Caller, kind: Kind, name: str) -> Json:
    with deps.db.tenant(caller.tenant_id) as tx:
        owner = known_owners.get(tx, kind, name)
    if owner is None:
        raise _unknown(kind, name)
    return _json(kind, owner)


def _unknown(kind: Kind, name: str) -> NotFound:
    return NotFound(
        f"Nothing is held of a {kind} {name!r} in this tenant. `GET /v1/{kind}s` lists those that there are."
    )


def _json(kind: Kind, owner: KnownOwner) -> Json:
    fields = asdict(owner)
    return {f"{kind}_id": fields.pop("id"), **fields}


def _cursor(order: str, last: KnownOwner) -> str:
    return last.id if order == "id" else paging.moment_cursor(last.last_at, last.id)


def _place(cursor: str, order: str) -> tuple[datetime, str]:
    """Return the time and the id that a cursor names; by id the time says nothing."""
    if order == "id":
        return datetime.now(UTC), cursor
    return paging.after_moment(cursor)
