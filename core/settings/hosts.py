"""Entries of a list of allowed hosts: `hooks.example.com`, `*.example.com:8443`, `http://10.0.0.7:9000`.

An entry without a scheme means https, one without a port the scheme's own; plain http and other ports are allowed only
if an entry says so. `mailto:ann@example.com` and `mailto:*@example.com` are entries for mailboxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

PORTS: Final = {"https": 443, "http": 80}

MAIL: Final = "mailto"

_SPELLING: Final = re.compile(r"(?i:https?)://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?(?:[/?#][!-\[\]-~]*)?")
"""Addresses in which every parser finds the same host: the one who checks it is not the one who calls it."""

_ENTRY: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]|[0-9a-f]*:[0-9a-f:.]+)"
    r"(?::(?P<port>\d{1,5}))?",
    re.IGNORECASE,
)
_MAILBOX: Final = re.compile(r"mailto:(?P<box>\*|[^\s@*]+)@(?P<host>\*|(?:\*\.)?[a-z0-9.-]+)", re.IGNORECASE)

_ONE_BOX: Final = re.compile(r"(?P<box>[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]+)@(?P<host>[A-Za-z0-9.-]+)")
"""One mailbox: no list of them, no name beside it, nothing that could become a header."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination that an entry allows, or that of an address; for mail, `port` is 0 and `box` the mailbox."""

    scheme: str
    host: str
    port: int
    box: str = ""

    def covers(self, other: Destination) -> bool:
        """Return whether everything that `other` allows is allowed by this one."""
        same = (self.scheme, self.port) == (other.scheme, other.port)
        return same and self.box in {"*", other.box} and _covers(self.host, other.host)


def parse(entry: str) -> Destination:
    """Parse an entry. ValueError: it is malformed."""
    mail = _MAILBOX.fullmatch(entry)
    if mail:
        return Destination(MAIL, _host(mail["host"]), 0, mail["box"])
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise ValueError(
            "is not a host; write `hooks.example.com`, `*.example.com`, or with both `http://hooks.local:8080`"
        )
    scheme = (match["scheme"] or "https").lower()
    port = int(match["port"] or PORTS[scheme])
    if not 0 < port < 1 << 16:
        raise ValueError(f"has the port {port}; ports are 1 to 65535")
    return Destination(scheme, _host(match["host"]), port)


def of_address(address: str) -> Destination | None:
    """Return the destination of an address; None if nothing can be sent to it."""
    if address.lower().startswith(f"{MAIL}:"):
        match = _ONE_BOX.fullmatch(unquote(urlsplit(address).path))
        return Destination(MAIL, _host(match["host"]), 0, match["box"]) if match else None
    if not _SPELLING.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        port = PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError:
        return None
    return Destination(parts.scheme, _host(parts.hostname or ""), port)


def allows(entries: Iterable[str], address: str) -> bool:
    """Return whether one of the entries allows the address."""
    destination = of_address(address)
    return destination is not None and any(parse(entry).covers(destination) for entry in entries)


def display(address: str) -> str:
    """Return scheme, host and port of an address in the form of an entry, without its path."""
    destination = of_address(address)
    if destination is None:
        return "an address that cannot be read"
    host = f"[{destination.host}]" if ":" in destination.host else destination.host
    port = "" if PORTS.get(destination.scheme) == destination.port else f":{destination.port}"
    return f"{host}{port}" if destination.scheme == "https" else f"{destination.scheme}://{host}{port}"


def allowed_by(entries: Iterable[str], bounds: Iterable[str]) -> Sequence[str]:
    """Return the entries that are wholly allowed by one of `bounds`."""
    allowed = [parse(bound) for bound in bounds]
    return [entry for entry in entries if any(destination.covers(parse(entry)) for destination in allowed)]


def _covers(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _host(written: str) -> str:
    return written.strip("[]").rstrip(".").lower()
