"""README and changelog: every default rule is named, links lead to files, and no merge was left half done."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_table_of_default_rules_is_complete(root: Path) -> None:
    rules = {path.stem for path in (root / "rules" / "defaults").glob("*.json")}
    readme = (root / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in readme.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)} >= rules
    assert f"these {len(rules)} rules" in readme


def test_every_link_of_the_changelog_leads_to_a_file(root: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert [link for link in links if not (root / link).exists()] == []


def test_no_document_holds_two_sides_of_a_merge(root: Path) -> None:
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    assert len(pages) > 40
    marked = [
        page.name for page in pages if re.search(r"^(?:<{7}|>{7}) ", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert marked == []
