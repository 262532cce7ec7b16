"""Dashboards have the form that Grafana publishes as types of TypeScript."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCHEMA = Path(__file__).parents[2] / "deploy/grafana/schema"
TSC = SCHEMA / "node_modules/.bin/tsc"
OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext"]

pytestmark = pytest.mark.skipif(
    not TSC.exists() or not shutil.which("node"),
    reason="Grafana's types are not installed; `make monitoring` brings them",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose `page.ts` finds Grafana's types."""
    shutil.copy(SCHEMA / "page.ts", tmp_path)
    shutil.copy(SCHEMA / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(SCHEMA / "node_modules")
    return tmp_path


def complaints(folder: Path, *dashboards: str) -> str:
    """What the compiler says against dashboards, given as JSON."""
    paths = [folder / f"dashboard{number}.ts" for number in range(len(dashboards))]
    for path, dashboard in zip(paths, dashboards, strict=True):
        path.write_text(f"import type {{ Page }} from './page.js';\nexport const page: Page = {dashboard};\n")
    done = subprocess.run([TSC, *OPTIONS, *paths], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def written(root: Path) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (root / "deploy/grafana/dashboards").glob("*.json")}


def test_every_dashboard_has_the_types_of_grafana(root, folder):
    assert complaints(folder, *written(root).values()) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"drawStyle": "line"', '"drawStyle": "lien"'),
        ('"showPoints"', '"showPoint"'),
        ('"graphTooltip": 1', '"graphTooltip": "1"'),
        ('"legendFormat"', '"legend"'),
        ('"calcs"', '"calc"'),
        ('"titleFormat"', '"title"'),
    ],
)
def test_a_slip_is_noticed(root, folder, right, wrong):
    overview = written(root)["overview"]
    assert right in overview
    assert "error TS" in complaints(folder, overview.replace(right, wrong))
