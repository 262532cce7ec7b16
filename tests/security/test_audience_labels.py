"""Audience labels: whoever lacks one finds nothing of what has it, through any door."""

from __future__ import annotations

import json
from itertools import product

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from tests.doors import Doors
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works
from workers.routing.bus_consumer import BusMessage, Intake

FINANCE = "My salary at Northbridge is 90000 euros."
CARE = "I take lithium for my bipolar disorder."
BOTH = "The clinic Seahaven bills me 777 euros a month."
OPEN = "I live in Porto."
SECRETS = {"Northbridge": {"finance"}, "lithium": {"care"}, "Seahaven": {"finance", "care"}}
"""A word of each labelled message, and the labels that its reader needs."""

READERS: list[tuple[Json, set[str]]] = [
    ({}, set()),
    ({"reader_labels": []}, set()),
    ({"reader_labels": ["finance"]}, {"finance"}),
    ({"reader_labels": ["care"]}, {"care"}),
    ({"reader_labels": ["finance", "care"]}, {"finance", "care"}),
    ({"reader_labels": ["other"]}, {"other"}),
    ({"reader_labels": ["*"]}, {"finance", "care"}),
]


@pytest.fixture
def spoken(app: Database, works: Works) -> None:
    """Ada says four things, three of them to some only; all is settled."""
    accept_all(
        app,
        [
            said(OPEN, message_id="open", speaker="Ada"),
            said(FINANCE, message_id="money", speaker="Ada", audience_labels=["finance"]),
            said(CARE, message_id="health", speaker="Ada", audience_labels=["care"]),
            said(BOTH, message_id="bill", speaker="Ada", audience_labels=["finance", "care", "care"]),
            said("I work as a nurse.", message_id="job", speaker="Ada"),
            ended(message_count=5),
        ],
    )
    works.settle()


def expected(held: set[str]) -> set[str]:
    return {word for word, needed in SECRETS.items() if needed <= held}


def shown(answer: str) -> set[str]:
    return {word for word in SECRETS if word in answer}


def asked(door: Doors, path: str, body: Json, **more: str) -> str:
    answer = door.post(path, body, **more)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


SEARCHES: list[Json] = [
    {},
    {"limit": 1},
    {"method": "keyword"},
    {"method": "vector"},
    {"include": ["memories"]},
    {"include": ["messages"]},
    {"include": ["memories", "messages", "documents", "units"]},
    {"recipe": "associative"},
    {"recipe": "even_blend"},
    {"audience": "private", "min_similarity": -1.0},
    {"known_at": "2100-01-01T00:00:00Z"},
    {"as_of": "2100-01-01T00:00:00Z"},
    {"explain": True, "group_by": "session"},
]


@pytest.mark.parametrize("how", SEARCHES, ids=json.dumps)
def test_a_search_finds_what_its_reader_may_read(spoken: None, door: Doors, how: Json) -> None:
    for (reader, held), query in product(READERS, ("salary Northbridge", "lithium disorder", "clinic Seahaven bills")):
        found = asked(door, "/v1/search", {"user_id": "ada", "query": query, **how, **reader})
        said_of = json.dumps(json.loads(found)["results"])
        assert shown(said_of) <= expected(held)
        if how == {"limit": 1}:
            assert json.loads(found)["results"]  # What may not be read takes no place from what may.
        if not how:
            assert shown(said_of) == expected(held)


@pytest.mark.parametrize("session", [{}, {"session_id": "s1"}], ids=["elsewhere", "in the session"])
def test_a_context_shows_what_its_reader_may_read(spoken: None, door: Doors, session: Json) -> None:
    for (reader, held), query in product(READERS, ("What is the salary?", "Which medicine, lithium?", "Seahaven?")):
        body = {"user_id": "ada", "query": query, "include": ["units"], **session, **reader}
        assert shown(asked(door, "/v1/context", body)) == expected(held)


