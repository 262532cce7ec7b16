"""The README names every rule that a new tenant starts with."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_table_of_default_rules_is_complete(root: Path) -> None:
    rules = {path.stem for path in (root / "rules" / "defaults").glob("*.json")}
    readme = (root / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in readme.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)} >= rules
    assert f"these {len(rules)} rules" in readme
