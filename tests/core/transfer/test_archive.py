from __future__ import annotations

import io
import json
import time
import zipfile

import pytest

from core.transfer import archive
from core.transfer.archive import ArchiveWriter


def _written(rows: list[dict[str, object]]) -> bytes:
    target = io.BytesIO()
    writer = ArchiveWriter(target)
    writer.write_lines("messages", rows)
    writer.close({"user_id": "ada"})
    return target.getvalue()


def test_the_manifest_says_format_and_version_and_counts_the_lines() -> None:
    with zipfile.ZipFile(io.BytesIO(_written([{"b": 1}, {"a": "é\n"}]))) as opened:
        assert opened.namelist() == ["messages.jsonl", archive.MANIFEST]
        assert opened.read("messages.jsonl").decode() == '{"b":1}\n{"a":"é\\n"}\n'
        assert json.loads(opened.read(archive.MANIFEST)) == {
            "format": "imprint-archive",
            "version": 1,
            "user_id": "ada",
            "counts": {"messages": 2},
        }


def test_bytes_depend_neither_on_the_clock_nor_on_the_order_of_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _written([{"a": 1, "b": 2}])
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert _written([{"b": 2, "a": 1}]) == before
