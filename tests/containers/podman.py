#!/usr/bin/env python3
"""Podman as podman-compose expects it, on a host without systemd and with the version of Debian 12.

That version runs health checks by timers of systemd alone, cannot wait for their result, and starts nothing that
depends on a container which itself depends on another. So this waits by running the check, and leaves the order of
start to podman-compose, which waits for each condition itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

WAITS = "4.6.0"
"""First version whose `wait` knows healthy containers; podman-compose asks no older one."""


def main(words: list[str]) -> None:
    match words:
        case ["--version", *_]:
            print(f"podman version {WAITS}")
        case ["wait", "--condition=healthy", *containers]:
            for container in containers:
                while not is_healthy(container):
                    time.sleep(0.5)
        case _:
            kept = [word for word in words if not word.startswith("--requires=")]
            os.execvp("podman", ["podman", *kept])  # noqa: S606 - in place of this process


def is_healthy(container: str) -> bool:
    """Run the container's health check once."""
    command = ["podman", "healthcheck", "run", container]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    main(sys.argv[1:])
