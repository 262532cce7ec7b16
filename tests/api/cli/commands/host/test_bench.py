"""`imprint bench`: figures of a tenant of its own, of which nothing is left."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from api.cli.commands.host import bench_parts
from core.config import Settings
from core.storage.db import Database
from tests.api.cli.tenants import tenants_of
from tests.commands import Imprint
from tests.samples import TENANT, accept, said


@pytest.fixture
def local(imprint: Imprint, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Imprint:
    """The commands with access to the database, as on the machine of the service."""
    assert settings.database_url
    monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setattr(bench_parts, "MESSAGES", 20)
    monkeypatch.setattr(bench_parts, "BATCH", 10)
    return imprint


def test_each_part_is_measured_and_nothing_is_left(local: Imprint, settings: Settings, app: Database) -> None:
    accept(app, said("I live in Turin."))
    before = tenants_of(settings)
    done = local("bench", "--seconds", "0.5", "--json")
    assert done.code == 0, done.err
    assert {one["part"] for one in done.json["items"]} == set(bench_parts.PARTS)
    assert all(one["value"] > 0 for one in done.json["items"])
    assert tenants_of(settings) == before
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM events")).scalar() == 1


def test_one_part_is_measured_alone_and_an_unknown_one_creates_nothing(local: Imprint) -> None:
    assert {line.split()[0] for line in local("bench", "search", "--seconds", "0.5").out.splitlines()} == {
        "part",
        "search",
    }
    unknown = local("bench", "serach")
    assert (unknown.code, "parts are accept" in " ".join(unknown.err.split())) == (2, True)
