"""Completion by the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.transfer.reading import NAMES
from tests.commands import Imprint

ASK = """
eval "$(imprint completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _imprint_completion imprint; printf '%s\\n' "${COMPREPLY[@]}"
"""
PROGRAM = Path(sys.executable).with_name("imprint")


def complete(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", "imprint", *words],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


bash = pytest.mark.skipif(not shutil.which("bash") or not PROGRAM.exists(), reason="needs bash and an installation")


@bash
def test_bash_completes_commands_options_formats_and_names_of_rules(imprint: Imprint) -> None:
    assert imprint
    assert complete("mem") == ["memory"]
    assert complete("memory", "forg") == ["forget", "forgettings"]
    assert complete("memory", "list", "--contai") == ["--contains"]
    assert complete("import", "x", "--only", "") == list(NAMES)
    assert complete("rules", "show", "forget_") == ["forget_much_on_approval", "forget_nightly", "forget_on_request"]


@bash
def test_without_a_server_names_are_not_completed_and_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("IMPRINT_API_KEY", "k")
    assert complete("rules", "show", "forget_") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_reads_its_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Imprint(monkeypatch, capsys)("completion", shell)
    assert (script.code, f"complete_{shell}" in script.out) == (0, True)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script.out, text=True, check=False).returncode == 0
