"""The agent that docs/first-agent.md prints remembers in its second conversation what it was told in the first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.stand import Stand, stack

AGENT = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_the_printed_agent_remembers(root: Path, tmp_path: Path) -> None:
    printed = AGENT.search((root / "docs" / "first-agent.md").read_text(encoding="utf-8"))
    assert printed is not None
    (tmp_path / "agent.py").write_text(printed[1], encoding="utf-8")
    with stack(embedding="hash") as stand:
        said = "I moved to Lisbon in May.\nI am allergic to peanuts.\nThanks, bye!\n"
        told = talk(root, tmp_path, stand, "monday", said)
        known = talk(root, tmp_path, stand, "tuesday", "What can I cook tonight?\n")
    assert "Ada is allergic to peanuts." not in told
    assert told.endswith("Settled: True\n")
    assert "Ada is allergic to peanuts." in known
    assert "user: What can I cook tonight?\nSettled: True\n" in known


def talk(root: Path, folder: Path, stand: Stand, session: str, said: str) -> str:
    """Return what the agent prints when the user types these lines in a session."""
    own = {"PYTHONPATH": str(root / "sdk" / "python"), "IMPRINT_URL": stand.url, "IMPRINT_API_KEY": stand.key}
    command = [sys.executable, str(folder / "agent.py"), session]
    done = subprocess.run(
        command, input=said, env=os.environ | own, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
