"""A virtual host of its own on the RabbitMQ that `make rabbitmq` has started."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def virtual_host(*options: str) -> Iterator[str]:
    """The name of an empty virtual host, in which the user `guest` may do everything; it is deleted afterwards."""
    name = f"imprint-{uuid.uuid4().hex[:8]}"
    control("add_vhost", name, *options)
    try:
        control("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
        yield name
    finally:
        control("delete_vhost", name)


def control(*words: str) -> str:
    """Return what `rabbitmqctl` prints."""
    command = ["rabbitmqctl", "--quiet", *words]
    return subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout


def url_of(host: str) -> str:
    return f"amqp://guest:guest@127.0.0.1:5672/{host}"
