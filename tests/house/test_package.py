"""The wheel holds the product and nothing else, and runs where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

PACKAGES = ("core", "rules", "workers", "api", "imprint")


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def test_the_wheel_holds_each_file_of_the_product_and_nothing_else(root: Path, wheel: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PACKAGES]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {name for name in listed.split("\0") if name and (root / name).is_file()}


def test_the_wheel_runs_where_there_is_no_checkout(wheel: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", str(tmp_path / "site"), str(wheel)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "IMPRINT_HOME": str(tmp_path / "home")}
    main = "import core; print(core.__file__); import api.cli.main as main; main.main()"
    for arguments, expected in (["--version"], metadata.version("imprint-service")), (["config", "check"], ""):
        command = [sys.executable, "-P", "-c", main, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(str(tmp_path / "site"))
        assert expected in done.stdout
