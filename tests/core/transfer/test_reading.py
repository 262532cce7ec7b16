"""A file is recognised by what is in it, in whatever it was packed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from core.transfer.reading import Reading
from core.transfer.records import Conversation, Skipped
from tests.core.transfer import vendors
from tests.core.transfer.vendors import CHATGPT, NUMBER, kept, read, written


def test_the_same_export_is_read_from_a_file_shards_a_folder_and_a_zip(tmp_path: Path) -> None:
    whole = read(written(tmp_path / "one" / "conversations.json", CHATGPT))
    for number, start in enumerate(range(0, NUMBER, 20)):
        written(tmp_path / "two" / f"conversations-{number:03}.json", CHATGPT[start : start + 20])
    written(tmp_path / "two" / "user.json", {"id": "u", "email": "ada@example.com"})
    (tmp_path / "two" / "chat.html").write_text("<html>")
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (tmp_path / "two").iterdir():
            archive.write(file, file.name)
    for path in (tmp_path / "two", tmp_path / "export.zip"):
        found = read(path)
        assert [one for one in found if not isinstance(one, Skipped)] == [
            one for one in whole if not isinstance(one, Skipped)
        ]
        assert [one.where.rpartition("/")[2] for one in found if isinstance(one, Skipped)][-1] == "user.json"


def test_one_format_can_be_wanted(tmp_path: Path) -> None:
    written(tmp_path / "a.json", CHATGPT)
    written(tmp_path / "b.json", vendors.mem0_page())
    reading = Reading(tmp_path, "mem0")
    assert not kept(list(reading.records()), Conversation)
    assert reading.found == {"mem0"}
