"""Dependencies of the endpoints: the container of shared objects, the caller of a request and the scopes of its key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Self

from fastapi import Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import TypeAdapter
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.ingress.following import Followers
from api.ingress.hit_rate import HitRates
from api.ingress.settling import SettleWatcher
from core import errors
from core.config import Settings
from core.context.retrievers import Retriever
from core.events.doorbell import Doorbell
from core.events.occurrences import SEARCHED, Occurrences
from core.events.publishing import Author
from core.events.settle_tokens import SettleTokens
from core.inference.client import ChatClient
from core.inference.embedders import CachedEmbedder
from core.inference.installed_embedders import InstalledEmbedders
from core.search.recall_log import Recalls
from core.sessions.recent_messages import RecentMessages
from core.storage import positions
from core.storage.db import Database
from core.storage.replica import Replica, UnfitError
from core.tenancy import tenants
from core.tenancy.tenants import Caller
from core.types import Json

ANSWER: Final = TypeAdapter(Json)
"""Serializer of an endpoint's answer."""

KEY_SECONDS = 5.0
"""Seconds for which a valid key and the limits of its tenant are cached.

A revoked key is refused, and a changed limit applies, after this time.
"""

UNKNOWN_KEYS: Final = 2
"""Unknown keys looked up at the same time."""


@dataclass(slots=True)
class Readiness:
    """The last result of `/readyz` and its time; one request checks at a time."""

    missing: Sequence[str] = ()
    looked_at: float = float("-inf")
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Container of the objects that endpoints share; one a process, at `app.state.deps`.

    `model`: the configured language model, which only dry runs ask; None: there is none. `replica`: what only reads
    may be read there; None: there is none.
    """

    settings: Settings
    db: Database
    embedders: InstalledEmbedders
    bell: Doorbell
    recalls: Recalls
    recent: RecentMessages
    settle_tokens: SettleTokens
    keys: dict[str, tuple[float, Caller]]
    backlogs: dict[str, tuple[float, int]]
    settling: SettleWatcher
    followers: Followers
    occurrences: Occurrences
    hits: HitRates = field(default_factory=HitRates)
    retrievers: Mapping[str, Retriever] = field(default_factory=dict)
    readiness: Readiness = field(default_factory=Readiness)
    model: ChatClient | None = None
    replica: Replica | None = None
    strangers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(UNKNOWN_KEYS))
    caller: Caller | None = None

    def of(self, caller: Caller) -> Self:
        """Return the dependencies for one caller.

        The database has the vectors of the tenant's model, and shows a key with audience labels nothing beyond them.
        """
        own = caller.embedding
        db = self.db if own is None else self.db.at(own.schema)
        return replace(self, caller=caller, db=db.as_reader(caller.labels))

    def showing_newest(self) -> AbstractContextManager[None]:
        """Let a replica show everything that is committed now, for callers who cannot tell what they have seen."""
        return nullcontext() if self.replica is None else positions.after_newest()

    def note_search(self, tenant_id: str, *, hit: bool) -> None:
        """Count a search, and whether it found a memory."""
        self.hits.note(tenant_id, hit=hit)
        self.occurrences.note(tenant_id, SEARCHED, {}, searches=1, without_memories=int(not hit))

    @property
    def embedder(self) -> CachedEmbedder:
        """The embedder of the tenant's model, whose vectors are cached apart from those of others.

        Misconfigured: this process cannot make them; what needs none works.
        """
        if self.caller is None:
            return self.embedders.default
        own = self.caller.embedding
        return self.embedders.of(None if own is None else own.model).of(self.caller.tenant_id)


async def dependencies(request: Request) -> Dependencies:
    """Return the dependencies for the caller of the request. Async, because a thread would cost more than it does.

    A route that reads shows a key without labels nothing that has labels, unless it takes `ReaderDeps` or `WholeDeps`.
    """
    deps: Dependencies = request.app.state.deps
    admitted: Admitted | None = request.scope.get(ADMITTED)
    if admitted is None:
        return deps
    own = deps.of(admitted.caller)
    return replace(own, db=own.db.as_reader(admitted.caller.labels or ())) if admitted.scope == "read" else own


async def _whole(request: Request) -> Dependencies:
    deps: Dependencies = request.app.state.deps
    admitted: Admitted = request.scope[ADMITTED]
    return deps.of(admitted.caller)


ADMITTED: Final = "imprint.admitted"
"""Key of the request's scope under which admission control leaves an `Admitted`."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The admitted caller, and the required scope of their key (None: any key)."""

    caller: Caller
    scope: str | None


