"""People under several names: list them, read all about one of them, decide who is who."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from api import authors
from api.authors import Authorship
from api.http.memories.answers import Memory
from api.ingress import paging
from api.ingress.answers import Answer, answers, refuses
from api.ingress.audience import ReaderDeps
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, Writer, author
from api.ingress.large_json import Route
from api.serializers import memory_json
from core.entities import decisions, mentions, page, reading, resolution
from core.entities.decisions import Deciding
from core.entities.page import Place
from core.entities.resolution import Entity, Span
from core.errors import Invalid, Problem
from core.events.parsing import Name
from core.language.introductions import is_role
from core.memory import as_of as memory_as_of
from core.types import Json

router = APIRouter(prefix="/v1/entities", tags=["memory"], route_class=Route)

PersonName = Annotated[str, Field(min_length=1, max_length=100, description='A name, or a role such as "my mother"')]


class KnownName(Answer):
    """A name, and when somebody was introduced by it first and last; null: never."""

    name: str
    first_told_at: datetime | None
    last_told_at: datetime | None


class KnownRole(Answer):
    """What somebody is to the user, or to another person."""

    role: str = Field(description="`mother`, `boss`, … in English, whatever language it was said in")
    of: str | None = Field(description="Whose; null: the user's; `~partner`: of the user's partner")
    first_told_at: datetime | None
    last_told_at: datetime | None


class KnownEntity(Answer):
    """Somebody, under all names and roles by which they are known."""

    name: str = Field(description="The one to show: the fullest, or the one chosen by hand")
    names: list[KnownName]
    roles: list[KnownRole]


class EntityList(Answer):
    """The people of a user, those first who were introduced last."""

    items: list[KnownEntity]
    next: str | None


class EntityMemories(Answer):
    """Somebody, and what is remembered of them, the latest first; superseded and archived memories too."""

    entity: KnownEntity
    items: list[Memory]
    next: str | None


class NamingDecision(Answer):
    """What somebody has decided of two names; `other` null: `name` is the one that is shown.

    `form`, `other_form`: the same as they are stored, for whoever takes it back.
    """

    name: str
    other: str | None
    form: str
    other_form: str | None
    same: bool
    author: Authorship | None
    at: datetime


class NamingDecisions(Answer):
    """Decisions by hand, the oldest first."""

    items: list[NamingDecision]
    next: str | None


class MergeNamesRequest(RequestBody):
    """Names of one person."""

    user_id: Name
    names: Annotated[list[PersonName], Field(min_length=2, max_length=20)]


class SeparateNamesRequest(RequestBody):
    """A name that is not of who has these others."""

    user_id: Name
    name: PersonName
    others: Annotated[list[PersonName], Field(min_length=1, max_length=20)]


class ShowNameRequest(RequestBody):
    """The name under which somebody is shown."""

    user_id: Name
    name: PersonName
    shown_name: Annotated[PersonName, Field(description="Becomes one of their names")]


class EntityListRequest(RequestBody):
    """Whose people to list. `q`: part of a name."""

    user_id: Name
    q: Annotated[str | None, Field(max_length=100, description="Part of a name or a role")] = None
    after: Annotated[str | None, Field(max_length=4_000)] = None
    limit: Annotated[int, Field(ge=1, le=paging.MOST)] = 100


@router.get("", operation_id="listEntities", responses=answers(EntityList))
def get_entities(deps: ReaderDeps, caller: Reader, request: Annotated[EntityListRequest, Query()]) -> Json:
    """List the people whom a user's messages and memories introduce by more than one name or role."""
    with deps.db.tenant(caller.tenant_id) as tx:
        directory = reading.directory(tx, request.user_id)
    listed = [entity for entity in directory.entities if len(entity.spans) > 1]
    if request.q:
        part = request.q.casefold()
        listed = [e for e in listed if any(part in mentions.written(form, request.q).casefold() for form in e.spans)]
    listed.sort(key=lambda entity: (entity.last, entity.name), reverse=True)
    return paging.cut(listed, entity_json, _key, request.after, request.limit)


