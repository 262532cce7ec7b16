"""`imprint group` exports and erases a group as `imprint user` does a user."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from core.storage.db import Database
from tests.commands import Imprint
from tests.core.erasing import holding
from tests.samples import accept, said


@pytest.fixture(autouse=True)
def crew(app: Database) -> None:
    accept(app, said("I live in Lisbon.", group_id="crew"), said("I play chess.", session="s2"))


def test_a_group_is_erased_with_a_receipt(imprint: Imprint, app: Database, tmp_path: Path) -> None:
    answer = imprint("group", "erase", "crew", "--yes", "--json")
    assert answer.json["receipt"]["scope"] == "group"
    assert holding(app, "Lisbon") == []
    assert "messages" in holding(app, "chess")
    file = tmp_path / "receipt.json"
    file.write_text(answer.out)
    assert "Genuine: group erased at" in imprint("user", "verify-receipt", str(file)).out


def test_without_an_answer_no_group_is_erased(imprint: Imprint, app: Database) -> None:
    refused = imprint("group", "erase", "crew")
    assert (refused.code, "Nothing was erased" in refused.err) == (1, True)
    assert "Check the name." in imprint("group", "erase", "crwe", "--yes").err
    assert "messages" in holding(app, "Lisbon")


def test_a_group_is_exported_to_a_file_that_no_import_takes_for_a_users(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "crew.zip"
    assert imprint("group", "export", "crew", "-o", str(file)).code == 0
    with zipfile.ZipFile(file) as archive:
        assert "I live in Lisbon." in archive.read("messages.jsonl").decode()
        assert "chess" not in archive.read("messages.jsonl").decode()
    assert "is there already" in imprint("group", "export", "crew", "-o", str(file)).err
    refused = imprint("import", str(file), "--user", "ada")
    assert refused.code == 1
    assert "group" in refused.err
