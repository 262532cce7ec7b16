"""Reading and editing rules while the service runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from api.http.rules.answers import (
    RuleFiles,
    RuleHistory,
    RuleImport,
    RuleInForce,
    RulePage,
    RuleRevision,
    RuleSchema,
    RuleStats,
    RuleTest,
    SavedRule,
    ValidRule,
)
from api.ingress import paging
from api.ingress.answers import answers, refuses, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Body, Dependencies, Deps, Limit, Reader, RuleEditor, WholeDeps, author
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from api.ingress.route_bounds import Bounds, with_bounds
from api.ingress.schemas import body
from core.errors import Invalid, NotFound, Problem
from core.events import parsing
from core.events.parsing import Incoming
from core.sessions import sessions
from core.storage.db import Tx
from core.tenancy import tenants
from core.tenancy.tenants import Caller
from core.types import Event, Json
from rules.document import masking, schema
from rules.document.json_schema import json_schema
from rules.document.schema import Rule
from rules.engine import cost
from rules.engine import dry_run as engine_dry_run
from rules.engine.counts import DailyBudget
from rules.engine.similarity import Meanings
from rules.flow import alarms
from rules.registry import folder, stats, store, warnings
from rules.registry.folder import ImportStep
from rules.registry.limits import Allowed
from rules.registry.store import RuleEdit, StoredRule

router = APIRouter(prefix="/v1/rules", tags=["rules"], route_class=Route)

TRIED: Final = 100
"""Rules that one request may try."""

IfMatch = Annotated[str | None, Header(description="ETag of the version you edited")]
Comment = Annotated[str | None, Query(max_length=1_000, description="Reason, stored in the rule's history")]
RuleName = Annotated[str, StringConstraints(max_length=100)]
Contains = Annotated[str | None, Query(max_length=100, description="Only rules whose name contains this")]
State = Annotated[
    Literal["live", "shadow", "paused"] | None,
    Query(description="`paused`: not enabled; `shadow`: decided and recorded only; `live`: all others"),
]

FOLDER_BYTES = 8 * 1024 * 1024
"""Maximum size of a folder of rules: as many as a tenant may have, at 8 kB each."""


class RuleTrial(BaseModel):
    """A draft rule, or names of rules in force, and the event to test them on."""

    rule: dict[str, Any] | None = Field(None, description="A draft rule, saved or not")
    names: Annotated[list[RuleName], Field(min_length=1, max_length=TRIED)] | None = Field(
        None, description="Names of rules in force, without duplicates"
    )
    event: dict[str, Any] | None = Field(
        None,
        description="An event as it would be published, native or CloudEvents 1.0; default, of a single alarm: the "
        "event that it would raise now",
    )
    warnings: bool = Field(True, description="Of a single rule, whether to look through recent events for warnings")


class Folder(RequestBody):
    """A folder of JSON files to import."""

    files: dict[str, str] = Field(description="Content of each file by file name: a rule or a list of rules")
    prune: bool = Field(False, description="Delete rules that no file contains")
    dry_run: bool = Field(False, description="Return the plan without applying it")
    comment: str | None = Field(None, max_length=1_000, description="Reason, stored in the history of each rule")
    expect: dict[str, int] | None = Field(
        None, description="Version of each rule in the plan you have seen (0: no such rule); 409 if one has changed"
    )


class Rollback(RequestBody):
    """An earlier version to put in force again."""

    version: int = Field(ge=1)
    comment: str | None = Field(None, max_length=1_000, description="Reason, stored in the rule's history")


@router.get("", operation_id="listRules", responses=answers(RulePage))
def get_rules(
    deps: Deps,
    caller: Reader,
    q: Contains = None,
    state: State = None,
    after: After = None,
    limit: WholeLimit = paging.MOST,
) -> Json:
    """List the rules in force by name."""
    with deps.db.tenant(caller.tenant_id) as tx:
        in_force = store.in_force(tx)
    rules = [rule for rule in in_force if (q or "").lower() in rule.name and state in (None, _state(rule.document))]
    return paging.cut(rules, _rule_json, attrgetter("name"), after, limit)


@router.get("/schema", operation_id="getRuleSchema", responses=answers(RuleSchema))
def get_schema(_caller: Reader) -> Json:
    """Return the JSON Schema (2020-12) of a rule."""
    return json_schema()


@router.get("/export", operation_id="exportRules", responses=answers(RuleFiles))
def get_export(deps: Deps, caller: Reader) -> Json:
    """Export the rules in force as files in canonical form."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return {"files": folder.export(store.in_force(tx))}


