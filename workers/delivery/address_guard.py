"""Guard of outgoing connections: checks the resolved address when connecting, so that DNS rebinding has no effect.

It bounds the duration of a call, too: a server that answers a byte at a time must not hold a worker.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

import httpcore
import httpx

from core.errors import Later, Never

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that carry an IPv4 address in their last 32 bits (RFC 6052)."""

GLOBAL_UNICAST = IPv6Network("2000::/3")
"""The allocated part of IPv6. Outside it are old site-local, tunnelled and locally translated addresses."""


def client(networks: Sequence[Network], timeout: float) -> httpx.Client:
    """Return a client for one call, so that cookies are not shared; it follows no redirect.

    `timeout`: seconds for connecting, and again as many for the whole call on that connection.
    """
    return httpx.Client(transport=_Transport(networks), timeout=timeout, follow_redirects=False)


def refusal(address: Address, networks: Iterable[Network]) -> str | None:
    """Return why an address may not be called; None: it may."""
    carried = _embedded_ipv4(address)
    if any(carried in network for network in networks if network.version == carried.version):
        return None
    if (
        carried.is_global
        and not carried.is_multicast
        and (isinstance(carried, IPv4Address) or carried in GLOBAL_UNICAST)
    ):
        return None
    return f"{address} is not a public address"


class _Transport(httpx.HTTPTransport):
    """HTTP over guarded connections."""

    def __init__(self, networks: Sequence[Network]) -> None:
        super().__init__(verify=_tls(), trust_env=False)
        # httpx has no public way to say how names become connections.
        self._pool = httpcore.ConnectionPool(ssl_context=_tls(), network_backend=_Guard(networks))


class _Bounded(httpcore.NetworkStream):
    """A connection with a deadline, in seconds of the monotonic clock."""

    def __init__(self, stream: httpcore.NetworkStream, until: float | None) -> None:
        self._stream = stream
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._left(timeout, httpcore.ConnectTimeout)
        return _Bounded(self._stream.start_tls(ssl_context, server_hostname, left), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _left(self, timeout: float | None, over: type[httpcore.TimeoutException]) -> float | None:
        if self._until is None or timeout is None:
            return timeout
        left = self._until - time.monotonic()
        if left <= 0:
            raise over("the call took too long as a whole")
        return min(timeout, left)


class _Guard(httpcore.NetworkBackend):
    """Resolves a name once, checks all its addresses, and connects to one of them."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = networks
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception | None = None
        until = None if timeout is None else time.monotonic() + timeout
        for address in self._allowed(host, port):
            try:
                stream = self._backend.connect_tcp(str(address), port, timeout, local_address, socket_options)
                return _Bounded(stream, until)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed or httpcore.ConnectError(f"{host} has no address")

    def _allowed(self, host: str, port: int) -> list[Address]:
        try:
            resolved = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise Later(f"The name {host!r} cannot be resolved: {error.strerror}") from error
        addresses = list(
            dict.fromkeys(ipaddress.ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in resolved)
        )
        refused = [why for address in addresses if (why := refusal(address, self._networks))]
        if refused:
            # An attacker adds a private address to public ones: none of them is called.
            raise Never(
                f"The host {host!r} may not be called: {refused[0]}. The operator can add its network "
                f"to IMPRINT_WEBHOOK_PRIVATE_NETWORKS."
            )
        return addresses


def _embedded_ipv4(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


@cache
def _tls() -> ssl.SSLContext:
    """Return a TLS context; cached, because reading the certificates takes longer than most calls."""
    return httpx.create_ssl_context()
