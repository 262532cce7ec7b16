"""An archive is read within bounds, and a fault in it is named by file and line."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping

import pytest

from core.errors import Invalid
from core.transfer import archive_reader
from core.transfer.archive_reader import ArchiveReader
from core.transfer.opened import Unreadable
from core.types import Json
from tests.core.transfer.rich import a_past, changed, made

PAST = made(a_past("s1", 4, 3))


def read(raw: bytes) -> ArchiveReader:
    return ArchiveReader(io.BytesIO(raw), "ada.zip")


def zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def test_a_whole_archive_is_counted_and_read_from_any_line() -> None:
    archive = read(PAST)
    counts = {
        "sessions": 1,
        "messages": 4,
        "memories": 3,
        "relations": 2,
        "documents": 0,
        "plans": 0,
        "profile": 0,
        "names": 0,
    }
    assert archive.check() == counts
    assert [line.checked.id for line in archive.lines("messages", after=2)] == ["m3", "m4"]
    assert archive_reader.is_archive(io.BytesIO(PAST))


@pytest.mark.parametrize("raw", [b"", b"PK", b"[]", zipped({"manifest.json": b"{}"}), zipped({"x.json": b"[]"})])
def test_other_files_are_no_archive(raw: bytes) -> None:
    assert not archive_reader.is_archive(io.BytesIO(raw))
    with pytest.raises(Unreadable, match=r"ada\.zip"):
        read(raw)


def test_of_another_version_it_says_what_to_do() -> None:
    manifest = {"format": "imprint-archive", "version": 2, "user_id": "ada", "raw": False, "counts": {}}
    with pytest.raises(Unreadable, match="version 2; this release reads version 1: install the one that wrote it"):
        read(zipped({"manifest.json": json.dumps(manifest).encode()}))


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    manifest = {"format": "imprint-archive", "version": 1, "user_id": "ada", "raw": False, "counts": {}}
    raw = zipped({"manifest.json": json.dumps(manifest).encode(), "messages.jsonl": b" " * 8_000_000})
    with pytest.raises(Unreadable, match="over 200 times its size"):
        read(raw)


def test_a_line_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_reader, "LINE_BYTES", 2_000)
    long = changed(PAST, lambda found: found["messages"][2].update(content="x" * 3_000))
    with pytest.raises(Unreadable, match=r"messages\.jsonl:3 has over 2000 bytes"):
        read(long).check()


def test_two_files_of_one_name_are_refused() -> None:
    target = io.BytesIO(PAST)
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("messages.jsonl", b"")
    with pytest.raises(Unreadable, match="two files of one name"):
        read(target.getvalue())


def test_damage_within_a_file_is_an_error_of_reading() -> None:
    broken = bytearray(PAST)
    at = broken.index(b"messages.jsonl") + 40
    broken[at : at + 8] = b"\xff" * 8
    with pytest.raises(Unreadable, match="not a zip that can be read"):
        read(bytes(broken)).check()


def _swap(found: dict[str, list[Json]]) -> None:
    found["messages"].reverse()


def _twice(found: dict[str, list[Json]]) -> None:
    found["memories"].append(found["memories"][-1])


def _itself(found: dict[str, list[Json]]) -> None:
    found["relations"][0]["to"] = 1


def _later(found: dict[str, list[Json]]) -> None:
    found["memories"][1]["recorded_at"] = "2100-01-01T00:00:00+00:00"


def _numbered(found: dict[str, list[Json]]) -> None:
    found["memories"][0]["versions"][0]["version"] = 7


def _unknown_status(found: dict[str, list[Json]]) -> None:
    found["memories"][2]["versions"][0]["snapshot"]["status"] = "divine"


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        (_swap, "", "messages.jsonl:2: is not behind the line before it"),
        (_twice, "", "memories.jsonl:4: is not behind the line before it"),
        (_itself, "", "relations.jsonl:1: relates a memory to itself"),
        (_later, "/recorded_at", "memories.jsonl:2: lies in the future"),
        (_numbered, "", "memories.jsonl:1: `versions` are not numbered up to `version`"),
        (_unknown_status, "/versions/0/snapshot/status", "memories.jsonl:3: Input should be 'active'"),
    ],
)
def test_what_no_export_writes_is_refused(
    change: Callable[[dict[str, list[Json]]], None], pointer: str, said: str
) -> None:
    with pytest.raises(Invalid) as refused:
        read(changed(PAST, change)).check()
    [problem] = refused.value.problems
    assert (problem.pointer, problem.detail[: len(said)]) == (pointer, said)


def test_a_file_that_ends_early_is_noticed_by_the_manifest() -> None:
    with zipfile.ZipFile(io.BytesIO(PAST)) as whole:
        files = {name: whole.read(name) for name in whole.namelist()}
    files["messages.jsonl"] = b"\n".join(files["messages.jsonl"].split(b"\n")[:2]) + b"\n"
    with pytest.raises(Invalid, match=r"/counts/messages: manifest\.json: says 4, but messages\.jsonl has 2 lines"):
        read(zipped(files)).check()
