"""Replaying events: rules decide stored events again, as a plan, in the shadow or live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Response
from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from api.http.log.answers import EventReplay, ReplayPage, ReplayPlan, ReplaySummary
from api.ingress import dependencies
from api.ingress.answers import answers, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, RuleEditor, author
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.dispatches import replays
from core.dispatches.replays import NewReplay, ReplayStanding
from core.errors import Invalid, Problem
from core.events import log, request_ids, type_patterns
from core.events.parsing import Name
from core.screening import output
from core.settings.limits import LimitReached
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Json
from rules.backtest import plan, selection
from rules.backtest.log_window import Numbered
from rules.backtest.plan import PlanRequest
from rules.backtest.selection import EventSelector, Extent
from rules.document import masking
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.engine.similarity import Meanings
from rules.registry import store
from rules.registry.store import StoredRule

router = APIRouter(prefix="/v1/events", tags=["events"], route_class=Route)

LIMIT: Final = 10_000
"""Default number of events of one replay."""

MOST: Final = 100_000
"""Largest number of events of one replay."""

REPLAY: Final = answers(
    ReplayPlan | EventReplay,
    description="The plan; of a repeated request the replay that it has begun",
    refusals=(409,),
) | answers(EventReplay, 202, "The replay, which workers carry out")


def _type_pattern(pattern: str) -> str:
    if fault := type_patterns.fault(pattern):
        raise ValueError(fault)
    return pattern


TypePattern = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_*.-]+$"), AfterValidator(_type_pattern)
]

IdempotencyKey = Annotated[
    Name | None, Header(description="Identifies the request: repeated, it begins nothing and gets the same replay")
]


class EventSelection(RequestBody):
    """Filter of events; `from` and `to` are about event time. Events of the service itself have to be named."""

    types: Annotated[
        list[TypePattern], Field(max_length=100, description="Event types; wildcards are allowed; default: all")
    ] = Field(default_factory=list)
    since: Annotated[AwareDatetime | None, Field(alias="from", description="Inclusive")] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Exclusive")] = None
    user_id: Name | None = None
    session_id: Name | None = None
    event_ids: Annotated[list[Name] | None, Field(min_length=1, max_length=1_000)] = None
    source: Name | None = None
    after: Annotated[int, Field(ge=0, lt=2**63, description="`next` of the plan before: a position in the log")] = 0


class ReplayRequest(RequestBody):
    """Request to have rules decide stored events again."""

    filter: EventSelection = EventSelection()
    rules: Annotated[
        list[Name] | None, Field(min_length=1, max_length=1_000, description="Names of rules; default: all in force")
    ] = None
    mode: Annotated[
        Literal["plan", "dry_run", "shadow", "live"],
        Field(description="`plan` (or `dry_run`) writes nothing; `shadow` records what `live` would do"),
    ] = "plan"
    limit: Annotated[int, Field(ge=1, le=MOST, description="Maximum number of events, the oldest first")] = LIMIT
    limit_samples: Annotated[
        int, Field(ge=0, le=100, description="Firings of each rule to list from the start and from the end")
    ] = 5


@router.post("/replay", operation_id="replayEvents", responses=REPLAY)
@with_bounds(Bounds(counted="backtests"))
def post_replay(
    deps: Deps, caller: Reader, request: ReplayRequest, response: Response, idempotency_key: IdempotencyKey = None
) -> Json:
    """Plan a replay of stored events, or begin one.

    Without `mode`, or with `plan`, the answer says which rules would act how often and on what, and nothing is written.
    `shadow` records the decisions and shadow dispatches, apart from those made as the events came, and does nothing
    else. `live` carries the actions out. Both need the scope `rules`. `GET /v1/events/replays/{id}` shows the progress.
    """
    event_filter = _filter(request.filter)
    with deps.db.tenant(caller.tenant_id) as tx:
        rules = _rules(tx, request.rules)
    if request.mode in {"plan", "dry_run"}:
        return _plan(deps, caller, request, event_filter, rules)
    dependencies.require_scope(caller, "rules")
    replay, is_new = _begin(deps, caller, request, event_filter, rules, idempotency_key)
    response.status_code = 202 if is_new else 200
    deps.bell.notify()
    return replay


@router.get("/replays", operation_id="listReplays", responses=answers(ReplayPage))
def get_replays(deps: Deps, caller: Reader, after: UUID | None = None, limit: Limit = 50) -> Json:
    """List replays, newest first, without their dispatches."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = replays.find(tx, after=after, limit=limit)
    return {"items": [_row_json(row) for row in rows], "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/replays/{replay_id}", operation_id="getReplay", responses=answers(EventReplay))