@router.post("/import", operation_id="importRules", responses=answers(RuleImport, refusals=(409,)))
@with_bounds(Bounds(body=lambda _settings: FOLDER_BYTES))
def post_import(deps: Deps, caller: RuleEditor, given: Folder) -> Json:
    """Import a folder of rules, all or nothing; returns the plan, and with `dry_run` only that."""
    with deps.db.tenant(caller.tenant_id) as tx:
        allowed = _allowed_of(deps, tx, caller)
        steps = folder.plan(tx, given.files, allowed, prune=given.prune)
        if given.expect is not None:
            folder.require_as_shown(steps, given.expect)
        plan = _plan_json(tx, steps, allowed)
        edit = RuleEdit(caller.tenant_id, author(caller).name, given.comment)
        applied = [] if given.dry_run else folder.apply(tx, steps, edit, allowed)
    return {"plan": plan, "applied": [{"name": stored.name, "version": stored.version} for stored in applied]}


@router.post(
    "",
    status_code=201,
    operation_id="saveRule",
    responses=answers(SavedRule, 201, refusals=(409,)),
    openapi_extra=body("Rule"),
)
def post_rule(deps: Deps, caller: RuleEditor, raw: Body, response: Response, comment: Comment = None) -> Json:
    """Create a rule and put it in force; saving an existing name creates its next version."""
    return _save(deps, caller, _document(raw), None, comment, response)


@router.post("/validate", operation_id="validateRule", responses=answers(ValidRule), openapi_extra=body("Rule"))
def post_validate(deps: Deps, caller: Reader, raw: Body) -> Json:
    """Validate a rule without saving it; 422 lists the problems."""
    document = _document(raw)
    with deps.db.tenant(caller.tenant_id) as tx:
        allowed = _allowed_of(deps, tx, caller)
        rule = store.check(document, allowed)
        return {"valid": True, "name": rule.name, **_remarks(tx, rule, allowed)}


@router.post("/test", operation_id="testRules", responses=answers(RuleTest | list[RuleTest], refusals=(404,)))
def post_test(deps: WholeDeps, caller: Reader, given: RuleTrial) -> Any:
    """Test rules on an event without executing anything; returns every condition with its actual value.

    The event is treated as happening now, and looked-up fields have their current values. For a single rule the answer
    includes the `warnings` that saving it would cause, unless they are not wanted. Without an event an alarm is tested
    on what it counts now.
    """
    incoming = None if given.event is None else _parse_event(given.event, deps.settings.event_bytes)
    meanings = Meanings(deps.embedder)
    with deps.db.tenant(caller.tenant_id) as tx:
        rules = _rules_to_try(tx, given, _allowed_of(deps, tx, caller))
        if incoming is None:
            event = _event_now(tx, caller, rules, DailyBudget.of(deps.settings))
        else:
            event = _event(caller, sessions.with_count(tx, incoming))
        lookup = engine_dry_run.look_up(tx, event, [rule for rule, _ in rules])
        warn = given.warnings and len(rules) == 1
        problems = warnings.of_rule(tx, rules[0][0]) if warn else []
    facts = engine_dry_run.facts(event, lookup, [rule for rule, _ in rules], meanings)
    explanations = engine_dry_run.explain_all(rules, facts, meanings, 2 * deps.settings.event_bytes)
    if warn:
        explanations[0]["warnings"] = _problems_json(problems)
    return explanations if given.rule is None else explanations[0]


