"""HAProxy as the door of several cells, on a free port, with a map of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from tests.patience import wait_until
from tests.ports import free_port

PROGRAM: Final = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
CONFIGURATION: Final = Path(__file__).parents[2] / "deploy/cells/haproxy.cfg"


@dataclass(frozen=True, slots=True)
class Door:
    """The running proxy."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def route(self, tenant: str, cell: str) -> None:
        """Send a tenant elsewhere from the next request on."""
        assert self.command(f"set map {self.folder}/tenants.map {tenant} {cell}") == ""

    def add(self, tenant: str, cell: str) -> None:
        """Send a tenant that is not on the map to a cell from the next request on."""
        assert self.command(f"add map {self.folder}/tenants.map {tenant} {cell}") == ""

    def read_again(self, tenant: str, cell: str) -> None:
        """Add a line to the file of the map, and let a new process of HAProxy read it."""
        with (self.folder / "tenants.map").open("a") as places:
            places.write(f"{tenant} {cell}\n")
        self.process.send_signal(signal.SIGUSR2)

    def servers_up(self) -> set[str]:
        """Return the cells whose own server is healthy."""
        rows = [line.split(",") for line in self.command("show stat").splitlines()]
        return {row[0] for row in rows if row[1:2] == ["api"] and row[17].startswith("UP")}

    def command(self, line: str) -> str:
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(str(self.folder / "socket"))
            admin.sendall(f"{line}\n".encode())
            return b"".join(iter(lambda: admin.recv(65536), b"")).decode().strip()


def environment(folder: Path, port: int, cells: Sequence[str], bind: str = "127.0.0.1:{port}") -> dict[str, str]:
    """Return the variables of the configuration. `cells`: addresses of two cells."""
    own = {f"CELL_{number}": address for number, address in enumerate(cells, 1)}
    own |= {"DOOR_BIND": bind.format(port=port), "DOOR_SOCKET": f"{folder}/socket"}
    return own | {"TENANTS_MAP": f"{folder}/tenants.map", "PATH": os.environ["PATH"]}


@contextlib.contextmanager
def opened(folder: Path, cells: Sequence[str], tenants: Mapping[str, str], **more: str) -> Iterator[Door]:
    """Open a door to two cells. `tenants`: the map."""
    assert PROGRAM
    port = free_port()
    (folder / "tenants.map").write_text("".join(f"{tenant} {cell}\n" for tenant, cell in tenants.items()))
    command = [PROGRAM, "-W", "-db", "-f", str(CONFIGURATION)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(folder, port, cells, **more), stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or (folder / "socket").exists())
        assert process.poll() is None, (folder / "log").read_text()
        yield Door(folder, port, process)
    finally:
        process.terminate()
        process.wait(20)
