"""What somebody without a key can do to the API: bodies, headers and connections without a bound."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from core.config import Settings
from tests.doors import key_of
from tests.patience import wait_until
from tests.samples import TENANT
from tests.security.processes import Served, head, process, pulse, send, status_of

MIB = 1024 * 1024
HUGE = 64 * MIB
FLAT = 20 * MIB
HALF_OPEN = 1_200


@pytest.fixture(scope="module")
def served(upgraded: Settings) -> Iterator[Served]:
    with process(upgraded) as running:
        yield running


OPEN = {"/healthz", "/readyz"}


def requests_of(served: Served) -> list[tuple[str, str, set[int]]]:
    """Every request that the OpenAPI document names, and some that it does not; each with what may be answered."""
    paths = httpx.get(f"{served.url}/openapi.json", timeout=30).json()["paths"]
    documented = [
        (method.upper(), re.sub(r"[{}]", "", path), {413} if path in OPEN else {401})
        for path, methods in paths.items()
        for method in methods
    ]
    assert len(documented) > 80
    others = [
        ("POST", "/nowhere", {404}),
        ("PUT", "/v1", {404}),
        ("PATCH", "/healthz", {405}),
        ("POST", "/docs", {405}),
    ]
    return [*documented, *others]


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_64_mib_without_a_key_are_refused_unread_on_every_route(served: Served, chunked: bool) -> None:
    wanted, before, wrong = requests_of(served), served.rss(), []
    with pulse(served) as healthy:
        for method, path, expected in wanted:
            asked = head(method, path, size=None if chunked else HUGE)
            answered, taken = send(served, asked, HUGE, chunked=chunked)
            if answered not in expected or taken > 8 * MIB:
                wrong.append((method, path, answered, taken))
    assert wrong == []
    assert served.rss() - before < FLAT
    assert healthy.is_quick(), healthy


@pytest.mark.parametrize("size", [2 * MIB, HUGE])
def test_a_body_above_the_bound_of_its_route_is_413_for_who_has_a_key(
    settings: Settings, served: Served, size: int
) -> None:
    key = key_of(settings, TENANT)
    before = served.rss()
    with pulse(served) as healthy:
        for path in ("/v1/search", "/v1/context", "/v1/rules/test", "/v1/memories", "/mcp"):
            for chunked in (False, True):
                asked = head("POST", path, key=key, size=None if chunked else size)
                assert send(served, asked, size, chunked=chunked)[0] == 413, path
    assert served.rss() - before < FLAT
    assert healthy.is_quick(), healthy


def test_a_key_without_the_scope_is_403_before_its_body_is_read(settings: Settings, served: Served) -> None:
    key = key_of(settings, TENANT, ("read",))
    for path in ("/v1/events", "/v1/memories", "/v1/documents", "/v1/rules/import"):
        answered, taken = send(served, head("POST", path, key=key, size=HUGE), HUGE)
        assert (answered, taken < 8 * MIB) == (403, True), path


@pytest.mark.parametrize("size", [MIB, 128 * MIB])
def test_an_endless_header_is_cut_off_early(served: Served, size: int) -> None:
    before = served.rss()
    with pulse(served) as healthy:
        answered, taken = send(served, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ", size)
    assert answered in {431, 0}
    assert taken <= 8 * MIB
    assert served.rss() - before < FLAT
    assert healthy.is_quick(), healthy


@pytest.mark.parametrize(
    "lines",
    [
        b"".join(b"X-%d: 1\r\n" % i for i in range(300)),
        b"X-Long: " + b"a" * 70_000 + b"\r\n",
        b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1_000) for i in range(80)),
    ],
    ids=["many", "one long", "together long"],
)
def test_headers_above_the_bound_are_431(served: Served, lines: bytes) -> None:
    with served.connect() as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n")
        assert status_of(link) == 431


def test_an_address_above_the_bound_is_refused(served: Served) -> None:
    with served.connect() as link:
        link.sendall(b"GET /healthz?" + b"a" * 300_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        assert status_of(link) in {400, 414, 431}


def test_endless_trailers_are_cut_off(settings: Settings, served: Served) -> None:
    key, before = key_of(settings, TENANT), served.rss()
    opened = head("POST", "/v1/search", key=key) + b"2\r\n{}\r\n0\r\n"
    _, taken = send(served, opened + b"X-Long: ", HUGE)
    assert taken <= 8 * MIB
    assert served.rss() - before < FLAT


@pytest.mark.parametrize(
    "part",
    [b"", b"POST /v1/search HTTP/1.1\r\nHost: a\r\nContent-", head("POST", "/v1/search", size=1_000) + b"{"],
    ids=["nothing", "half a header", "half a body"],
)
def test_half_requests_are_closed_after_the_deadline(settings: Settings, part: bytes) -> None:
    with process(settings, http_header_seconds=2, http_body_seconds=2) as served, contextlib.ExitStack() as open_ones:
        links = [open_ones.enter_context(served.connect()) for _ in range(50)]
        for link in links:
            link.sendall(part)
        assert all(is_closed(link, 8) for link in links)


def test_half_a_body_of_a_known_caller_is_408_after_the_deadline(settings: Settings) -> None:
    key = key_of(settings, TENANT)
    with process(settings, http_body_seconds=1) as served, served.connect() as link:
        link.sendall(head("POST", "/v1/search", key=key, size=1_000) + b"{")
        assert status_of(link) == 408
        assert is_closed(link, 5)


def test_1200_half_requests_are_gone_after_the_deadline_and_the_service_answers_meanwhile(settings: Settings) -> None:
    with process(settings, http_header_seconds=5, http_connections=1_000, api_processes=1) as served:
        before, began = served.files(), time.monotonic()
        with contextlib.ExitStack() as open_ones:
            for _ in range(HALF_OPEN):
                link = open_ones.enter_context(socket.create_connection(("127.0.0.1", served.port)))
                with contextlib.suppress(ConnectionError):
                    link.sendall(b"POST /v1/search HTTP/1.1\r\nHost: a\r\nX-")
            # A refused connection is open until its answer is sent, so a few more may be seen for a moment.
            wait_until(lambda: 900 < served.files() - before <= 1_010)
            wait_until(lambda: served.files() - before < 20)
            assert time.monotonic() - began < 12
            assert httpx.get(f"{served.url}/healthz").is_success


def test_a_connection_that_is_kept_open_by_line_ends_alone_is_closed(settings: Settings) -> None:
    with process(settings, http_header_seconds=1, http_idle_seconds=1) as served, served.connect() as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert status_of(link) == 200
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 10:
                link.sendall(b"\r\n")
                time.sleep(0.2)
        assert time.monotonic() - began < 10


def test_requests_that_follow_one_another_at_once_are_all_answered(served: Served) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with served.connect() as link:
        link.sendall(asked * 3 + asked.replace(b"Host: a", b"Host: a\r\nConnection: close"))
        said = b""
        while part := link.recv(65536):
            said += part
    assert said.count(b"HTTP/1.1 200") == 4


def test_who_asks_before_sending_a_body_is_refused_without_being_told_to_go_on(served: Served) -> None:
    with served.connect() as link:
        link.sendall(head("POST", "/v1/search", size=HUGE, more="Expect: 100-continue\r\n"))
        assert status_of(link) == 401


def test_above_the_cap_a_connection_is_answered_503_at_once(settings: Settings) -> None:
    with process(settings, http_connections=5, api_processes=1) as served, contextlib.ExitStack() as open_ones:
        for _ in range(5):
            open_ones.enter_context(served.connect())
        time.sleep(0.2)
        with served.connect() as link:
            assert status_of(link) == 503


def is_closed(link: socket.socket, seconds: float) -> bool:
    """Whether the other side ends the connection within this time."""
    link.settimeout(seconds)
    with contextlib.suppress(ConnectionError):
        try:
            while link.recv(65536):
                pass
        except TimeoutError:
            return False
    return True
