"""Deletion as reviewers of memories try it, in thirteen steps; and a search of every byte for what is left."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from kombu.connection import Connection

from core.config import Settings
from core.memory import receipts
from core.types import Json
from tests.core.erasing import a_word
from tests.doors import Doors, opened
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.readiness import wait_until_ready
from tests.samples import ended, event, said
from tests.works import Works, at_work
from workers.routing.bus_consumer import EXCHANGE

CITY = "Madrid"


@dataclass
class Talk:
    """Users who talk through the door, and everything that follows."""

    door: Doors
    works: Works
    turns: int = 0

    def tell(self, *words: str, user: str = "ada") -> None:
        """Say something in a session of its own, until all that follows has ended."""
        self.turns += 1
        session = f"s{self.turns}"
        spoken = [said(one, session=session, user=user) for one in words]
        answer = self.door.post("/v1/events", [*spoken, ended(session, user, message_count=3)])
        assert answer.status_code == 202, answer.text
        self.works.settle()

    def memories(self, user: str = "ada", **wanted: Any) -> list[Any]:
        found: list[Any] = self.door.get("/v1/memories", params={"user_id": user, **wanted}).json()["items"]
        return found

    def cities(self, user: str = "ada") -> list[str]:
        return [one["value"] for one in self.memories(user, attribute="home.city")]

    def found(self, query: str, user: str = "ada") -> list[str]:
        """What a search answers as memories, archived and superseded ones too."""
        asked = {"user_id": user, "query": query, "include": ["memories"], "include_archived": True, "limit": 50}
        return [one["content"] for one in self.door.post("/v1/search", asked).json()["results"]]

    def settled(self, path: str, body: Json) -> Any:
        answer = self.door.post(path, body)
        assert answer.is_success, answer.text
        self.works.settle()
        return answer.json()


@pytest.fixture
def talk(door: Doors, works: Works) -> Talk:
    return Talk(door, works)


def test_a_deletion_holds_in_thirteen_steps(talk: Talk, settings: Settings) -> None:
    talk.tell("I live in Lisbon.", "I play chess.")  # 1: tell
    talk.tell(f"I live in {CITY}.", user="bob")
    assert any("Lisbon" in one for one in talk.found("Where does Ada live?"))  # 2: ask
    talk.tell("Actually, I live in Porto.")  # 3: correct
    assert talk.cities() == ["Porto"]
    talk.tell(f"I moved to {CITY}.")  # 4: supersede
    assert talk.cities() == [CITY]
    memory = talk.memories(attribute="home.city")[0]["id"]

    receipt = talk.door.ask("DELETE", f"/v1/memories/{memory}")  # 5: delete
    assert receipt.status_code == 200, receipt.text
    talk.works.settle()

    def gone(from_talk: Talk) -> bool:
        return CITY not in from_talk.cities() and not any(CITY in one for one in from_talk.found(f"{CITY}, Ada?"))

    assert gone(talk)  # 6: ask again
    for path in ("", "/history", "/why", "/related"):  # 7: every other way to it
        assert talk.door.get(f"/v1/memories/{memory}{path}").status_code == 404
    for path in ("/v1/memories/decisions?user_id=ada", "/v1/memories?user_id=ada&include_archived=true"):
        assert CITY not in talk.door.get(path).text
    assert CITY not in talk.door.get("/v1/users/ada/profile").text

    talk.tell(f"I moved to {CITY}.", "I also like tea.")  # 8: say it again, in passing
    talk.tell(f"In {CITY} I live.")
    assert gone(talk)
    assert any("tea" in one for one in talk.found("What does Ada like to drink?"))

    talk.settled("/v1/memories", {"user_id": "ada", "content": "Ada has a dog."})  # 9: what is swept
    assert gone(talk)

    rebuild = talk.settled("/v1/rebuilds", {"user_id": "ada"})["id"]  # 10: made anew from the log
    assert talk.door.get(f"/v1/rebuilds/{rebuild}").json()["status"] == "ready"
    assert CITY not in talk.door.get(f"/v1/rebuilds/{rebuild}").text
    talk.settled(f"/v1/rebuilds/{rebuild}/apply", {})
    assert gone(talk)

    with opened(settings) as door, at_work(settings) as works:  # 11: after a restart
        again = Talk(door, works, talk.turns)
        again.tell(f"I moved to {CITY}.")
        assert gone(again)
        talk.turns = again.turns

    assert talk.cities("bob") == [CITY]  # 12: nobody else is touched
    assert any("chess" in one for one in talk.found("What does Ada play?"))

    asked = {"user_id": "ada", "content": f"Ada lives in {CITY}.", "attribute": "home.city", "value": CITY}
    talk.settled("/v1/memories", asked)  # 13: who asks for it has it again
    assert CITY in talk.cities()
    version = talk.memories(attribute="home.city")[0]["version"]
    talk.tell(f"I live in {CITY}.")
    assert talk.memories(attribute="home.city")[0]["version"] > version, "told again, it is confirmed"


# Every byte


@dataclass(frozen=True, slots=True)
class Stack:
    """`imprint up` in a folder of its own."""

    home: Path
    mirror: Path
    http: httpx.Client
    environment: dict[str, str]

    def imprint(self, *words: str) -> str:
        """A command on this stack; what it said on standard output."""
        command = [sys.executable, "-m", "api.cli.main", *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def settle(self, answer: httpx.Response) -> None:
        assert answer.status_code == 202, answer.text
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.http.get(
            "/v1/settle", params={"token": answer.json()["settle_token"], "timeout": 20, "flush": True}
        ).json()["settled"]:
            assert time.monotonic() < until

    @property
    def address(self) -> dict[str, str]:
        addresses: dict[str, str] = json.loads((self.home / "run" / "stack.json").read_text())
        return addresses

    def rows(self) -> Iterator[str]:
        """Every row of every table, of all tenants, as text."""
        secret = json.loads((self.home / "secrets.json").read_text())["postgres"]
        address = self.address["database_url"].rpartition("@")[2]
        with psycopg.connect(f"postgresql://postgres:{secret}@{address}") as connection:
            tables = connection.execute(
                "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables"
                " WHERE schemaname NOT IN ('information_schema')"
            ).fetchall()
            for (table,) in tables:
                for (row,) in connection.execute(f"SELECT t::text FROM {table} t"):
                    yield f"{table}: {row}"

    def files(self) -> Iterator[Path]:
        return (one for folder in (self.home, self.mirror) for one in folder.rglob("*") if one.is_file())

    def holding(self, *words: str) -> list[str]:
        """The tables and files that hold one of the words, in any case, as it is or in base64."""
        marks = [mark.lower() for word in words for mark in (word.encode(), *_in_base64(word))]
        found = {row.split(":", 1)[0] for row in self.rows() if any(m in row.encode().lower() for m in marks)}
        for file in self.files():
            content = file.read_bytes().lower()
            found |= {str(file)} if any(mark in content for mark in marks) else set()
        return sorted(found)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home, mirror = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("mirror")
    with _up(home, mirror) as running:
        yield running


@contextmanager
def _up(home: Path, mirror: Path) -> Iterator[Stack]:
    port = free_port()
    environment = {
        **os.environ,
        "IMPRINT_HOME": str(home),
        "IMPRINT_HTTP_PORT": str(port),
        "IMPRINT_METRICS_PORT": str(free_port()),
        "IMPRINT_EMBEDDING": "hash",
        "IMPRINT_MIRROR_DIR": str(mirror),
        "IMPRINT_WEBHOOK_HOSTS": '["nowhere.invalid"]',
    }
    command = [sys.executable, "-m", "api.cli.main", "up", "--quiet"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(process, port)
        key = (home / "run" / "api.key").read_text().strip()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=90) as client:
            yield Stack(home, mirror, client, environment)
    finally:
        process.terminate()
        process.wait(60)


def _in_base64(word: str) -> Iterator[bytes]:
    """What a word looks like inside of a longer text in base64, as the broker gets it, wherever it begins."""
    for before in range(3):
        encoded = base64.b64encode(b"." * before + word.encode()).rstrip(b"=")
        yield encoded[(before * 8 + 5) // 6 : (before + len(word)) * 8 // 6]


def _plant(stack: Stack, user: str, word: str) -> None:
    """Leave the word of a user wherever the service writes one."""
    name, post = word.capitalize(), stack.http.post
    echo = {
        "name": "planted-echo",
        "event_type": ["message.added", "memory.created"],
        "actions": [{"action_type": "emit", "event_type": "said.again", "payload": {"words": "{{payload.content}}"}}],
    }
    webhook = {"action_type": "webhook", "url": "https://nowhere.invalid", "payload": {"w": "{{payload.content}}"}}
    broken = {
        "name": "planted-webhook",
        "event_type": "message.added",
        "actions": [webhook],
    }
    assert post("/v1/rules", json=echo).is_success
    group = {"group_id": "choir", "session": "evening"}
    spoken = [
        said(f"I live in {name}.", session=f"s-{user}", user=user),
        said(f"I work at {name}.", session=f"s-{user}", user=user),
        said("I play chess.", user="bob", **group),
        said(f"My sister is called {name}.", user=user, **group),
        ended("evening", "bob", message_count=3),
        ended(f"s-{user}", user, message_count=3),
    ]
    stack.settle(post("/v1/events", json=spoken))
    stack.settle(post("/v1/events", json=said(f"I live in {name}.", session=f"t-{user}", user=user)))
    asked = post("/v1/memories", json={"user_id": user, "content": f"I keep {word} at home.", "importance": 0.9}).json()
    memory = asked.get("memory", asked)["id"]
    assert stack.http.patch(f"/v1/memories/{memory}", json={"content": f"I keep a {word} at home."}).is_success
    post("/v1/search", json={"user_id": user, "query": word})
    _over_the_bus(stack, user, word)
    stack.settle(post("/v1/events", json=event("order.placed", {"user_id": user, "what": word})))
    stack.http.get(f"/v1/users/{user}/profile")
    assert post("/v1/rules", json=broken).is_success
    time.sleep(4)  # Rules are in force within a second; the rest is for a machine that is busy.
    post("/v1/events", json=said(f"{name}, once more.", session=f"s-{user}", user=user))
    wait_until(lambda: bool(stack.http.get("/v1/dispatches?status=retrying").json()["items"]))


def _over_the_bus(stack: Stack, user: str, word: str) -> None:
    """Events that the broker has to write down, and one that nobody can read."""
    document = event("order.placed", {"user_id": user, "what": word}, id=f"bus-{word}")
    with Connection(stack.address["broker_url"]) as connection:
        producer = connection.Producer(exchange=EXCHANGE, routing_key="order.placed")
        producer.publish(json.dumps(document), content_type="application/json")
        producer.publish(json.dumps(document)[:-2], content_type="application/json")
    wait_until(lambda: stack.http.get(f"/v1/events/bus-{word}").is_success)


@pytest.mark.slow
def test_after_an_erasure_and_a_scrub_no_byte_of_a_user_is_left(stack: Stack, tmp_path: Path) -> None:
    word, user = a_word(), f"yolanda-{a_word()}"
    _plant(stack, user, word)
    planted = stack.holding(word)
    tables = {one.removeprefix("public.") for one in planted if one.startswith("public.")}
    assert {
        "events",
        "messages",
        "memories",
        "memory_versions",
        "evidence",
        "dispatches",
        "mirrors",
        "profiles",
    } <= tables
    for place in ("/postgres/pg_wal/", "/broker/", "/memory.md"):
        assert any(place in one for one in planted), place
    stack.imprint("db", "scrub")  # Takes nothing of those who are there; and statistics are made of what they said.
    kept = stack.holding(word)
    assert {"pg_catalog.pg_statistic", "public.messages"} <= set(kept)
    assert any("/postgres/base/" in one for one in kept)

    answer = stack.http.delete(f"/v1/users/{user}")
    assert answer.status_code == 200, answer.text
    (tmp_path / "receipt.json").write_text(answer.text)
    time.sleep(3)  # The agents that hear of it.
    left = stack.holding(word)
    assert [one for one in left if one.startswith("public.")] == [], "it is in no table any more"
    assert any("/postgres/base/" in one for one in left), "deleted rows stand in the files until the scrub"

    scrubbed = json.loads(stack.imprint("db", "scrub", "--json"))
    assert scrubbed["notes"] == []
    assert scrubbed["names"] == 1
    assert stack.holding(word) == []
    assert [one for one in stack.holding(user) if "/log/" not in one] == [], "the log says who, never what"
    key = stack.http.get("/v1/receipts/key").json()["public_key"]
    receipt = answer.json()
    assert receipts.verify(receipt["receipt"], receipt["signature"], key)
    stays = stack.http.get("/v1/sessions/evening/messages").json()["items"]
    assert [one["content"] for one in stays] == ["I play chess.", ""]
