from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.cli import erasure_record
from core.config import Settings
from core.errors import Misconfigured
from tests.doors import OTHER, opened


def test_the_record_covers_all_tenants_and_names_nobody(settings: Settings, tmp_path: Path) -> None:
    with opened(settings) as door:
        made = door.ask(
            "POST",
            "/v1/memories",
            tenant=OTHER,
            json={"user_id": "wilhelmina", "content": "Wilhelmina lives in Turin."},
        )
        assert made.is_success, made.text
        assert door.ask("DELETE", "/v1/users/wilhelmina", tenant=OTHER).status_code == 200
    lines = list(erasure_record.lines(settings, datetime.now(UTC)))
    kinds = [(entry.get("kind"), entry.get("tenant")) for entry in map(json.loads, lines)]
    assert kinds == [(None, None), ("receipt", OTHER), ("tombstone", OTHER)]
    assert "wilhelmina" not in "".join(lines).lower()
    record = tmp_path / "record.jsonl"
    record.write_text("".join(lines))
    assert not erasure_record.repeat_file(settings, record), "the database that was recorded has them"


def test_a_record_that_cannot_be_read_is_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none\.jsonl cannot be read"):
        erasure_record.repeat_file(settings, tmp_path / "none.jsonl")
