from __future__ import annotations

from pathlib import Path

from tests.commands import Imprint


def test_a_file_is_added_listed_shown_and_deleted(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "handbook.md"
    file.write_text("# Travel rules\n\nFlights are booked by the office.\n")
    added = imprint("documents", "add", str(file), "--user", "ada", "--json").json["items"][0]
    again = imprint("documents", "add", str(file), "--user", "ada")
    assert "unchanged" in again.out
    short = added["id"][-8:]
    listed = imprint("documents", "list", "--user", "ada").out
    assert (listed.startswith(short), listed.endswith("Travel rules\n")) == (True, True)
    assert imprint("documents", "list", "--user", "bob", "--json").json["items"] == []
    assert imprint("documents", "show", short).out == file.read_text()
    assert "Flights are booked" in imprint("documents", "show", short, "--passages").out
    assert "Erased, with 1 passage." in imprint("documents", "delete", short).out
    assert imprint("documents", "show", added["id"]).code == 1


def test_standard_input_is_a_document_too(imprint: Imprint) -> None:
    added = imprint("documents", "add", "-", "--title", "Notes", "--json", stdin="The office is in Porto.")
    assert added.json["items"][0]["title"] == "Notes"


def test_what_cannot_be_read_is_named(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in imprint("documents", "add", str(file)).err
    assert "cannot be read" in imprint("documents", "add", str(tmp_path / "gone.md")).err


def test_one_title_is_not_for_several_files(imprint: Imprint) -> None:
    assert imprint("documents", "add", "a.md", "b.md", "--title", "x").code == 2
