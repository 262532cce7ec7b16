from __future__ import annotations

from pathlib import Path

import pytest

from api.stack import host
from core.errors import Misconfigured


def test_a_full_disk_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "FREE_DISK_BYTES", 1 << 60)
    with pytest.raises(Misconfigured, match=r"^disk full: \d+ MB are free under ") as caught:
        host.check_free_disk(tmp_path)
    assert "\n" not in caught.value.detail
