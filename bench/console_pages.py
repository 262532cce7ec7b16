"""Pages of the console that are measured: each page and part, and each of their filters, by what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote

from bench.console_data import RARE, RARE_WORD

RULE: Final = "consolidate_on_session_end"

QUESTION: Final = "Where+does+she+live%3F"

PREVIEWED: Final = 100
"""Memories of the bulk job that is shown."""


class Stand(Protocol):
    """Server that answers calls of the API."""

    def call(self, method: str, path: str, body: object = None) -> Any: ...


@dataclass(frozen=True, slots=True)
class Shown:
    """Ids of what the pages show; None: there is no such thing."""

    user: str
    other: str
    """User of the newest session, who has less: the erasure of somebody with little is carried out and taken back."""
    session: str
    group: str | None
    event: str
    """As a segment of a path."""
    memory: str
    dispatch: str
    failure: str | None
    document: str | None
    job: str
    """A preview, which may still be running."""
    receipt: str
    half: str
    """Place of the event in the middle of the log."""


def prepare(stand: Stand, user: str) -> Shown:
    """Find something for each page to show, and make what nobody has made: a bulk job, and a receipt of an erasure."""
    session = stand.call("GET", f"/v1/sessions?user_id={user}&limit=1")["items"][0]["id"]
    event = stand.call("GET", f"/v1/events?type=session.ended&session_id={session}&limit=1")["items"][0]["id"]
    stated = stand.call("POST", "/v1/memories", {"user_id": "bench_erased", "content": "I live in Bergen."})
    erased = stand.call("DELETE", f"/v1/memories/{stated['memory']['id']}")
    named = [memory["id"] for memory in stand.call("GET", f"/v1/memories?user_id={user}&limit={PREVIEWED}")["items"]]
    job = stand.call("POST", "/v1/memories/bulk/jobs", {"action": "archive", "ids": named})
    group, failure, document = (
        _first(stand, path) for path in ("/v1/groups", "/v1/dispatches/groups", "/v1/documents")
    )
    return Shown(
        user=user,
        other=stand.call("GET", "/v1/sessions?limit=1")["items"][0]["user_id"],
        session=session,
        group=group and group["id"],
        event=quote(event, safe=""),
        memory=stand.call("GET", f"/v1/memories?user_id={user}&limit=1")["items"][0]["id"],
        dispatch=stand.call("GET", "/v1/dispatches?limit=1")["items"][0]["id"],
        failure=failure and failure["fingerprint"],
        document=document and document["id"],
        job=job["id"],
        receipt=erased["receipt"]["id"],
        half=str(int(stand.call("GET", "/v1/events?limit=1")["next"] or "2") // 2),
    )


def paths(of: Shown) -> Mapping[str, str]:
    """Return the path of every page and part by what it shows."""
    return {
        **_now(),
        **_events(of),
        **_rules(of),
        **_memories(of),
        **_search(of),
        **_people(of),
        **_work(of),
        **_rest(of),
    }


def _first(stand: Stand, path: str) -> Any | None:
    return next(iter(stand.call("GET", f"{path}?limit=1")["items"]), None)


def _now() -> Mapping[str, str]:
    return {
        "floor: login": "/login",
        "now, 1 hour": "",
        "now, 7 days": "?span=7d",
        "glance": "/glance",
        "badge": "/badge",
        "lanes, 15 minutes": "/lanes?span=15m",
        "lanes, 7 days": "/lanes?span=7d",
    }


def _events(of: Shown) -> Mapping[str, str]:
    return {
        "palette: a word": "/palette?q=ada",
        "palette: an id": f"/palette?q={of.memory}",
        "palette: an id that is not there": "/palette?q=00000000-0000-7000-8000-000000000000",
        "go to an id": f"/go?q={of.memory}",
        "events": "/events",
        "events, deep in the log": f"/events?after={of.half}",
        "events of types with many": "/events?type=memory.*",
        "events of a type with few": f"/events?type={RARE}",
        "events of a type with none": "/events?type=no.such",
        "events of a user": f"/events?user_id={of.user}",
        "events of a user that is not there": "/events?user_id=nobody",
        "events of a user and a type with few": f"/events?user_id={of.user}&type={RARE}",
        "events of a session": f"/events?session_id={of.session}",
        "an event with its trace": f"/events/{of.event}",
    }


def _rules(of: Shown) -> Mapping[str, str]:
    return {
        "rules": "/rules",
        "rules with a word, in a state": "/rules?q=memory&state=live",
        "words of the rule editor": "/rules/schema.json",
        "a rule": f"/rules/{RULE}",
        "a rule tried on an event": f"/rules/{RULE}?event={of.event}",
        "a rule's activity": f"/rules/{RULE}/activity",
        "a rule's figures": f"/rules/{RULE}/figures",
        "a rule beside another": f"/rules/{RULE}/beside",
        "a rule's way back": f"/rules/{RULE}/rollback/1",
    }


def _memories(of: Shown) -> Mapping[str, str]:
    return {
        "memories": "/memories",
        "memories by oldest": "/memories?order=oldest",
        "memories by time of change": "/memories?order=updated",
        "memories by strength": "/memories?order=strength",
        "memories by importance": "/memories?order=importance",
        "memories by uses": "/memories?order=uses",
        "memories of a category with few": "/memories?category=skill",
        "memories of a category with none": "/memories?category=plan",
        "disputed memories": "/memories?trust=disputed",
        "rejected memories": "/memories?trust=rejected",
        "archived memories": "/memories?status=archived",
        "memories of a user": f"/memories?user_id={of.user}",
        "memories of a user by strength": f"/memories?user_id={of.user}&order=strength",
        "memories of a user with a word in many": f"/memories?user_id={of.user}&q=ada",
        "memories of a user with a word in few": f"/memories?user_id={of.user}&q={RARE_WORD}",
        "memories of a user with a word in none": f"/memories?user_id={of.user}&q=xyzzy",
        "a memory": f"/memories/{of.memory}",
        "a graph": f"/graph?user_id={of.user}",
        "a timeline": f"/timeline?user_id={of.user}",
        "a timeline of a month, as it became known": f"/timeline?user_id={of.user}&axis=known&span=month",
        "bulk jobs": "/bulk",
        "a bulk job": f"/bulk/{of.job}",
        "a bulk job's standing": f"/bulk/{of.job}/standing",
        "a receipt": f"/receipts/{of.receipt}",
        "a receipt as a file": f"/receipts/{of.receipt}/file",
    }


def _search(of: Shown) -> Mapping[str, str]:
    return {
        "search": "/search",
        "search results": f"/search?user_id={of.user}&query={QUESTION}",
        "search answer": f"/search/answer?user_id={of.user}&query={QUESTION}",
        "try": "/try",
        "context, not asked yet": "/context",
        "context": f"/context?user_id={of.user}&session_id={of.session}",
        "context of a question, and the next": f"/context?user_id={of.user}&query={QUESTION}&then=What+does+she+eat%3F",
    }


def _people(of: Shown) -> Mapping[str, str]:
    of_group = {
        "a group": f"/groups/{of.group}",
        "its memories": f"/groups/{of.group}/memories",
        "preview of a group's erasure": f"/groups/{of.group}/erasure",
    }
    return {
        "people": "/people",
        "people whose id begins so": f"/people?q={of.user[:1]}",
        "groups": "/people?kind=group",
        "sessions": "/people?kind=session",
        "a user": f"/people/{of.user}",
        "a user at an earlier time": f"/people/{of.user}?true_then=50&known_then=50",
        "a user's memories at an earlier time": f"/people/{of.user}/memories?true_then=50&known_then=50",
        "people whom a user speaks of": f"/people/{of.user}/names",
        "all about somebody": f"/people/{of.user}/names/about?of=Ada",
        "preview of a user's erasure": f"/people/{of.other}/erasure",
        "preview of a large user's erasure": f"/people/{of.user}/erasure",
        "a session": f"/sessions/{of.session}",
        **({} if of.group is None else of_group),
    }


def _work(of: Shown) -> Mapping[str, str]:
    of_failure = {} if of.failure is None else {"dead letters of one failure": f"/work/dead/{of.failure}"}
    return {
        "needs you": "/work",
        "approvals": "/work/approvals",
        "dead letters": "/work/dead",
        **of_failure,
        "conflicts": "/work/conflicts",
        "quarantine": "/work/quarantine",
        "deliveries": "/work/deliveries",
        "a dispatch": f"/work/{of.dispatch}",
        "words of a dispatch's editor": f"/work/{of.dispatch}/words.json",
    }


def _rest(of: Shown) -> Mapping[str, str]:
    of_document = {} if of.document is None else {"a document": f"/documents/{of.document}"}
    return {
        "documents": "/documents",
        "documents of a user": f"/documents?user_id={of.user}",
        **of_document,
        "add": "/add",
        "add: what came of it": f"/add/result?session_id={of.session}",
        "imports": "/imports",
        "jobs of imports": "/imports/jobs",
        "costs by rule": "/costs",
        "costs by user": "/costs?by=user&span=7d",
        "costs by model": "/costs?by=model",
        "keys": "/keys",
        "service": "/service",
        "health": "/health",
        "health's figures": "/health/figures",
    }
