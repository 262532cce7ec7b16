"""Hosts as network namespaces: each with one interface on a switch that no other traffic reaches.

The switch is a namespace with a bridge. Whoever is `inside` a host has its network: what it connects to, and what
processes it starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

IP = shutil.which("ip")
NFT = shutil.which("nft", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
POSSIBLE = os.geteuid() == 0 and IP is not None and NFT is not None

NEW_NETWORK: Final = 0x40000000
"""`CLONE_NEWNET`."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class Network:
    """Hosts by name, of which each reaches each other."""

    def __init__(self, *names: str) -> None:
        self._id = uuid.uuid4().hex[:8]
        self.addresses = {name: f"10.77.0.{number}" for number, name in enumerate(names, 1)}

    def build(self) -> None:
        _ip("netns", "add", self._space("switch"))
        self._in("switch", "ip", "link", "add", "bridge", "type", "bridge")
        self._in("switch", "ip", "link", "set", "bridge", "up")
        for number, (name, address) in enumerate(self.addresses.items(), 1):
            space = self._space(name)
            _ip("netns", "add", space)
            self._in(
                "switch", "ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", space
            )
            self._in("switch", "ip", "link", "set", f"port{number}", "master", "bridge", "up")
            self._in(name, "ip", "address", "add", f"{address}/24", "dev", "eth0")
            self._in(name, "ip", "link", "set", "eth0", "up")
            self._in(name, "ip", "link", "set", "lo", "up")
            self._in(name, "nft", f"add table inet {TABLE}")
            for hook in ("input", "output"):
                chain = f"{{ type filter hook {hook} priority 0; policy accept; }}"
                self._in(name, "nft", f"add chain inet {TABLE} {hook} {chain}")

    def remove(self) -> None:
        for name in ("switch", *self.addresses):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", self._space(name))

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Let this thread, and the processes that it starts, have the network of a host."""
        with Path("/proc/thread-self/ns/net").open("rb") as before:
            with Path("/run/netns", self._space(name)).open("rb") as host:
                _enter(host.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    @contextlib.contextmanager
    def partitioned(self, name: str) -> Iterator[None]:
        """Drop every packet to and from a host; its own loopback works."""
        with self._dropping(name, ""):
            yield

    @contextlib.contextmanager
    def lossy(self, name: str, percent: int) -> Iterator[None]:
        """Drop so many of a hundred packets to a host, and as many of those from it."""
        with self._dropping(name, f"numgen random mod 100 < {percent} "):
            yield

    def dropped(self, name: str) -> int:
        """Return how many packets of a host have been dropped in the partition or loss that lasts."""
        listed = subprocess.run(
            ["ip", "netns", "exec", self._space(name), "nft", "list", "table", "inet", TABLE],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        words = listed.split()
        return sum(int(words[place + 1]) for place, word in enumerate(words) if word == "packets")

    @contextlib.contextmanager
    def _dropping(self, name: str, condition: str) -> Iterator[None]:
        for hook, interface in (("input", "iifname"), ("output", "oifname")):
            self._in(name, "nft", f'add rule inet {TABLE} {hook} {interface} "eth0" {condition}counter drop')
        try:
            yield
        finally:
            self._in(name, "nft", f"flush table inet {TABLE}")

    def _space(self, name: str) -> str:
        return f"imprint-{self._id}-{name}"

    def _in(self, name: str, *command: str) -> None:
        _ip("netns", "exec", self._space(name), *command)


TABLE: Final = "faults"


@contextlib.contextmanager
def network(*names: str) -> Iterator[Network]:
    """Build hosts; they are removed afterwards."""
    made = Network(*names)
    try:
        made.build()
        yield made
    finally:
        made.remove()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL)


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")