@router.get("/about", operation_id="getEntity", responses=answers(EntityMemories, refusals=(404,)))
def get_entity(
    deps: ReaderDeps,
    caller: Reader,
    user_id: Annotated[Name, Query()],
    name: Annotated[PersonName, Query()],
    after: paging.After = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Json:
    """Return all that is remembered of somebody, by whatever name it was said, the latest first.

    A page looks through 2,000 memories of the user, so that it may be short and yet have a `next`.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        about = page.about(tx, user_id, name, _place(after), limit)
        evidence = memory_as_of.evidence(tx, [row.id for row in about.rows], None)
    following = about.following
    return {
        "entity": entity_json(about.entity),
        "items": [memory_json(row, evidence.get(row.id, []), None) for row in about.rows],
        "next": paging.moment_cursor(following.at, str(following.id)) if following else None,
    }


@router.post("/merge", operation_id="mergeEntities", responses=answers(KnownEntity))
def post_merge(deps: Deps, caller: Writer, request: MergeNamesRequest) -> Json:
    """Decide that these names are of one person. An earlier decision that two of them are not is replaced."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return entity_json(Deciding(caller.tenant_id, request.user_id, author(caller)).merge(tx, request.names))


@router.post("/separate", operation_id="separateEntities", responses=answers(KnownEntity))
def post_separate(deps: Deps, caller: Writer, request: SeparateNamesRequest) -> Json:
    """Decide that a name is not of who has these others; return whom it means now."""
    deciding = Deciding(caller.tenant_id, request.user_id, author(caller))
    with deps.db.tenant(caller.tenant_id) as tx:
        return entity_json(deciding.separate(tx, request.name, request.others))


@router.post("/show", operation_id="showEntityAs", responses=answers(KnownEntity, refusals=(404,)))
def post_show(deps: Deps, caller: Writer, request: ShowNameRequest) -> Json:
    """Choose the name under which somebody is shown; it becomes one of theirs."""
    deciding = Deciding(caller.tenant_id, request.user_id, author(caller))
    with deps.db.tenant(caller.tenant_id) as tx:
        return entity_json(deciding.show_as(tx, request.name, request.shown_name))


@router.get("/decisions", operation_id="listNamingDecisions", responses=answers(NamingDecisions))
def get_decisions(
    deps: Deps,
    caller: Reader,
    user_id: Annotated[Name, Query()],
    after: paging.After = None,
    limit: paging.WholeLimit = paging.MOST,
) -> Json:
    """List what has been decided by hand of the names of a user's people."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = decisions.of_user(tx, user_id)
        named = authors.with_key_names(tx, [row.author for row in rows])
    items = [
        {
            "name": mentions.written(row.form),
            "other": mentions.written(row.other) if row.other else None,
            "form": row.form,
            "other_form": row.other or None,
            "same": row.same,
            "author": signed,
            "at": row.at,
        }
        for row, signed in zip(rows, named, strict=True)
    ]
    return paging.cut(items, dict, lambda item: f"{item['form']}\n{item['other_form'] or ''}", after, limit)


@router.delete(
    "/decisions",
    status_code=204,
    response_class=Response,
    operation_id="takeBackNamingDecision",
    responses=refuses(404),
)
def delete_decision(
    deps: Deps,
    caller: Writer,
    user_id: Annotated[Name, Query()],
    name: Annotated[PersonName, Query()],
    other: Annotated[str, Query(max_length=100, description="Empty: the choice of the name that is shown")] = "",
) -> Response:
    """Take a decision about two names back: what messages and memories say counts again."""
    with deps.db.tenant(caller.tenant_id) as tx:
        Deciding(caller.tenant_id, user_id, author(caller)).take_back(tx, name, other)
    return Response(status_code=204)


def entity_json(entity: Entity) -> Json:
    """Return an entity with its names and roles, the ones told last first."""
    spans = sorted(entity.spans.items(), key=lambda item: item[1].last, reverse=True)
    return {
        "name": mentions.written(entity.name),
        "names": [{"name": form, **_span_json(span)} for form, span in spans if not is_role(form)],
        "roles": [
            {"role": resolution.role_of(form), "of": resolution.possessor_of(form) or None, **_span_json(span)}
            for form, span in spans
            if is_role(form)
        ],
    }


def _span_json(span: Span) -> Json:
    first, last = (None if moment == resolution.NEVER else moment for moment in span)
    return {"first_told_at": first, "last_told_at": last}


def _key(entity: Entity) -> str:
    """Return what no other entity has: two may have one name, but were not told first at once by it."""
    form, span = min(entity.spans.items(), key=lambda item: (item[1].first, item[0]))
    return f"{span.first.isoformat()} {form}"


def _place(after: str | None) -> Place | None:
    if after is None:
        return None
    at, name = paging.after_moment(after)
    try:
        return Place(at, UUID(name))
    except ValueError:
        raise Invalid([Problem("/after", "send the `next` of the previous page")]) from None
