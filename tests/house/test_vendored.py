"""Code of others that the console carries: each file is the one that the manifest names, with its licence beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from core.types import Json

PERMISSIVE = {"MIT", "0BSD", "BSD-0-Clause", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Apache-2.0"}
BESIDE = {"manifest.json", "vendor.LICENSE"}


@pytest.fixture
def vendor(root: Path) -> Path:
    return root / "api/console/static/vendor"


@pytest.fixture
def manifest(vendor: Path) -> list[Json]:
    found: list[Json] = json.loads((vendor / "manifest.json").read_text())
    return found


def test_the_manifest_names_every_file_with_the_hash_of_its_content(vendor: Path, manifest: list[Json]) -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.iterdir()}
    told = {one["file"]: one["sha256"] for one in manifest}
    assert told == {name: digest for name, digest in found.items() if name not in BESIDE}


def test_every_package_has_a_permissive_licence_whose_text_is_carried(vendor: Path, manifest: list[Json]) -> None:
    texts = (vendor / "vendor.LICENSE").read_text(encoding="utf-8")
    for package in (package for one in manifest for package in one["packages"]):
        assert package["licence"] in PERMISSIVE, package
        assert f"{package['name']} {package['version']} ({package['licence']})\n" in texts


def test_the_versions_are_those_from_which_the_files_are_built(root: Path, manifest: list[Json]) -> None:
    locked = json.loads((root / "deploy/console/package-lock.json").read_text())["packages"]
    for package in (package for one in manifest for package in one["packages"]):
        assert locked[f"node_modules/{package['name']}"]["version"] == package["version"]


def test_nothing_carried_asks_for_another_host_or_evaluates_text(vendor: Path, manifest: list[Json]) -> None:
    for one in manifest:
        text = (vendor / one["file"]).read_text(encoding="utf-8")
        assert "sourceMappingURL" not in text, one["file"]
        if one["file"].startswith(("codemirror", "uplot")):
            assert "new Function" not in text, one["file"]
            assert "eval(" not in text, one["file"]
