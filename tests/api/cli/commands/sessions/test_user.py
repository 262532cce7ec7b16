"""`imprint user erase` asks before it erases, and `verify-receipt` knows a receipt that was changed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from core.storage.db import Database
from core.types import Json
from tests.api.cli.erased import USER
from tests.commands import Imprint
from tests.core.changing import Bench, an_add
from tests.core.erasing import holding
from tests.samples import accept, said


@pytest.fixture
def receipt(imprint: Imprint, app: Database) -> Json:
    """Of a user who was erased on the command line."""
    accept(app, said("I live in Lisbon.", user=USER))
    Bench(app, USER).apply(an_add("Yolanda lives in Lisbon."))
    answer: Json = imprint("user", "erase", USER, "--yes", "--json").json
    return answer


def test_a_user_is_erased_and_the_receipt_is_genuine(
    imprint: Imprint, app: Database, receipt: Json, tmp_path: Path
) -> None:
    assert receipt["receipt"]["counts"]["messages"] == 1
    assert holding(app, "Lisbon") == []
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt, indent=4))
    checked = imprint("user", "verify-receipt", str(file))
    assert checked.code == 0
    assert "Genuine: user erased at" in checked.out


def test_without_an_answer_nothing_is_erased(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Lisbon.", user=USER))
    refused = imprint("user", "erase", USER)
    assert refused.code == 1
    assert "Nothing was erased" in refused.err
    assert "messages" in holding(app, "Lisbon")


def test_a_mistyped_name_fails(imprint: Imprint) -> None:
    refused = imprint("user", "erase", "yolnada", "--yes")
    assert refused.code == 1
    assert "Check the name." in refused.err


def test_an_export_is_written_to_a_file_and_over_none(imprint: Imprint, app: Database, tmp_path: Path) -> None:
    accept(app, said("I live in Lisbon.", user=USER))
    file = tmp_path / "yolanda.zip"
    assert imprint("user", "export", USER, "-o", str(file)).code == 0
    with zipfile.ZipFile(file) as archive:
        assert "I live in Lisbon." in archive.read("messages.jsonl").decode()
    again = imprint("user", "export", USER, "-o", str(file))
    assert (again.code, "is there already" in again.err) == (1, True)


def test_of_an_export_that_is_refused_no_file_is_left(imprint: Imprint, tmp_path: Path) -> None:
    refused = imprint("user", "export", "nobody", "-o", str(tmp_path / "nobody.zip"))
    assert refused.code == 1
    assert list(tmp_path.iterdir()) == []


def test_the_time_zone_of_a_user_is_set_and_shown(imprint: Imprint) -> None:
    assert imprint("user", "settings", USER, "--json").json["time_zone"] is None
    assert "Europe/Lisbon" in imprint("user", "settings", USER, "--time-zone", "Europe/Lisbon").out
    assert imprint("user", "settings", USER, "--json").json["time_zone"] == "Europe/Lisbon"
    assert imprint("user", "settings", USER, "--time-zone", "UTC", "--json").json["time_zone"] is None