def get_replay(deps: Deps, caller: Reader, replay_id: UUID) -> Json:
    """Return a replay: how far it has decided, what each rule has done, and its dispatches by status.

    It is `done` when all events are decided; its `settle_token` waits for everything that follows from it. `error` says
    why a running one stands still.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return _json(deps, caller, replays.get(tx, replay_id))


@router.post(
    "/replays/{replay_id}/cancel", operation_id="cancelReplay", responses=answers(EventReplay, refusals=(409,))
)
def post_cancel(deps: Deps, caller: RuleEditor, replay_id: UUID) -> Json:
    """Cancel a replay, with all its dispatches that have not ended. What was carried out stays."""
    with deps.db.tenant(caller.tenant_id) as tx:
        standing = replays.cancel(tx, replay_id, author(caller))
    deps.bell.notify()
    return _json(deps, caller, standing)


def _filter(event_selection: EventSelection) -> EventSelector:
    since, until = event_selection.since, event_selection.until
    if since is not None and until is not None and since >= until:
        raise Invalid([Problem("/filter/to", f"must come after `from`, which is {since.isoformat()}")])
    fields = {name: getattr(event_selection, name) for name in EventSelector.__slots__}
    lists = {name: tuple(fields[name]) for name in ("types", "event_ids") if fields[name] is not None}
    return EventSelector(**fields | lists)


def _rules(tx: Tx, names: Sequence[str] | None) -> list[Numbered]:
    """Return the named rules in force, or all that can be read. Invalid: there is no such rule."""
    in_force = {stored.name: stored for stored in store.in_force(tx)}
    if names is None:
        return [numbered for stored in in_force.values() if (numbered := _readable(stored)) is not None]
    problems = [
        Problem(f"/rules/{index}", f"there is no rule `{name}` in force; `GET /v1/rules` lists them")
        for index, name in enumerate(names)
        if name not in in_force
    ]
    if problems:
        raise Invalid(problems)
    return [(parse(in_force[name].document, TARGETS), in_force[name].version) for name in dict.fromkeys(names)]


def _readable(stored: StoredRule) -> Numbered | None:
    """Return a rule with its version; None: another version of the service saved it, and routers ignore it as well."""
    try:
        return parse(stored.document, TARGETS), stored.version
    except Invalid:
        return None


def _plan(
    deps: Dependencies, caller: Caller, request: ReplayRequest, event_filter: EventSelector, rules: Sequence[Numbered]
) -> Json:
    with deps.db.tenant(caller.tenant_id) as tx:
        extent = selection.measure(tx, event_filter, request.limit)
    plan_request = PlanRequest(event_filter, extent, rules, request.limit_samples, 2 * deps.settings.event_bytes)
    made = plan.make(deps.db, caller.tenant_id, plan_request, Meanings(deps.embedder), max_hops=deps.settings.max_hops)
    for rule in made["rules"]:
        for sample in rule["samples"]:
            sample["actions"] = [output.value(masking.action(action)) for action in sample["actions"]]
    return made


def _begin(
    deps: Dependencies,
    caller: Caller,
    request: ReplayRequest,
    event_filter: EventSelector,
    rules: Sequence[Numbered],
    key: str | None,
) -> tuple[Json, bool]:
    """Store a replay; the same request again gets the replay that it began. LimitReached: too much is waiting."""
    requests = request_ids.of(deps.settings, caller.tenant_id, "http", key)
    with deps.db.tenant(caller.tenant_id) as tx:
        extent: Extent = selection.measure(tx, event_filter, request.limit)
        new = NewReplay(
            mode="live" if request.mode == "live" else "shadow",
            params={"filter": event_filter.as_json(), "rules": [[rule.name, version] for rule, version in rules]},
            events=extent.events,
            after=event_filter.after,
            upto=extent.last_seq,
            more=extent.more,
            request=None if key is None else requests.fingerprint({"replay": key}),
            fingerprint=requests.fingerprint(request.model_dump(mode="json")),
        )
        backlog = caller.limits.events_waiting
        if not replays.is_known(tx, new) and log.backlog(tx, backlog) >= backlog:
            raise LimitReached("events_waiting", backlog)
        replay_id, is_new = replays.request(tx, caller.tenant_id, new, author(caller), limit=caller.limits.replays)
        return _json(deps, caller, replays.get(tx, replay_id)), is_new


def _json(deps: Dependencies, caller: Caller, standing: ReplayStanding) -> Json:
    return {
        **_row_json(standing.row),
        "dispatches": dict(standing.dispatches),
        "error": standing.error,
        "settle_token": deps.settle_tokens.of(caller.tenant_id, standing.seq),
    }


def _row_json(row: Any) -> Json:
    stored = row.params["filter"]
    chosen = {("from" if name == "since" else "to" if name == "until" else name): stored[name] for name in stored}
    rules = [{"rule": name, "version": version, **row.counts.get(name, {})} for name, version in row.params["rules"]]
    more = row.params["more"]
    return shown(ReplaySummary, row, filter=chosen, truncated=more, next=row.upto if more else None, rules=rules)