def test_one_reader_after_another_gets_their_own_context(spoken: None, door: Doors) -> None:
    body = {"user_id": "ada", "query": "Northbridge salary", "session_id": "s1"}
    for held in (["*"], [], ["finance"], ["care"], ["*"], []):
        told = asked(door, "/v1/context", {**body, "reader_labels": held})
        assert shown(told) == expected({"finance", "care"} if held == ["*"] else set(held))


LISTS = (
    "/v1/memories?user_id=ada",
    "/v1/memories?user_id=ada&known_at=2100-01-01T00:00:00Z",
    "/v1/memories?session_id=s1&message_id=bill",
    "/v1/sessions/s1/messages?limit=100",
    "/v1/sessions/s1/units",
    "/v1/users/ada/profile?fresh=true",
)


@pytest.mark.parametrize("path", LISTS)
def test_a_list_shows_what_its_reader_may_read(spoken: None, door: Doors, path: str) -> None:
    for reader, held in READERS:
        answer = door.get(_with(path, reader))
        assert answer.status_code == 200, answer.text
        assert shown(answer.text) <= expected(held)
        if "user_id=ada" in path or "/messages?" in path:
            assert shown(answer.text) == expected(held)


def _with(path: str, reader: Json) -> str:
    named = "&".join(f"reader_labels={one}" for one in reader.get("reader_labels", ()))
    return f"{path}{'&' if '?' in path else '?'}{named}" if named else path


def test_one_memory_and_one_message_are_not_there_for_others(spoken: None, door: Doors) -> None:
    listed = door.get("/v1/memories?user_id=ada&reader_labels=*").json()["items"]
    labelled = [one for one in listed if one["audience_labels"]]
    assert {word for one in labelled for word in shown(one["content"])} == set(SECRETS)
    for one in labelled:
        for path in (f"/v1/memories/{one['id']}", f"/v1/memories/{one['id']}/history"):
            assert door.get(path).status_code == 404
            assert door.get(path, params={"reader_labels": one["audience_labels"]}).status_code == 200
        assert not door.post("/v1/memories/fetch", {"ids": [one["id"]]}).json()["items"]
    for message_id in ("money", "health", "bill"):
        assert door.get(f"/v1/sessions/s1/messages/{message_id}").status_code == 404


def test_related_memories_are_those_that_the_reader_may_read(spoken: None, door: Doors, app: Database) -> None:
    listed = door.get("/v1/memories?user_id=ada&reader_labels=*").json()["items"]
    hub = next(one for one in listed if "Porto" in one["content"])
    others = [one["id"] for one in listed if one["id"] != hub["id"]]
    with app.tenant(TENANT) as tx:
        for one in others:
            relation = text("INSERT INTO relations (tenant_id, from_id, relation, to_id) VALUES (:t, :a, 'about', :b)")
            tx.execute(relation, {"t": TENANT, "a": hub["id"], "b": one})
    for reader, held in READERS:
        answer = door.get(f"/v1/memories/{hub['id']}/related", params={**reader, "depth": 2})
        assert shown(answer.text) == expected(held)


def test_what_is_told_to_everybody_tells_nothing_labelled(spoken: None, door: Doors, app: Database) -> None:
    door.post("/v1/sessions/s1/summary")
    with app.tenant(TENANT) as tx:
        for table in ("summaries", "units", "profiles", "plans"):
            rows = tx.execute(text(f"SELECT to_jsonb(t) FROM {table} t")).scalars().all()
            assert not shown(json.dumps(rows, default=str)), table
        shared = tx.execute(text("SELECT content FROM memories WHERE audience_labels = '{}'")).scalars()
        assert not shown(" ".join(shared))
        assert tx.execute(text("SELECT count(*) FROM summaries")).scalar_one()
        assert tx.execute(text("SELECT count(*) FROM units")).scalar_one()


