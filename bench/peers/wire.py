"""How a bench speaks with a peer that runs by an interpreter of its own: JSON lines in, JSON lines out.

    {"do": "ingest", "user": …, "turns": [{"id", "session", "speaker", "role", "content", "text", "time"}], "live": …}
        → {"seconds": …, …}      until the peer says that all of it is kept and can be found
    {"do": "search", "user": …, "questions": […], "limit": 40, "clients": 1, "live": false}
        → {"answers": [[turn id, …], …], "ms": [[…], …]}
    {"do": "size"} → {"bytes": …}   what the peer keeps outside of PostgreSQL

`live` makes vectors when they are needed; otherwise those made before are looked up. Clocks run here, beside the peer,
so that nothing of this wire is measured. What a library prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

Json = dict[str, Any]


class Peer(Protocol):
    """Interface that a driver gives to a peer."""

    version: str

    def ingest(self, user: str, turns: Sequence[Json]) -> Json:
        """Keeps the turns; comes back when each can be found. Answers figures of its own, if it has any."""

    def search(self, user: str, question: str, limit: int) -> list[str]:
        """Ids of turns, best first."""

    def size(self) -> int:
        """Bytes kept outside of PostgreSQL."""

    def live(self, enabled: bool) -> None:
        """Whether vectors are made when they are needed."""


def serve(opened: Callable[[Json], Peer]) -> None:
    """Opens the peer with the settings of the first argument and answers until the bench hangs up."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    peer = opened(json.loads(sys.argv[1]))
    answers = {"ingest": _ingest, "search": _search, "size": lambda target, _: {"bytes": target.size()}}
    print(json.dumps({"version": peer.version}), file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        peer.live(request.get("live", False))
        print(json.dumps(answers[request["do"]](peer, request)), file=out, flush=True)


def _ingest(peer: Peer, request: Json) -> Json:
    began = time.perf_counter()
    result = peer.ingest(request["user"], request["turns"])
    return {"seconds": time.perf_counter() - began, **result}


def _search(peer: Peer, request: Json) -> Json:
    """Each client takes the next question that nobody has taken; all begin together."""
    questions, clients = list(enumerate(request["questions"])), request["clients"]
    answers: list[list[str]] = [[]] * len(questions)
    took = [0.0] * len(questions)
    start, taken, faults = threading.Barrier(clients), iter(questions), list[BaseException]()
    next_one = threading.Lock()

    def client() -> None:
        start.wait()
        try:
            while True:
                with next_one:
                    position, question = next(taken, (-1, ""))
                if position < 0:
                    return
                began = time.perf_counter()
                answers[position] = peer.search(request["user"], question, request["limit"])
                took[position] = (time.perf_counter() - began) * 1000
        except BaseException as fault:  # noqa: BLE001 - told to the bench below
            faults.append(fault)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return {"answers": answers, "ms": took}
