"""A receipt can be checked by anyone who has the public key, and changed by nobody."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from core.config import Settings
from core.errors import Misconfigured
from core.memory import receipts
from core.memory.receipts import Receipt, Signer
from core.storage.db import Database
from tests.samples import TENANT

SIGNER = Signer(Ed25519PrivateKey.generate())

WORDS = st.dictionaries(st.text(max_size=10), st.one_of(st.integers(), st.text(max_size=20)), max_size=8)


def _issued(app: Database, sign: Signer, subject: str = "ada") -> Receipt:
    with app.tenant(TENANT) as tx:
        return receipts.issue(
            tx,
            TENANT,
            sign,
            scope="user",
            subject=subject,
            counts={"messages": 3, "memories": 0},
            tombs=1,
            requested_by="key:k",
        )


def test_a_receipt_as_it_was_kept_is_signed_by_the_key_it_names(app: Database, settings: Settings) -> None:
    sign = receipts.signer(settings)
    issued = _issued(app, sign)
    with app.tenant(TENANT) as tx:
        kept = receipts.get(tx, UUID(issued.body["id"]))
    assert kept == issued
    assert receipts.verify(kept.body, kept.signature, sign.public_key)
    assert kept.body["key_id"] == receipts.key_id(sign.public_key)


@pytest.mark.parametrize("field", ["counts", "at", "scope", "subject_hash", "requested_by", "id"])
def test_a_receipt_with_one_field_changed_is_not_valid(app: Database, field: str) -> None:
    issued = _issued(app, SIGNER)
    assert not receipts.verify(issued.body | {field: "x"}, issued.signature, SIGNER.public_key)


@pytest.mark.parametrize(
    ("signature", "key"),
    [("", ""), ("§", "§"), ("AAAA", "AAAA"), pytest.param("AAAA", SIGNER.public_key, id="AAAA-a key")],
)
def test_what_is_no_signature_or_no_key_is_not_valid(signature: str, key: str) -> None:
    assert not receipts.verify({"id": "1"}, signature, key)


def test_another_key_does_not_check_it(app: Database) -> None:
    issued = _issued(app, SIGNER)
    other = Signer(Ed25519PrivateKey.generate())
    assert not receipts.verify(issued.body, issued.signature, other.public_key)


@given(body=WORDS)
def test_a_signature_holds_however_the_body_was_written_down(body: dict[str, Any]) -> None:
    signature = SIGNER.sign(body)
    again = json.loads(json.dumps(dict(reversed(body.items())), indent=3))
    assert receipts.verify(again, signature, SIGNER.public_key)


@given(body=WORDS, other=WORDS)
def test_no_other_body_has_the_same_signature(body: dict[str, Any], other: dict[str, Any]) -> None:
    assert receipts.verify(other, SIGNER.sign(body), SIGNER.public_key) == (body == other)


def test_the_key_of_a_home_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "new")
    first, second = receipts.signer(settings), receipts.signer(settings)
    path = tmp_path / "new" / receipts.KEY_FILE
    assert first.public_key == second.public_key
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == [receipts.KEY_FILE]


def test_a_key_from_the_settings_is_used_as_it_is(tmp_path: Path) -> None:
    private = Ed25519PrivateKey.generate()
    encoded = base64.b64encode(private.private_bytes_raw()).decode()
    settings = Settings(home=tmp_path, receipt_key=SecretStr(encoded))
    assert receipts.signer(settings).public_key == Signer(private).public_key
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["", "short", base64.b64encode(b"x" * 31).decode(), "§" * 44])
def test_what_is_no_private_key_is_refused_without_being_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(Misconfigured, match="IMPRINT_RECEIPT_KEY is not an Ed25519") as refused:
        receipts.signer(Settings(home=tmp_path, receipt_key=SecretStr(key)))
    assert not key or key not in str(refused.value)


def test_neither_the_user_nor_zero_counts_stand_in_a_receipt(app: Database, unique: str) -> None:
    issued = _issued(app, SIGNER, subject=unique)
    assert unique not in json.dumps(issued.as_json())
    assert issued.body["counts"] == {"messages": 3}


def test_erasing_ends_with_an_error_where_its_receipt_cannot_be_stored(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = _issued(app, SIGNER)
    monkeypatch.setattr(receipts, "uuid7", lambda: UUID(issued.body["id"]))
    with pytest.raises(RuntimeError, match="was not stored"):
        _issued(app, SIGNER)


def test_who_knows_what_was_erased_finds_its_receipt_and_nobody_finds_another(app: Database) -> None:
    issued = _issued(app, SIGNER, subject="ada")
    with app.tenant(TENANT) as tx:
        assert receipts.of_subject(tx, TENANT, "user", "ada") == issued
        assert receipts.of_subject(tx, TENANT, "user", "bob") is None
        assert receipts.of_subject(tx, TENANT, "memory", "ada") is None