@pytest.fixture
def keys(app: Database, door: Doors) -> dict[str, str]:
    """A key limited to no label, one to finance, and one to both."""
    held = {"nothing": [], "finance": ["finance"], "both": ["finance", "care"]}
    with app.tenant(TENANT) as tx:
        return {name: tenants.create_key(tx, TENANT, ("read", "write"), None, held[name])[1] for name in held}


HELD = {"nothing": set(), "finance": {"finance"}, "both": {"finance", "care"}}


@pytest.mark.parametrize("name", HELD)
def test_a_key_never_reads_beyond_its_labels(spoken: None, door: Doors, keys: dict[str, str], name: str) -> None:
    for reader in (None, [], ["finance"], ["care", "finance"], ["*"]):
        more = {} if reader is None else {"reader_labels": reader}
        held = HELD[name] & (HELD["both"] if reader is None or "*" in reader else set(reader))
        for query in ("salary Northbridge", "lithium disorder", "clinic Seahaven bills"):
            body = {"user_id": "ada", "query": query, **more}
            found = json.loads(asked(door, "/v1/search", body, key=keys[name]))["results"]
            assert shown(json.dumps(found)) == expected(held)
            assert shown(asked(door, "/v1/context", body, key=keys[name])) == expected(held)
        for path in LISTS if reader != [] else ():  # A query string cannot name none.
            listed = door.get(_with(path, more), key=keys[name])
            assert listed.status_code == 200
            assert shown(listed.text) <= expected(held)


def test_routes_that_enforce_no_labels_refuse_a_key_with_labels(
    spoken: None, door: Doors, keys: dict[str, str]
) -> None:
    paths = ("/v1/events", "/v1/memories/decisions", "/v1/dispatches", "/v1/stats", "/v1/sessions/s1/plans")
    for path in paths:
        assert door.get(path).status_code == 200
        refused = door.get(path, key=keys["both"])
        assert refused.status_code == 403
        assert "audience labels" in refused.text


def test_a_key_with_labels_writes_only_what_it_can_read(spoken: None, door: Doors, keys: dict[str, str]) -> None:
    wanted = {"user_id": "ada", "content": "Ada's rent is 1200 euros."}
    made = door.post("/v1/memories", {**wanted, "audience_labels": ["finance"]}, key=keys["finance"])
    assert made.status_code == 201, made.text
    path, version = f"/v1/memories/{made.json()['memory']['id']}", {"importance": 0.9}
    assert door.post("/v1/memories", {**wanted, "audience_labels": ["care"]}, key=keys["finance"]).status_code == 422
    for labels, name, status in (([], "finance", 422), (["care"], "both", 422), (["finance", "care"], "both", 200)):
        edited = door.ask("PATCH", path, json={"audience_labels": labels, **version}, key=keys[name])
        assert edited.status_code == status, edited.text
    assert door.ask("PATCH", path, json=version, key=keys["finance"]).status_code == 404
    assert door.ask("PATCH", path, json={"audience_labels": []}).status_code == 404
    opened = door.ask("PATCH", f"{path}?reader_labels=*", json={"audience_labels": []})
    assert opened.json()["audience_labels"] == []
    assert door.get(path, key=keys["nothing"]).status_code == 200


@pytest.mark.parametrize("labels", [["finance"], ["care", "finance"]])
def test_a_key_with_labels_publishes_only_what_it_can_read(door: Doors, app: Database, labels: list[str]) -> None:
    with app.tenant(TENANT) as tx:
        key = tenants.create_key(tx, TENANT, ("publish",), None, ["care"])[1]
    message = said("My rent is 1200 euros.", audience_labels=labels)
    answer = door.post("/v1/events", [said("Hello."), message], key=key)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/1/payload/audience_labels"
    assert "lacks finance" in answer.json()["errors"][0]["detail"]
    bus = Intake(app, TENANT, 100, 4096, lambda: None)
    BusMessage(bus, json.dumps(message).encode(), {"authorization": f"Bearer {key}"}, "application/json").accept()
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM messages")).scalar_one() == 0
    assert door.post("/v1/events", said("Fine.", audience_labels=["care"]), key=key).status_code == 202


