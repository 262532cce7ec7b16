"""`POST /v1/import`: reported first, accepted once, and refused with the place where it breaks."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from api.http.transfer import imports
from core.config import Settings
from core.storage.db import Database
from tests.core.transfer import vendors
from tests.core.transfer.vendors import CHATGPT
from tests.doors import Doors, key_of
from tests.samples import TENANT
from tests.works import Works

ADA = {"user_id": "ada"}


def zipped() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("conversations.json", json.dumps(CHATGPT))
        archive.writestr("memory/MEMORY.md", "# Notes\nUse pnpm.")
    return raw.getvalue()


def count(app: Database) -> int:
    with app.tenant(TENANT) as tx:
        return int(tx.exec_driver_sql("SELECT count(*) FROM events").scalar_one())


def test_by_default_it_is_only_reported(door: Doors, app: Database) -> None:
    found = door.ask("POST", "/v1/import", params=ADA, content=zipped()).json()
    assert (found["formats"], found["conversations"], found["messages"]) == (["chatgpt", "markdown"], 37, 111)
    assert (found["documents"], found["accepted"], found["settle_token"]) == (1, 0, None)
    assert count(app) == 0


def test_it_is_accepted_once(door: Doors, app: Database) -> None:
    asked = {"params": {**ADA, "dry_run": False}, "content": zipped()}
    first = door.ask("POST", "/v1/import", **asked).json()
    stored = count(app)
    again = door.ask("POST", "/v1/import", **asked).json()
    assert first["accepted"] == again["duplicates"] > 148
    assert (again["accepted"], count(app)) == (0, stored)
    assert len(door.get("/v1/documents").json()["items"]) == 1


def test_a_key_that_may_only_publish_imports_no_documents(door: Doors, settings: Settings) -> None:
    key = key_of(settings, TENANT, ("publish",))
    params = {**ADA, "dry_run": False, "only": "chatgpt"}
    assert door.ask("POST", "/v1/import", params=params, content=zipped(), key=key).json()["accepted"] > 148
    found = door.ask("POST", "/v1/import", params={**ADA, "dry_run": False}, content=zipped(), key=key).json()
    assert found["skipped"]["a document, for which the key lacks the scope `write`"] == 1
    assert door.get("/v1/documents").json()["items"] == []


def test_memories_of_mem0_are_remembered(door: Doors, works: Works) -> None:
    page = json.dumps(vendors.mem0_page()["results"][:2])
    params = {**ADA, "dry_run": False}
    assert door.ask("POST", "/v1/import", params=params, content=page).json()["accepted"] == 2
    works.settle()
    found = [one["content"] for one in door.get("/v1/memories", params=ADA).json()["items"]]
    assert any("bicycles" in one for one in found)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"[1, 2", "upload ends"), (b"nonsense", "upload is not JSON at character 0"), (b"[]", "Nothing in the upload")],
)
def test_a_broken_upload_is_refused_with_the_place(door: Doors, content: bytes, said: str) -> None:
    answer = door.ask("POST", "/v1/import", params=ADA, content=content)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_upload_that_unpacks_to_too_much_or_takes_too_long_is_refused_with_the_way_out(
    door: Doors, app: Database, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    params = {**ADA, "dry_run": dry_run}
    with monkeypatch.context() as smaller:
        smaller.setattr(imports, "UNPACKED_BYTES", 1024**2)
        large = io.BytesIO()
        with zipfile.ZipFile(large, "w") as archive:
            archive.writestr("a.jsonl", b" " * 1024**2)
            archive.writestr("b.jsonl", b" " * 1024)
        answer = door.ask("POST", "/v1/import", params=params, content=large.getvalue())
        assert answer.status_code == 422
        assert "would unpack to more than 1 MiB" in answer.json()["detail"]
        assert "imprint import" in answer.json()["detail"]
    monkeypatch.setattr(imports, "SECONDS", -1.0)
    for content in (zipped(), json.dumps(CHATGPT).encode()):
        answer = door.ask("POST", "/v1/import", params=params, content=content)
        assert answer.status_code == 422
        assert "takes too long" in answer.json()["detail"]
    assert count(app) == 0


def test_zips_within_zips_share_the_bound(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "UNPACKED_BYTES", 3 * 1024**2)
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", "".join(f'{{"n": {number}}}\n' for number in range(130_000)))
    with zipfile.ZipFile(outer, "w") as archive:
        for name in "ab":
            archive.writestr(f"{name}.zip", inner.getvalue())
    answer = door.ask("POST", "/v1/import", params=ADA, content=outer.getvalue())
    assert answer.status_code == 422
    assert "b.zip would unpack" in answer.json()["detail"]


def test_a_number_with_thousands_of_digits_is_refused_like_any_other_fault(door: Doors) -> None:
    raw = b'[{"conversation_id": ' + b"9" * 5_000 + b"}]"
    answer = door.ask("POST", "/v1/import", params=ADA, content=raw)
    assert answer.status_code == 422
