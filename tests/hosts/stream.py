"""A stream of events with known ids and known effects, and the proof that each has had its effects once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Final, Self

import httpx

from core.types import Json
from tests.hosts.cluster import Cluster
from tests.patience import wait_until

RULE: Final = "handed_on"
SOURCE: Final = "stream"
TOLD_EVERY: Final = 5
"""Of so many turns one tells something that is to be remembered; each has three events."""


@dataclass
class Stream:
    """Publishes to whichever host of the API accepts, the same ids again until one does, as a client has to."""

    cluster: Cluster
    name: str
    pause_seconds: float = 0.25
    refused: int = 0
    accepted: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream")
        self._users: list[str] = []
        self._faults: list[BaseException] = []

    def __enter__(self) -> Self:
        emit = {"action_type": "emit", "event_type": "load.handed_on", "payload": {"n": "{{payload.n}}"}}
        self.cluster.call("PUT", f"/v1/rules/{RULE}", {"event_type": "load.came", "actions": [emit]})
        wait_until(self._rule_acts)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._faults:
            raise self._faults[0]

    def _rule_acts(self) -> bool:
        self.cluster.call("POST", "/v1/events", [{"event_type": "load.came", "source": "probe", "payload": {"n": 0}}])
        return bool(self.cluster.select("SELECT FROM dispatches WHERE rule = :rule LIMIT 1", rule=RULE))

    def _run(self) -> None:
        try:
            with self.cluster.network.inside("operator"):
                self._publish_until_stopped()
        except BaseException as error:  # noqa: BLE001 - raised again in the test's own thread
            self._faults.append(error)

    def _publish_until_stopped(self) -> None:
        headers = {"authorization": f"Bearer {self.cluster.key}"}
        hosts = cycle(("api1", "api2"))
        # A connection of its own for each request: one to a host that has gone would be kept.
        with httpx.Client(headers=headers, timeout=3, limits=httpx.Limits(max_keepalive_connections=0)) as client:
            turn = 0
            while not self._stopped.wait(self.pause_seconds):
                batch = self._batch(turn)
                while not self._accepted(client, next(hosts), batch):
                    self.refused += 1
                self.accepted |= {event["id"]: time.monotonic() for event in batch}
                turn += 1

    def _accepted(self, client: httpx.Client, host: str, batch: list[Json]) -> bool:
        try:
            answer = client.post(f"{self.cluster.url(host)}/v1/events", json=batch)
        except httpx.TransportError:
            return False
        if answer.status_code in {httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS}:
            time.sleep(0.2)
            return False
        assert answer.is_success, answer.text
        return True

    def _batch(self, turn: int) -> list[Json]:
        came = {"event_type": "load.came", "payload": {"n": turn}, "id": f"{self.name}-{turn}", "source": SOURCE}
        if turn % TOLD_EVERY:
            return [came]
        user = f"{self.name}-u{turn}"
        self._users.append(user)
        talk = {"session_id": user, "user_id": user}
        said = {"role": "user", "speaker": "Ada", "content": "I live in Porto.", "message_id": "m0", **talk}
        return [
            came,
            {"event_type": "message.added", "payload": said, "id": f"{user}-said", "source": SOURCE},
            {
                "event_type": "session.ended",
                "payload": {**talk, "message_count": 1},
                "id": f"{user}-end",
                "source": SOURCE,
            },
        ]

    def settle(self) -> float:
        """Wait until nothing is left to do; return the seconds that it took."""
        began = time.monotonic()
        wait_until(lambda: not self._open(), every=0.25)
        return time.monotonic() - began

    def longest_wait(self) -> float:
        """Return the most seconds from an event on the log to its effect there."""
        ((seconds,),) = self.cluster.select(_LONGEST, like=f"{self.name}-%")
        return float(seconds)

    def _open(self) -> int:
        ((count,),) = self.cluster.select(_OPEN)
        return int(count)

    def assert_each_once(self) -> None:
        """Check that each accepted event is on the log once, was decided once, and has had each effect once."""
        like = f"{self.name}-%"
        logged = self.cluster.select(
            "SELECT id FROM events WHERE source = :source AND id LIKE :like", source=SOURCE, like=like
        )
        assert sorted(row.id for row in logged) == sorted(self.accepted)
        turns = sorted(name for name in self.accepted if name.count("-") == 1)
        for effect, query in _EFFECTS_OF_EVENTS.items():
            counts = {row.id: row.number for row in self.cluster.select(query, like=like, rule=RULE)}
            self._assert_once(effect, turns, counts)
        for effect, query in _EFFECTS_OF_TALKS.items():
            counts = {row.user_id: row.number for row in self.cluster.select(query, like=like)}
            self._assert_once(effect, self._users, counts)
        assert self.cluster.select("SELECT id, target, error FROM dispatches WHERE status = 'dead'") == []

    @staticmethod
    def _assert_once(effect: str, names: Iterable[str], counts: Mapping[str, int]) -> None:
        other_counts = {name: counts.get(name, 0) for name in {*names, *counts} if counts.get(name, 0) != 1}
        assert not other_counts, f"{effect}, not once: {other_counts}"

    @property
    def told(self) -> int:
        return len(self._users)


_OPEN = """
    SELECT (SELECT count(*) FROM events WHERE routed_at IS NULL)
         + (SELECT count(*) FROM dispatches WHERE status IN ('pending', 'running', 'retrying', 'held'))
"""

_DECIDED = """
    SELECT e.id, count(*) AS number FROM events e
    JOIN decisions d ON d.tenant_id = e.tenant_id AND d.event_seq = e.seq AND d.rule = :rule
    WHERE e.id LIKE :like GROUP BY 1
"""

_HANDED_ON = """
    SELECT c.id, count(*) AS number FROM events e JOIN events c ON c.tenant_id = e.tenant_id AND c.id = e.causation_id
    WHERE e.event_type = 'load.handed_on' AND c.id LIKE :like AND :rule <> '' GROUP BY 1
"""

_LONGEST = """
    SELECT extract(epoch FROM max(e.received_at - c.received_at)) FROM events e
    JOIN events c ON c.tenant_id = e.tenant_id AND c.id = e.causation_id
    WHERE e.event_type = 'load.handed_on' AND c.id LIKE :like
"""

_DONE = """
    SELECT e.id, count(*) AS number FROM events e
    JOIN dispatches d ON d.tenant_id = e.tenant_id AND d.event_seq = e.seq AND d.rule = :rule
    WHERE e.id LIKE :like AND d.status = 'done' GROUP BY 1
"""

_MESSAGES = "SELECT user_id, count(*) AS number FROM messages m WHERE user_id LIKE :like AND position = 1 GROUP BY 1"

_MEMORIES = """
    SELECT user_id, sum(version)::int AS number FROM memories
    WHERE user_id LIKE :like AND category <> 'episode' GROUP BY 1
"""

_ANNOUNCED = """
    SELECT user_id, count(*) AS number FROM events WHERE event_type = 'memory.created' AND user_id LIKE :like GROUP BY 1
"""

_EFFECTS_OF_EVENTS: Final = {"decided": _DECIDED, "handed on": _HANDED_ON, "dispatch done": _DONE}
_EFFECTS_OF_TALKS: Final = {"message stored": _MESSAGES, "memory written": _MEMORIES, "memory announced": _ANNOUNCED}


def figure(name: str, seconds: Any) -> None:
    """Print a figure of a run: shown by `pytest -s`, and where a test fails."""
    print(f"{name}: {seconds:.1f} s")
