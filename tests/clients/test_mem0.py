"""mem0's own SDKs of both languages run their quickstart against a stack, unchanged but for the address."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.stand import Stand, stack

pytestmark = [pytest.mark.clients, pytest.mark.slow]

HERE = Path(__file__).parent
SILENT = {"MEM0_TELEMETRY": "false"}
"""The SDKs report their use to their vendor otherwise; the one for Node reads this spelling only."""


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(embedding="hash") as running:
        yield running


def ran(stand: Stand, tmp_path: Path, *command: str, **more: str) -> Mapping[str, Any]:
    """What a script prints, whose SDK keeps its settings in a folder of the test."""
    own = {"MEM0_API_KEY": stand.key, "MEM0_DIR": str(tmp_path), "HOME": str(tmp_path), **SILENT, **more}
    host = f"{stand.url}/compat/mem0"
    done = subprocess.run(
        [*command, host], env={**os.environ, **own}, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: Mapping[str, Any] = json.loads(done.stdout)
    return told


def test_the_python_sdk_runs_its_quickstart(root: Path, stand: Stand, tmp_path: Path) -> None:
    python = root / ".venv-clients/bin/python"
    told = ran(stand, tmp_path, str(python), str(HERE / "mem0_quickstart.py"))
    assert told["status"] == "PENDING"
    assert {"user123 is allergic to nuts.", "user123 is a vegetarian."} <= set(told["memories"])
    assert told["metadata"] == {"source": "chat", "deep": {"a": [1.5, None]}}
    assert (told["listed"], told["updated"]) == (1, ["User123 prefers aisle seats.", {"trip": 7}])
    assert (told["got"], told["history"]) == ("User123 prefers aisle seats.", ["ADD", "UPDATE"])
    assert "user123" in told["users"]
    assert (told["missing"], told["left"], told["refused"]) == (True, 0, True)


def test_the_node_sdk_runs_its_quickstart(root: Path, stand: Stand, tmp_path: Path) -> None:
    script = root / ".clients/mem0_quickstart.mjs"  # Node looks for packages beside the script.
    script.write_text((HERE / "mem0_quickstart.mjs").read_text())
    told = ran(stand, tmp_path, "node", str(script))
    assert told["status"] == "PENDING"
    assert any("allergic to nuts" in one for one in told["memories"])
    assert told["metadata"] == {"tripNumber": 7}
    assert told["page"][1] == 1
    assert (told["updated"], told["history"]) == ("User456 is vegan.", ["ADD", "UPDATE"])
    assert told["got"] == "User456 is a vegetarian again."
    assert (told["missing"], told["left"]) == (True, 0)
