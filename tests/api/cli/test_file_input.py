"""Files and standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from api.cli import file_input
from api.cli.file_input import STDIN, NotJson, UnreadableInput


def test_a_text_is_read_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tea.txt"
    file.write_bytes("绿茶\r\n".encode())
    monkeypatch.setattr("sys.stdin", io.StringIO('{"tea": 1}'))
    assert (file_input.read(file), file_input.read_json(STDIN)) == ("绿茶\r\n", {"tea": 1})


@pytest.mark.parametrize(("content", "says"), [(b"\xff", "is not UTF-8 text"), (b"tea", "is not JSON")])
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "tea.json"
    file.write_bytes(content)
    with pytest.raises(UnreadableInput, match=f"tea.json {says}"):
        file_input.read_json(file)
    with pytest.raises(UnreadableInput, match="none cannot be read"):
        file_input.read(tmp_path / "none")


def test_standard_input_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("tea"))
    with pytest.raises(NotJson, match="standard input is not JSON"):
        file_input.read_json(STDIN)
