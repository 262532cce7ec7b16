from __future__ import annotations

import pytest

from core.config import Settings
from core.storage.db import Database
from tests.api.cli.erased import USER
from tests.commands import Imprint
from tests.samples import accept, said


def test_a_scrub_can_follow_at_once(
    imprint: Imprint, app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("database_url", "broker_url"):
        monkeypatch.setenv(f"IMPRINT_{name.upper()}", getattr(settings, name).get_secret_value())
    accept(app, said("I live in Lisbon.", user=USER))
    erased = imprint("user", "erase", USER, "--yes", "--scrub")
    assert erased.code == 0
    assert "tables rewritten" in erased.err
    assert "1 messages" in erased.out
    assert imprint("db", "scrub", "--json").json["notes"] == []


def test_people_are_told_what_stays_on_the_disk(imprint: Imprint, app: Database) -> None:
    accept(app, said("I live in Lisbon.", user=USER))
    assert "imprint db scrub" in imprint("user", "erase", USER, "--yes").err
