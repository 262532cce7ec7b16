"""An API that could not sign receipts says so before anybody relies on it, and erases nothing without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from core.config import Settings
from core.errors import Misconfigured
from core.maintenance import heartbeat
from core.memory import receipts
from core.storage.db import Database
from tests.doors import Doors, opened
from tests.samples import accept, said


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    """A home below something that is no folder: nothing can be written there, by root either."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "home"


@pytest.fixture
def closed(settings: Settings, unwritable: Path) -> Iterator[Doors]:
    """The door of a container whose home cannot be written, and which was given no key."""
    with opened(settings.model_copy(update={"home": unwritable, "receipt_key": None})) as doors:
        yield doors


def test_readiness_says_that_nothing_could_be_erased(closed: Doors) -> None:
    answer = closed.client.get("/readyz")
    assert answer.status_code == 503
    assert "receipts cannot be signed" in answer.json()["detail"]
    assert "IMPRINT_RECEIPT_KEY" in answer.json()["detail"]


def test_an_erasure_is_refused_in_a_sentence_and_erases_nothing(closed: Doors, app: Database) -> None:
    accept(app, said("I live in Turin."))
    answer = closed.ask("DELETE", "/v1/users/ada")
    assert "receipts cannot be signed" in answer.json()["detail"]
    assert closed.get("/v1/sessions/s1/messages").json()["items"]
    assert "receipts cannot be signed" in closed.get("/v1/receipts/key").json()["detail"]


def test_the_environment_of_the_compose_file_erases(
    settings: Settings, unwritable: Path, root: Path, app: Database
) -> None:
    compose = yaml.safe_load((root / "docker-compose.yml").read_text())
    assert compose["services"]["api"]["environment"]["IMPRINT_RECEIPT_KEY"] == "${IMPRINT_RECEIPT_KEY:?}"
    key = SecretStr("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    accept(app, said("I live in Turin."))
    with opened(settings.model_copy(update={"home": unwritable, "receipt_key": key})) as doors:
        assert "receipts" not in doors.client.get("/readyz").json()["detail"], "only that nobody is at work here"
        answer = doors.ask("DELETE", "/v1/users/ada")
        assert answer.status_code == 200
        public = doors.get("/v1/receipts/key").json()["public_key"]
        assert receipts.verify(answer.json()["receipt"], answer.json()["signature"], public)
    assert heartbeat.REQUIRED_PROCESSES


def test_a_wrong_key_is_one_sentence_that_does_not_show_it(settings: Settings) -> None:
    with pytest.raises(Misconfigured, match="IMPRINT_RECEIPT_KEY is not an Ed25519") as caught:
        receipts.signer(settings.model_copy(update={"receipt_key": SecretStr("hush")}))
    assert "hush" not in caught.value.detail
