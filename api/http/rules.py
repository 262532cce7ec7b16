"""Reading and editing rules while everything runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel

from api.http.door import At, Body, Door, Reader, RuleEditor
from core import intake
from core.errors import Invalid, Problem
from core.tenants import Caller
from core.types import Event, Json
from rules import schema, store, templates
from rules.conditions import explain
from rules.facts import Facts
from rules.ruleset import Ruleset
from rules.schema import Rule
from rules.store import Stored

router = APIRouter(prefix="/v1/rules", tags=["rules"])

IfMatch = Annotated[str | None, Header(description="The version you edited, as its ETag")]


class Trial(BaseModel):
    """A rule (or names of rules in force) and an event to try it on."""

    rule: dict[str, Any] | None = None
    names: list[str] | None = None
    event: dict[str, Any]


@router.get("")
def get_rules(at: At, who: Reader) -> Json:
    """All rules in force, by name."""
    with at.db.tenant(who.tenant_id) as tx:
        return {"items": [_rule_json(rule) for rule in store.in_force(tx)], "next": None}


@router.get("/schema")
def get_schema(_who: Reader) -> Json:
    """The JSON Schema (2020-12) of a rule."""
    return schema.json_schema()


@router.post("", status_code=201)
def post_rule(at: At, who: RuleEditor, raw: Body, response: Response) -> Json:
    """Put a new rule in force; saving a name that exists makes its next version."""
    return _saved(at, who, _document(raw), None, response)


@router.post("/validate")
def post_validate(_who: Reader, raw: Body) -> Json:
    """Whether a document is a rule that could be put in force; 422 names what speaks against it."""
    return {"valid": True, "name": store.checked(_document(raw)).name}


@router.post("/test")
def post_test(at: At, who: Reader, trial: Trial) -> Any:
    """What a rule would make of an event, with every condition's actual value; nothing is done."""
    event = _event(who, trial.event)
    if trial.rule is not None:
        return _tried(store.checked(trial.rule), 0, event)
    with at.db.tenant(who.tenant_id) as tx:
        stored = [store.get(tx, name) for name in trial.names or []]
    return [{"rule": s.name, **_tried(schema.parse(s.document), s.version, event)} for s in stored]


@router.get("/{name}")
def get_rule(at: At, who: Reader, name: str, response: Response) -> Json:
    """One rule in force; its ETag is what `If-Match` wants."""
    with at.db.tenant(who.tenant_id) as tx:
        stored = store.get(tx, name)
    response.headers["ETag"] = f'"{stored.version}"'
    return _rule_json(stored)


@router.put("/{name}")
def put_rule(at: At, who: RuleEditor, name: str, raw: Body, response: Response, if_match: IfMatch = None) -> Json:
    """Replace a rule; with `If-Match`, only the version that you edited."""
    return _saved(at, who, _named(_document(raw), name), if_match, response)


@router.patch("/{name}")
def patch_rule(at: At, who: RuleEditor, name: str, raw: Body, response: Response, if_match: IfMatch = None) -> Json:
    """Change fields of a rule (JSON Merge Patch, RFC 7396, on its first level); null removes one."""
    patch = _named(_document(raw), name)
    with at.db.tenant(who.tenant_id) as tx:
        stored = store.get(tx, name)
    document = {k: v for k, v in {**stored.document, **patch}.items() if v is not None}
    return _saved(at, who, document, if_match or f'"{stored.version}"', response)


@router.delete("/{name}", status_code=204)
def delete_rule(at: At, who: RuleEditor, name: str, if_match: IfMatch = None) -> None:
    """Take a rule out of force; its versions stay."""
    with at.db.tenant(who.tenant_id) as tx:
        store.delete(tx, who.tenant_id, name, author=f"key:{who.key_id}", if_version=_version(if_match))


@router.get("/{name}/versions")
def get_versions(at: At, who: Reader, name: str) -> Json:
    """Every saved state of a rule, newest first."""
    with at.db.tenant(who.tenant_id) as tx:
        found = store.versions(tx, name)
    items = [
        {"version": v.version, "author": v.author, "comment": v.comment, "at": v.at, "rule": v.document} for v in found
    ]
    return {"items": items, "next": None}


def _named(document: Json, name: str) -> Json:
    """The document with the name that the address says; Invalid if it says another."""
    if document.setdefault("name", name) != name:
        raise Invalid([Problem("/name", f"says {document['name']!r}, but the address says {name!r}")])
    return document


def _saved(at: Door, who: Caller, document: Json, if_match: str | None, response: Response) -> Json:
    with at.db.tenant(who.tenant_id) as tx:
        stored = store.save(tx, who.tenant_id, document, author=f"key:{who.key_id}", if_version=_version(if_match))
    response.headers["ETag"] = f'"{stored.version}"'
    return _rule_json(stored)


def _tried(rule: Rule, version: int, event: Event) -> Json:
    verdicts = Ruleset([(rule, version)]).decide(event)
    actions = [action.model_dump(mode="json") for action in rule.actions]
    return {
        "matched": bool(verdicts),
        "held_by": verdicts[0].held_by if verdicts else None,
        "tree": None if rule.conditions is None else explain(rule.conditions, Facts(event)),
        "actions": templates.render_actions(actions, event) if verdicts else [],
    }


def _event(who: Caller, document: Json) -> Event:
    incoming = intake.check([document])[0]
    return Event(
        seq=0,
        tenant_id=who.tenant_id,
        id=incoming.id,
        source=incoming.source,
        event_type=incoming.event_type,
        subject=incoming.subject,
        time=incoming.time or datetime.now(UTC),
        payload=incoming.payload,
        session_id=incoming.payload.get("session_id"),
        user_id=incoming.payload.get("user_id"),
    )


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
        raise Invalid([Problem("", f"If-Match {if_match} is no version; send the ETag you were given")]) from None


def _rule_json(stored: Stored) -> Json:
    return {"name": stored.name, "version": stored.version, "rule": stored.document}