@router.get("/{name}", operation_id="getRule", responses=answers(RuleInForce))
def get_rule(deps: Deps, caller: Reader, name: str, response: Response) -> Json:
    """Return a rule in force; its ETag is the value for `If-Match`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        stored = store.get(tx, name)
    response.headers["ETag"] = f'"{stored.version}"'
    return _rule_json(stored)


@router.put(
    "/{name}", operation_id="replaceRule", responses=answers(SavedRule, refusals=(409,)), openapi_extra=body("Rule")
)
def put_rule(
    deps: Deps,
    caller: RuleEditor,
    name: str,
    raw: Body,
    response: Response,
    if_match: IfMatch = None,
    comment: Comment = None,
) -> Json:
    """Replace a rule; with `If-Match`, only if that is still its version."""
    return _save(deps, caller, _with_name(_document(raw), name), _version(if_match), comment, response)


@router.patch(
    "/{name}",
    operation_id="changeRule",
    responses=answers(SavedRule, refusals=(409,)),
    openapi_extra=body("RuleChanges"),
)
def patch_rule(
    deps: Deps,
    caller: RuleEditor,
    name: str,
    raw: Body,
    response: Response,
    if_match: IfMatch = None,
    comment: Comment = None,
) -> Json:
    """Change fields of a rule (JSON Merge Patch, RFC 7396, first level only); null removes a field."""
    patch, version = _with_name(_document(raw), name), _version(if_match)
    with deps.db.tenant(caller.tenant_id) as tx:
        stored = store.get(tx, name)
    document = {k: v for k, v in {**stored.document, **patch}.items() if v is not None}
    return _save(deps, caller, document, stored.version if version is None else version, comment, response)


@router.delete("/{name}", status_code=204, operation_id="deleteRule", responses=refuses(409))
def delete_rule(
    deps: Deps, caller: RuleEditor, name: str, if_match: IfMatch = None, comment: Comment = None
) -> Response:
    """Delete a rule; its versions stay."""
    with deps.db.tenant(caller.tenant_id) as tx:
        store.delete(
            tx, caller.tenant_id, name, author=author(caller).name, comment=comment, if_version=_version(if_match)
        )
    return Response(status_code=204)


@router.get("/{name}/versions", operation_id="listRuleVersions", responses=answers(RuleHistory))
def get_versions(deps: Deps, caller: Reader, name: str, after: int | None = None, limit: Limit = 50) -> Json:
    """List the versions of a rule, newest first, each with its diff; `rule` is null if the version is a deletion."""
    with deps.db.tenant(caller.tenant_id) as tx:
        versions, following = store.page_of_versions(tx, name, before=after, limit=limit)
        names = tenants.author_names(tx, {version.author for version in versions})
    if not versions and after is None:
        raise NotFound(f"There is no rule {name!r}, and there never was; `GET /v1/rules` lists those in force.")
    items = [
        shown(
            RuleRevision,
            version,
            author_name=names.get(version.author, version.author),
            rule=None if version.document is None else masking.document(version.document),
        )
        for version in versions
    ]
    return {"items": items, "next": None if following is None else str(following)}


@router.post("/{name}/rollback", operation_id="rollBackRule", responses=answers(SavedRule, refusals=(409,)))
def post_rollback(
    deps: Deps, caller: RuleEditor, name: str, given: Rollback, response: Response, if_match: IfMatch = None
) -> Json:
    """Roll back to an earlier version, saved as a new one; also possible after the rule was deleted."""
    with deps.db.tenant(caller.tenant_id) as tx:
        allowed = _allowed_of(deps, tx, caller)
        stored = store.rollback(
            tx,
            caller.tenant_id,
            name,
            given.version,
            author=author(caller).name,
            comment=given.comment,
            if_version=_version(if_match),
            allowed=allowed,
        )
        return _stored_json(tx, stored, allowed, response)


@router.get("/{name}/stats", operation_id="getRuleStats", responses=answers(RuleStats))
def get_stats(
    deps: Deps,
    caller: Reader,
    name: str,
    since: Annotated[
        AwareDatetime | None, Query(alias="from", description="Start of the period; default: the first event")
    ] = None,
    until: Annotated[
        AwareDatetime | None, Query(alias="to", description="End of the period, exclusive; default: now")
    ] = None,
    most: Annotated[
        int | None,
        Query(ge=1, le=1_000_000, description="The period begins later if more decisions or dispatches are in it"),
    ] = None,
) -> Json:
    """Return the statistics and cost of a rule; `beside` has the same figures for the other rules of its group.

    Without `from` or `most` all that the rule ever decided is counted, which takes seconds for a million decisions.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return stats.of(tx, name, since, until, most)


def _state(document: Json) -> str:
    if not document.get("enabled", True):
        return "paused"
    return "shadow" if document.get("action_mode") == "shadow" else "live"


def _save(
    deps: Dependencies, caller: Caller, document: Json, if_version: int | None, comment: str | None, response: Response
) -> Json:
    with deps.db.tenant(caller.tenant_id) as tx:
        allowed = _allowed_of(deps, tx, caller)
        stored = store.save(
            tx,
            caller.tenant_id,
            document,
            author=author(caller).name,
            comment=comment,
            if_version=if_version,
            allowed=allowed,
        )
        return _stored_json(tx, stored, allowed, response)


def _stored_json(tx: Tx, stored: StoredRule, allowed: Allowed, response: Response) -> Json:
    response.headers["ETag"] = f'"{stored.version}"'
    return _rule_json(stored) | _remarks(tx, schema.parse(stored.document), allowed)


