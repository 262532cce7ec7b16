"""The door for `bench.search`: questions over HTTP, by one client and by many at once."""

from __future__ import annotations

import json
import random
import re
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pydantic_core import from_json

from bench.search_data import Asked, Filled
from bench.stand import Stand, percentiles, stack

NOBODY = "nobody"
"""User without memories: a question about them takes the making of its vector, and next to nothing else."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class Client:
    """One connection that stays open. It shares the cores with the server, so it parses no more than it needs."""

    def __init__(self, stand: Stand) -> None:
        address = urlsplit(stand.url)
        self._socket = socket.create_connection((address.hostname, address.port), timeout=90)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = (
            f"POST /v1/search HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {stand.key}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        ).encode()

    def ask(self, user: str, text: str) -> int:
        """How many were found."""
        body = json.dumps({"user_id": user, "query": text, "limit": 10}).encode()
        self._socket.sendall(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        head, answer = self._receive()
        assert head.startswith(b"HTTP/1.1 200 "), answer
        return len(from_json(answer)["results"])

    def _receive(self) -> tuple[bytes, bytes]:
        """Return the head and the body of an answer."""
        read = b""
        while (end := read.find(b"\r\n\r\n")) < 0:
            read += self._receive_some()
        length = _LENGTH.search(read, 0, end + 2)
        assert length is not None, read
        while len(read) < end + 4 + int(length[1]):
            read += self._receive_some()
        return read[:end], read[end + 4 :]

    def _receive_some(self) -> bytes:
        some = self._socket.recv(1 << 16)
        assert some, "the server has closed the connection"
        return some

    def find(self, question: Asked) -> None:
        """Ask, and find as many as were asked for."""
        assert self.ask(question.user, question.text) == 10

    def embed(self, text: str) -> None:
        """Let the door make a question's vector; it remembers it."""
        self.ask(NOBODY, text)

    def close(self) -> None:
        self._socket.close()


@dataclass(frozen=True, slots=True)
class Crowded:
    """Milliseconds of all answers, and answers a second."""

    clients: int
    took: list[float]
    rate: float


@contextmanager
def served(there: Filled, processes: int | None = None) -> Iterator[Stand]:
    """A stack on this database, as a user starts it, with the local model; `processes` of the API, or the default."""
    with stack(database_url=there.postgres.url, api_processes=str(processes or "")) as stand:
        client = Client(stand)
        client.embed("Is the model there?")
        client.close()
        yield stand


def at_once(stand: Stand, questions: Sequence[Asked], clients: int) -> Crowded:
    """All questions, by so many clients of whom each asks the next one when it has its answer."""
    waiting = iter(random.Random(7).sample(questions, len(questions)))
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        took = [
            seconds
            for some in pool.map(lambda _: _one_after_another(stand, waiting), range(clients))
            for seconds in some
        ]
    return Crowded(clients, took, len(took) / (time.perf_counter() - began))


def compared(name: str, alone: Crowded, many: Crowded) -> dict[str, float]:
    """Waits of many clients at once and of one alone."""
    single, together = percentiles(alone.took), percentiles(many.took)
    return {
        f"{name}: 1 client, p50, ms": single["p50"],
        f"{name}: {many.clients} clients, p50, ms": together["p50"],
        f"{name}: {many.clients} clients, p95, ms": together["p95"],
        f"{name}: p95 of {many.clients} to the p50 of 1 (14)": together["p95"] / single["p50"],
        f"{name}: searches/s of 1": alone.rate,
        f"{name}: searches/s of {many.clients} (450)": many.rate,
        f"{name}: searches/s of {many.clients} to those of 1 (1.5)": many.rate / alone.rate,
    }


def _one_after_another(stand: Stand, waiting: Iterator[Asked]) -> list[float]:
    client, took = Client(stand), []
    for question in waiting:  # An iterator over a list gives each element to one thread.
        began = time.perf_counter()
        client.find(question)
        took.append(1000 * (time.perf_counter() - began))
    client.close()
    return took
