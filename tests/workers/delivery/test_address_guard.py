from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from core.errors import Later, Never
from workers.delivery import address_guard

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.mark.parametrize(
    "address",
    (
        "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 ::1 :: "
        "fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:7f00:1:: "
        "fec0::1 ::127.0.0.1 ::ffff:0:7f00:1 64:ff9b:1::a00:1"
    ).split(),
)
def test_what_is_not_public_is_refused_in_every_spelling(address: str) -> None:
    assert address_guard.refusal(ipaddress.ip_address(address), [])


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1", "64:ff9b::5db8:d70e"])
def test_what_is_public_may_be_called(address: str) -> None:
    assert address_guard.refusal(ipaddress.ip_address(address), []) is None


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_a_network_that_the_installation_names_may_be_called(address: str) -> None:
    assert address_guard.refusal(ipaddress.ip_address(address), LOOPBACK) is None
    assert address_guard.refusal(ipaddress.ip_address("10.0.0.1"), LOOPBACK)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"])
def test_no_spelling_of_a_private_host_is_connected_to(host: str) -> None:
    with (
        address_guard.client([], 2) as client,
        pytest.raises((Never, Later), match=r"may not be called|cannot be resolved"),
    ):
        client.post(f"http://{host}:9/")


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a resolver answers cannot be arranged here in any other way."""

    def answers(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in ("93.184.215.14", "10.0.0.5")]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    with address_guard.client([], 2) as client, pytest.raises(Never, match=r"10\.0\.0\.5 is not a public"):
        client.post("http://rebound.example/")


def test_a_name_that_does_not_exist_may_exist_later() -> None:
    with address_guard.client([], 2) as client, pytest.raises(Later, match="cannot be resolved"):
        client.post("http://nobody.invalid/")


def test_who_answers_a_byte_at_a_time_is_not_listened_to_without_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
                for _ in range(600):
                    connection.sendall(b"a")
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        began = time.monotonic()
        with address_guard.client(LOOPBACK, 0.5) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"http://127.0.0.1:{server.getsockname()[1]}/")
    assert time.monotonic() - began < 20