def _remarks(tx: Tx, rule: Rule, allowed: Allowed) -> Json:
    problems = warnings.of_rule(tx, rule)
    return {"warnings": _problems_json(problems), "cost": cost.upper_bound(rule).as_json(allowed.cost)}


def _plan_json(tx: Tx, steps: Sequence[ImportStep], allowed: Allowed) -> list[Json]:
    problems, plan = warnings.of_plan(tx, steps), []
    for step in steps:
        planned: Json = {"name": step.name, "does": step.does, "version": step.version, "diff": step.diff}
        if step.rule is not None:
            planned["warnings"] = _problems_json(problems[step.rule.name])
            planned["cost"] = cost.upper_bound(step.rule).as_json(allowed.cost)
        plan.append(planned)
    return plan


def _problems_json(problems: Iterable[Problem]) -> list[Json]:
    return [{"pointer": problem.pointer, "detail": problem.detail} for problem in problems]


def _rules_to_try(tx: Tx, given: RuleTrial, allowed: Allowed) -> list[tuple[Rule, int]]:
    if (given.rule is None) == (given.names is None):
        raise Invalid([Problem("/rule", "give either `rule` (a draft) or `names` (of rules in force)")])
    if given.rule is not None:
        return [(draft(given.rule, allowed), 0)]
    names = given.names or []
    twice = [index for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise Invalid([Problem(f"/names/{index}", f"`{names[index]}` is listed twice") for index in twice])
    return [(schema.parse(stored.document), stored.version) for stored in store.get_all(tx, names)]


def _event_now(tx: Tx, caller: Caller, rules: Sequence[tuple[Rule, int]], budget: DailyBudget) -> Event:
    """Return the event that an alarm would raise with what it counts now. Invalid: that is not a single alarm."""
    if len(rules) != 1 or rules[0][0].counts is None:
        raise Invalid([Problem("/event", "give an event to test the rule on; only a single alarm is tested without")])
    try:
        return alarms.preview(tx, caller.tenant_id, rules[0], datetime.now(UTC), budget)
    except Invalid as error:
        raise error.below("/rule") from None


def draft(document: Json, allowed: Allowed) -> Rule:
    """Return the rule of a draft; error pointers are relative to the request."""
    try:
        return store.check(document, allowed)
    except Invalid as error:
        raise error.below("/rule") from None


def _allowed_of(deps: Dependencies, tx: Tx, caller: Caller) -> Allowed:
    return Allowed.to(tx, deps.settings, caller.tenant_id)


def _with_name(document: Json, name: str) -> Json:
    """Return the document with the name from the path. Invalid: it has another name."""
    if document.setdefault("name", name) != name:
        raise Invalid([Problem("/name", f"is {document['name']!r}, but the path says {name!r}")])
    return document


def _parse_event(document: Json, event_bytes: int) -> Incoming:
    """Parse and check the event like a published one; error pointers are relative to the request."""
    try:
        return parsing.check_one(document, event_bytes)
    except Invalid as error:
        raise error.below("/event") from None


def _event(caller: Caller, incoming: Incoming) -> Event:
    return Event(
        seq=0,
        tenant_id=caller.tenant_id,
        id=incoming.id,
        source=incoming.source,
        event_type=incoming.event_type,
        subject=incoming.subject,
        time=incoming.time or datetime.now(UTC),
        payload=incoming.payload,
        session_id=_name(incoming.payload, "session_id"),
        user_id=_name(incoming.payload, "user_id"),
    )


def _name(payload: Json, field: str) -> str | None:
    value = payload.get(field)
    return value if isinstance(value, str) else None


def _document(raw: bytes) -> Json:
    try:
        document = json.loads(raw)
    except ValueError as error:
        raise Invalid([Problem("", f"not JSON: {error}")]) from None
    except RecursionError:
        raise Invalid([Problem("", "nested too deeply for a rule")]) from None
    if not isinstance(document, dict):
        raise Invalid([Problem("", "a rule is a JSON object")])
    return document


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match == "*":
        return None
    try:
        return int(if_match.removeprefix("W/").strip('"'))
    except ValueError:
        raise Invalid([Problem("", f"If-Match {if_match} is not a version; send the ETag that you received")]) from None


def _rule_json(stored: StoredRule) -> Json:
    return {"name": stored.name, "version": stored.version, "rule": masking.document(stored.document)}
