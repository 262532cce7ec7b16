"""The compose file, run by podman-compose as `docker compose` runs it."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import yaml

from core.types import Json
from tests.containers.engine import COMPOSE, HERE, ROOT, Podman, run
from tests.patience import wait_until
from tests.ports import free_port

PORTS: Final = ("HTTP", "PROMETHEUS", "GRAFANA", "MAIL")
SERVICES: Final[Mapping[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def fresh_settings(**more: str) -> dict[str, str]:
    """Return what `.env` must say, as the manual makes it, and free ports."""
    words = {f"IMPRINT_{name}_PASSWORD": secrets.token_hex(24) for name in ("POSTGRES", "APP", "ROUTER", "BROKER")}
    words["IMPRINT_GRAFANA_PASSWORD"] = secrets.token_hex(24)
    keys = {f"IMPRINT_{name}_KEY": base64.b64encode(os.urandom(32)).decode() for name in ("RECEIPT", "SECRETS")}
    return words | keys | {f"IMPRINT_{name}_PORT": str(free_port()) for name in PORTS} | more


@dataclass
class Stack:
    """One project: its containers, networks and volumes."""

    podman: Podman
    name: str
    settings: dict[str, str] = field(default_factory=fresh_settings)

    def compose(self, *words: str, check: bool = True) -> str:
        file = self.podman.folder / f"{self.name}.env"
        file.touch(mode=0o600)
        file.write_text("".join(f"{name}={value}\n" for name, value in self.settings.items()))
        command = [str(COMPOSE), "--podman-path", str(HERE / "podman.py"), "--in-pod", "false"]
        command += ["--project-name", self.name, "--env-file", str(file), "--file", str(ROOT / "docker-compose.yml")]
        return run([*command, *words], self.podman.environment, check=check, cwd=ROOT)

    def up(self, *services: str) -> None:
        """Start what is missing, each after what it depends on."""
        self.compose("up", "--detach", *services)

    def remove(self) -> None:
        """Remove all that the project made; `down` alone leaves what was scaled up."""
        profiles = {profile for service in SERVICES.values() for profile in service.get("profiles", [])}
        options = [word for profile in sorted(profiles) for word in ("--profile", profile)]
        label = f"label=io.podman.compose.project={self.name}"
        if containers := self.podman("ps", "--all", "--quiet", "--filter", label).split():
            self.podman("rm", "--force", "--time=5", *containers)
        self.compose(*options, "down", "--volumes", "--timeout", "5", check=False)

    def container(self, service: str) -> str:
        return f"{self.name}_{service}_1"

    def inside(self, service: str, *command: str, check: bool = True, **more: object) -> str:
        """Run a command in a service's container and return what it writes."""
        options = ["--interactive"] if "stdin" in more else []
        return self.podman("exec", *options, self.container(service), *command, check=check, **more)

    def inspected(self, service: str) -> Json:
        described: Json = json.loads(self.podman("inspect", self.container(service)))[0]
        return described

    def is_healthy(self, service: str) -> bool:
        """Run the service's own health check once."""
        return self.podman.succeeds("healthcheck", "run", self.container(service))

    def wait_until_healthy(self, services: Iterable[str]) -> None:
        for service in services:
            wait_until(lambda service=service: self.is_healthy(service), every=0.5)

    def status(self, path: str) -> int:
        """Return the status of an answer without a key; 0: nobody answers."""
        try:
            return httpx.get(f"{self.url}{path}", timeout=60).status_code
        except httpx.TransportError:
            return 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings['IMPRINT_HTTP_PORT']}"

    def wait_until_ready(self) -> None:
        wait_until(lambda: self.status("/readyz") == httpx.codes.OK, every=0.5)
