"""Imprint over its public HTTP API, asked as any client asks it; nothing is imported from it.

The database is looked into for one thing alone: when the last vector is there.
"""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from wire import Json, serve

BATCH = 200
PROBES = 8
REACHING = 6
GIVE_UP_S = 900
POLL_S = 0.02
_UNEMBEDDED = """
SELECT count(*) FILTER (WHERE embedding IS NOT NULL) FROM search_index WHERE user_id = %s AND type = 'message'
"""


class Imprint:
    """`live` asks each question in a spelling not asked before: with one more space at its end.

    The service caches vectors by a digest of the text, and spaces change neither a word nor a vector. A question asked
    before finds its vector cached, as the peers look theirs up. Each process of the service has a cache of its own, so
    the first time a question is asked over several connections.
    """

    version = ""

    def __init__(self, settings: Json) -> None:
        self._key, self._port, self._database = settings["key"], settings["port"], settings["database"]
        self._local = threading.local()
        self._spaces, self._live = 0, False
        self._asked: set[tuple[str, str]] = set()

    def ingest(self, user: str, turns: Sequence[Json]) -> Json:
        began, token = time.perf_counter(), ""
        events = events_of(user, turns)
        for start in range(0, len(events), BATCH):
            token = self._call("POST", "/v1/events", events[start : start + BATCH])["settle_token"]
        accepted = time.perf_counter() - began
        for probe in probes(turns):
            self._await_found(user, probe)
        findable = time.perf_counter() - began
        self._await_vectors(user, len(turns))
        vectors = time.perf_counter() - began
        while not self._call("GET", f"/v1/settle?token={token}&timeout=20")["settled"]:
            pass
        return {"accepted": accepted, "seconds": findable, "vectors": vectors, "settled": time.perf_counter() - began}

    def search(self, user: str, question: str, limit: int) -> list[str]:
        if self._live:
            return self._cited_messages(user, question + " " * self._spaces, limit, "hybrid")
        if (user, question) not in self._asked:
            self._asked.add((user, question))
            self._ask_each_process({"user_id": user, "query": question, "limit": limit})
        return self._cited_messages(user, question, limit, "hybrid")

    def size(self) -> int:
        return 0

    def live(self, enabled: bool) -> None:
        self._live = enabled
        self._spaces += enabled

    def _cited_messages(self, user: str, text: str, limit: int, method: str) -> list[str]:
        body = {"user_id": user, "query": text, "limit": limit, "method": method}
        results = self._call("POST", "/v1/search", body)["results"]
        return [source["message_id"] for result in results for source in result["sources"] if source.get("message_id")]

    def _ask_each_process(self, body: Json) -> None:
        """Ask over connections that are open at once, which the processes share among them."""
        several = [http.client.HTTPConnection("127.0.0.1", self._port, timeout=90) for _ in range(REACHING)]
        for connection in several:
            connection.connect()
        for connection in several:
            self._send(connection, "POST", "/v1/search", body)
            connection.close()

    def _await_found(self, user: str, turn: Json) -> None:
        end = time.monotonic() + GIVE_UP_S
        while turn["id"] not in self._cited_messages(user, turn["content"], 10, "keyword"):
            if time.monotonic() > end:
                raise SystemExit(f"{turn['id']} was not found within {GIVE_UP_S} s")
            time.sleep(POLL_S)

    def _await_vectors(self, user: str, count: int) -> None:
        self._local.http.close()  # the service closes what idles
        end = time.monotonic() + GIVE_UP_S
        with psycopg.connect(self._database, autocommit=True) as database:
            while (row := database.execute(_UNEMBEDDED, (user,)).fetchone()) is None or row[0] < count:
                if time.monotonic() > end:
                    raise SystemExit(f"{row} of {count} vectors after {GIVE_UP_S} s")
                time.sleep(POLL_S)

    def _call(self, method: str, path: str, body: object = None) -> Any:
        if not hasattr(self._local, "http"):
            self._local.http = http.client.HTTPConnection("127.0.0.1", self._port, timeout=90)
        return self._send(self._local.http, method, path, body)

    def _send(self, connection: http.client.HTTPConnection, method: str, path: str, body: object) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        read = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {read[:300]!r}")
        return json.loads(read)


def probes(turns: Sequence[Json]) -> list[Json]:
    """The longest turn of each eighth of a conversation: words enough to be told from all others."""
    size = -(-len(turns) // PROBES)
    return [max(part, key=lambda turn: len(turn["content"])) for part in parts(turns, size)]


def parts(turns: Sequence[Json], size: int) -> list[Sequence[Json]]:
    return [turns[start : start + size] for start in range(0, len(turns), size)]


def events_of(user: str, turns: Sequence[Json]) -> list[Json]:
    """Each turn as `message.added`, and the end of each session."""
    events: list[Json] = []
    for session, group in itertools.groupby(turns, key=lambda turn: turn["session"]):
        about = {"session_id": f"{user}/{session}", "user_id": user}
        messages = list(group)
        for turn in messages:
            named = {"message_id": turn["id"], **{name: turn[name] for name in ("speaker", "role", "content")}}
            events.append({"event_type": "message.added", "time": turn["time"], "payload": {**about, **named}})
        ended = {"event_type": "session.ended", "time": messages[-1]["time"]}
        events.append({**ended, "payload": {**about, "message_count": len(messages)}})
    return [{**event, "source": "peers", "subject": f"session:{event['payload']['session_id']}"} for event in events]


if __name__ == "__main__":
    serve(Imprint)
