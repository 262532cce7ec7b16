"""`imprint user verify-receipt` tells a genuine receipt from one that was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.commands.sessions.receipts import NotGenuine, verify_receipt
from core.config import Settings
from core.memory import receipts
from core.types import Json
from tests.commands import Imprint

BODY: Json = {"scope": "user", "at": "2026-11-21T12:00:00+00:00", "counts": {"messages": 1}}


@pytest.fixture
def receipt(settings: Settings) -> Json:
    """A receipt that the server of this home has signed."""
    return {"receipt": BODY, "signature": receipts.signer(settings).sign(BODY)}


def _changed(receipt: Json) -> str:
    return json.dumps(receipt | {"receipt": receipt["receipt"] | {"counts": {}}})


def _other_key(receipt: Json) -> str:
    return json.dumps(receipt | {"signature": "A" * 86 + "=="})


@pytest.mark.parametrize(
    "made", [_changed, _other_key, lambda _: "no JSON", lambda _: "[1]", lambda r: json.dumps(r["receipt"])]
)
def test_what_is_not_genuine_fails(
    imprint: Imprint, receipt: Json, tmp_path: Path, made: Callable[[Json], str]
) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(made(receipt))
    checked = imprint("user", "verify-receipt", str(file))
    assert checked.code == 1
    assert checked.err.startswith("Error: ")


def test_a_receipt_is_checked_with_a_key_that_was_kept_and_asks_no_server(
    imprint: Imprint, settings: Settings, receipt: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPRINT_URL", "http://127.0.0.1:1")
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt))
    own = receipts.signer(settings).public_key
    assert "Genuine: user erased at 2026-11-21" in imprint("user", "verify-receipt", str(file), "--key", own).out
    assert imprint("user", "verify-receipt", str(file), "--key", "A" * 43 + "=").code == 1


def test_a_file_that_cannot_be_read_is_named(imprint: Imprint, tmp_path: Path) -> None:
    refused = imprint("user", "verify-receipt", str(tmp_path / "nowhere.json"))
    assert refused.code == 1
    assert "nowhere.json cannot be read" in refused.err


@pytest.mark.parametrize(("content", "says"), [(None, "cannot be read"), (b"\xff", "is not UTF-8 text")])
def test_a_file_without_text_is_no_genuine_receipt(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "receipt.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(NotGenuine, match=f"receipt.json {says}"):
        verify_receipt(file)
