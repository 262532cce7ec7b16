"""Schemathesis over the whole OpenAPI document, against a server with something of every kind.

By itself it sends some examples of each operation, always the same; `make fuzz` sends all that cover the parameters,
and several times as many examples.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from core.config import Settings
from tests.commands import served
from tests.contracts.fuzzing.planted import plant
from tests.doors import key_of
from tests.works import Works

TENANTS = ("kept", "emptied", "erased", "limited")

LONG = bool(os.environ.get("IMPRINT_FUZZ_LONG"))

PHASES, EXAMPLES = ("examples,coverage,fuzzing", 30) if LONG else ("examples,fuzzing", 4)

LEAST = 115
"""Operations that must have been answered with a success at least once: what is planted is found."""

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.timeout(3600 if LONG else 300)
def test_no_request_breaks_the_server_or_the_document(settings: Settings, works: Works, tmp_path: Path) -> None:
    with served(settings) as (url, _):
        planted = {tenant: planted_in(url, key_of(settings, tenant), works) for tenant in TENANTS}
        pool = tmp_path / "planted.json"
        pool.write_text(json.dumps(planted))
        done = schemathesis(url, pool)
    assert done.returncode == 0, done.stdout[-30_000:] + done.stderr[-2_000:]
    answered = [line.split() for line in (tmp_path / "answers").read_text().splitlines()]
    reached = {name for name, status in answered if status.startswith("2")}
    assert len(reached) >= LEAST, sorted({name for name, _ in answered} - reached)


def planted_in(url: str, key: str, works: Works) -> dict[str, object]:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
        return {"key": key, "ids": plant(client, works.settle)}


def schemathesis(url: str, planted: Path) -> subprocess.CompletedProcess[str]:
    own = {
        "IMPRINT_FUZZ_PLANTED": str(planted),
        "IMPRINT_FUZZ_ANSWERS": str(planted.with_name("answers")),
        "SCHEMATHESIS_HOOKS": "tests.contracts.fuzzing.hooks",
        "PYTHONPATH": str(HERE.parents[1]),
    }
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "fuzzing/schemathesis.toml"), "run"),
        *(f"{url}/openapi.json", "--phases", PHASES, "--mode", "all"),
        *("--request-timeout", "30"),
        *("--max-examples", str(EXAMPLES), "--generation-deterministic", "--no-shrink"),
        *("--continue-on-failure", "--warnings", "off", "--no-color"),
    ]
    environment = {**os.environ, **own}
    return subprocess.run(
        command, env=environment, cwd=planted.parent, capture_output=True, text=True, encoding="utf-8", check=False
    )
