"""Every bench can be started: its module is imported, and its command line is read."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import bench

FOLDER = Path(bench.__file__).parent
STARTED = sorted(file.stem for file in FOLDER.glob("*.py") if "def main(" in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", STARTED)
def test_a_bench_says_how_it_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(f"bench.{name}")
    monkeypatch.setattr("sys.argv", [f"bench.{name}", "--help"])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 0
    assert f"bench.{name}" in capsys.readouterr().out
