"""A running stack for the tests of the client, and ways to lose connections to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from imprint_client import Imprint

from bench.stand import Stand, stack


@pytest.fixture(scope="session")
def stand() -> Iterator[Stand]:
    with stack(embedding="hash") as running:
        yield running


@pytest.fixture
def client(stand: Stand) -> Iterator[Imprint]:
    with Imprint(stand.url, stand.key) as connected:
        yield connected


@dataclass
class Line(httpx.BaseTransport):
    """A connection to the real service that can be cut, before a request or before its answer."""

    away: bool = False
    answers_lost: int = 0
    sent: int = 0
    wire: httpx.HTTPTransport = field(default_factory=httpx.HTTPTransport)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        if self.away:
            raise httpx.ConnectError("refused")
        answer = self.wire.handle_request(request)
        if self.answers_lost:
            self.answers_lost -= 1
            answer.read()
            answer.close()
            raise httpx.ReadError("cut")
        return answer

    def close(self) -> None:
        self.wire.close()


@pytest.fixture
def line() -> Line:
    return Line()
