"""The door of several cells: HAProxy reads its configuration, and the configuration and its example fit together."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from core.tenancy.tenants import TENANT_NAME
from tests.hosts import door


@pytest.mark.skipif(door.PROGRAM is None, reason="needs HAProxy")
@pytest.mark.parametrize("bind", ["127.0.0.1:{port}", "127.0.0.1:{port} alpn h2,http/1.1"])
def test_haproxy_reads_the_configuration(root: Path, tmp_path: Path, bind: str) -> None:
    (tmp_path / "tenants.map").write_text((root / "deploy/cells/tenants.map").read_text())
    variables = door.environment(tmp_path, 18_080, ("10.0.0.1:8070", "cell2.internal:8070"), bind)
    command = [str(door.PROGRAM), "-c", "-f", str(door.CONFIGURATION)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_example_map_names_cells_and_the_names_are_those_of_tenants(root: Path) -> None:
    text = door.CONFIGURATION.read_text()
    places = {tuple(line.split()) for line in (root / "deploy/cells/tenants.map").read_text().splitlines()}
    assert {cell for _, cell in places} <= set(re.findall(r"^backend (cell\d+)$", text, re.MULTILINE))
    assert all(TENANT_NAME.fullmatch(tenant) for tenant, _ in places)
    assert f"^{TENANT_NAME.pattern}$" in text
