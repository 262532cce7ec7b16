"""A broken file is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.transfer.opened import Unreadable
from tests.core.transfer.vendors import read


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'[{"mapping": {}, "current_node": null}', "within its list"),
        (b'[{"mapping": {}, "current_node": null}, nonsense]', "not JSON at character 40"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'[{"role": "user", "content": "x"}] [2]', "goes on behind the end"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"hello": "world"}', "of a known format"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "x.json").write_bytes(raw)
    with pytest.raises(Unreadable, match=reason):
        read(tmp_path / "x.json")
