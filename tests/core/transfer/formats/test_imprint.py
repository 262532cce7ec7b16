from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.transfer.formats import imprint
from core.transfer.opened import Unreadable
from core.transfer.reading import PathReading
from core.types import Json
from tests.core.transfer.rich import a_memory_line, a_message


@pytest.mark.parametrize("line", [a_message("s1", 1), a_memory_line(1, "x"), {"format": "imprint-archive"}])
def test_an_unpacked_archive_is_refused_with_what_to_import_instead(tmp_path: Path, line: Json) -> None:
    assert imprint.is_part(line)
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    with pytest.raises(Unreadable, match="import the zip that `imprint user export` wrote"):
        list(PathReading(tmp_path).records())


def test_messages_of_others_are_none_of_it() -> None:
    assert not imprint.is_part({"role": "user", "content": "x", "session_id": "s1"})
