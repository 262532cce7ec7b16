"""Files by which commands with the same data directory find the stack: secrets, ports, addresses."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from core.errors import Misconfigured

LOOPBACK = "127.0.0.1"
PASSWORD_BYTES = 24


def password(home: Path, name: str, kept: Path | None) -> str:
    """Return the password `name` from `secrets.json`, generated on first use.

    `kept`: the data that the password opens; if it exists already, a new password would not fit.

    Raises:
        Misconfigured: the data exists and its password does not.
    """
    stored = _read(home / "secrets.json")
    if name not in stored:
        if kept and kept.exists():
            raise Misconfigured(
                f"wrong password: {kept} exists, but {home / 'secrets.json'} does not hold {name} for it. "
                "Put the file back, or move the data away to start over."
            )
        stored[name] = os.urandom(PASSWORD_BYTES).hex()
        _write(home / "secrets.json", stored)
    return stored[name]


def port(home: Path, name: str) -> int:
    """Return the previous loopback port of `name`, or a free one if it is taken; stored in `run/ports.json`."""
    path = home / "run" / "ports.json"
    ports = _read(path)
    before = last_port(home, name)
    if before and is_free(LOOPBACK, before):
        return before
    chosen = free_port()
    _write(path, {**ports, name: str(chosen)})
    return chosen


def last_port(home: Path, name: str) -> int:
    """Return the last port of `name`; 0: none."""
    return int(_read(home / "run" / "ports.json").get(name, "0"))


def is_free(host: str, number: int) -> bool:
    """Return whether a server could listen there now.

    Raises:
        OSError: for any other reason than being taken, e.g. an unknown host or a privileged port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def write_stack(home: Path, addresses: Mapping[str, str | int]) -> None:
    """Store the addresses of the running stack for commands in this home (`run/stack.json`, mode 0600)."""
    _write(home / "run" / "stack.json", addresses)


def forget_stack(home: Path) -> None:
    """Remove the addresses of the stack."""
    (home / "run" / "stack.json").unlink(missing_ok=True)


def free_port(host: str = LOOPBACK) -> int:
    """Return a port on which nothing listens."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}.") from error
    return {str(key): str(value) for key, value in content.items()}


def _write(path: Path, content: Mapping[str, str | int]) -> None:
    """Replace the file atomically, readable only by its owner."""
    draft = path.with_suffix(f".{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(content, indent=1))
    draft.replace(path)