def test_what_is_said_to_others_confirms_and_supersedes_nothing(app: Database, works: Works, door: Doors) -> None:
    moved = {"user_id": "ada", "content": "Ada lives in Lisbon.", "attribute": "home.city", "value": "Lisbon"}
    secret = {**moved, "content": "Ada lives in Oslo.", "value": "Oslo", "audience_labels": ["family"]}
    first, second, again = (door.post("/v1/memories", body).json() for body in (moved, secret, secret))
    assert (first["verdict"], second["verdict"], again["verdict"]) == ("add", "add", "confirm")
    assert door.post("/v1/memories", {**secret, "audience_labels": ["work"]}).json()["verdict"] == "add"
    listed = door.get("/v1/memories?user_id=ada").json()["items"]
    assert [one["value"] for one in listed] == ["Lisbon"]


def test_a_statement_that_cites_a_labelled_message_has_its_labels(spoken: None, door: Doors) -> None:
    cited = [{"session_id": "s1", "message_id": "bill"}]
    body = {"user_id": "ada", "content": "Ada is treated at a clinic.", "evidence": cited, "audience_labels": ["x"]}
    made = door.post("/v1/memories", body).json()["memory"]
    assert made["audience_labels"] == ["care", "finance", "x"]


def test_a_rule_labels_a_message_and_what_was_drawn_from_it(
    spoken: None, door: Doors, works: Works, app: Database
) -> None:
    rule = {
        "name": "label_places",
        "event_type": "message.added",
        "conditions": {"all": [{"field": "payload.content", "op": "contains", "value": "Porto"}]},
        "actions": [{"action_type": "run_agent", "target": "message_labeller", "params": {"labels": ["family"]}}],
        "action_mode": "auto",
        "risk_level": "low",
    }
    made = door.post("/v1/rules", rule)
    assert made.status_code == 201, made.text
    porto = {"user_id": "ben", "session_id": "late", "query": "Porto"}
    documents = [said(OPEN, user="ben", session="late"), said("I like tea.", user="ben", session="late")]
    accept_all(app, [*documents, ended("late", "ben", message_count=2)])
    works.settle()
    for path, more in (("/v1/search", {}), ("/v1/context", {}), ("/v1/context", {"include": ["units"]})):
        body = {**porto, **more}
        assert "Porto" in asked(door, path, {**body, "reader_labels": ["family"]})
        assert "in Porto" not in asked(door, path, body)
    logged = door.get("/v1/events?session_id=late&type=message.added").json()["items"]
    assert [one["payload"].get("audience_labels") for one in logged] == [None, ["family"]]


def test_tools_enforce_labels_or_refuse_a_key_with_labels(spoken: None, door: Doors, keys: dict[str, str]) -> None:
    def call(name: str, key: str, **arguments: object) -> str:
        headers = {"Accept": "application/json, text/event-stream", "Host": "127.0.0.1"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return str(door.post("/mcp", body, key=key, headers=headers).text)

    listed = door.get("/v1/memories?user_id=ada&reader_labels=*").json()["items"]
    money = next(one["id"] for one in listed if "Northbridge" in one["content"])
    found = call("memory_search", keys["finance"], user_id="ada", query="salary disorder clinic bills")
    assert shown(found) == {"Northbridge"}
    assert shown(call("context_build", keys["nothing"], user_id="ada", session_id="s1", query="pays")) == set()
    assert shown(call("memory_search", door.keys[TENANT], user_id="ada", query="salary disorder clinic bills")) == set()
    assert "audience labels" in call("memory_why", keys["both"], memory_id=money)
    assert "Northbridge" in call("memory_why", door.keys[TENANT], memory_id=money)