@dataclass(frozen=True, slots=True)
class Needs:
    """A dependency on a caller whose key has this scope. Admission control refuses others before it reads a body."""

    scope: str | None

    async def __call__(self, request: Request) -> Caller:
        admitted: Admitted = request.scope[ADMITTED]
        if admitted.scope != self.scope:
            raise RuntimeError(f"The scope {admitted.scope!r} was checked, but the endpoint needs {self.scope!r}.")
        return admitted.caller


async def any_caller(request: Request) -> Caller:
    """Return the caller, whatever scope admission control has checked."""
    admitted: Admitted = request.scope[ADMITTED]
    return admitted.caller


any_key: Final = Needs(None)
"""Dependency on the caller, with any scope."""


async def identify(deps: Dependencies, authorization: str) -> Caller:
    """Return who holds the key in `Authorization: Bearer`; Unauthorized if nobody."""
    scheme, _, key = authorization.partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise errors.Unauthorized
    entry = deps.keys.get(key)
    if entry is None:
        # Unknown keys wait for each other and not for a thread, so that known callers find one free.
        async with deps.strangers:
            entry = await _look_up(deps, key)
    elif time.monotonic() - entry[0] > KEY_SECONDS:
        entry = await _look_up(deps, key)
    return entry[1]


async def _look_up(deps: Dependencies, key: str) -> tuple[float, Caller]:
    # As of when it was looked up, not of when the answer came: a revoked key is refused after KEY_SECONDS.
    began = time.monotonic()
    try:
        caller = await run_in_threadpool(_caller, deps, key)
    except errors.Unauthorized:
        deps.keys.pop(key, None)
        raise
    deps.keys[key] = began, caller
    return began, caller


def _caller(deps: Dependencies, key: str) -> Caller:
    """Return who holds a key; where the primary is away, by the replica, which does not note the use.

    What the replica does not know may be a key that it has not received: nobody is told that it is none.
    """
    try:
        return tenants.caller(deps.db, key, deps.settings.tenant_limits)
    except (OperationalError, PoolTimeout) as away:
        copy = None if deps.replica is None else deps.replica.like(deps.db)
        if copy is None:
            raise
        try:
            return tenants.caller(copy, key, deps.settings.tenant_limits, noted=False)
        except (errors.Unauthorized, UnfitError, DBAPIError, PoolTimeout):
            raise away from None


def require_scope(caller: Caller, name: str | None) -> None:
    """Refuse a key without the scope; None: any key. Forbidden."""
    if name is not None and not caller.may(name):
        raise errors.Forbidden(
            f"This key lacks the scope `{name}`. Create one with `imprint keys create --scopes {name}`."
        )


async def body(request: Request) -> bytes:
    """Return the raw body, which admission control has read within the bound of the route."""
    return await request.body()


def author(caller: Caller) -> Author:
    """Return the holder of the key as the author of a change."""
    return Author(f"key:{caller.key_id}")


Deps = Annotated[Dependencies, Depends(dependencies)]
WholeDeps = Annotated[Dependencies, Depends(_whole)]
"""Dependencies of a route that shows a key without labels everything: the log, decisions, figures, trials of rules."""

Body = Annotated[bytes, Depends(body)]
Publisher = Annotated[Caller, Depends(Needs("publish"))]
Reader = Annotated[Caller, Depends(Needs("read"))]
Writer = Annotated[Caller, Depends(Needs("write"))]
RuleEditor = Annotated[Caller, Depends(Needs("rules"))]
Admin = Annotated[Caller, Depends(Needs("admin"))]

Limit = Annotated[int, Query(ge=1, le=500)]
"""Items of one page."""


def json_response(content: Json, status_code: int = 200) -> Response:
    """Serialize an answer in the thread of the endpoint.

    A plain return value passes through two more threads, one that validates it and one that all requests share: 0.08
    of the 0.6 ms of a search.
    """
    return Response(ANSWER.dump_json(content), status_code, media_type="application/json")
