from __future__ import annotations

import pytest
from sqlalchemy import Connection, create_engine, text

from core.config import Settings
from core.errors import Misconfigured
from core.inference.embedders import HashEmbedder
from core.storage import db, schema, schema_version
from core.storage.db import Database
from tests.databases import beside

HASH = (HashEmbedder().name, HashEmbedder().dimension)


def test_a_database_that_was_never_upgraded_is_refused_with_the_way_out(upgraded: Settings) -> None:
    with beside(upgraded) as empty:
        app = db.connect(db.app_url(empty), 1)
        with pytest.raises(Misconfigured, match="imprint db upgrade"):
            schema_version.require_current(app, HASH)
        app.close()


def test_an_empty_database_has_no_version_and_a_current_one_the_newest(upgraded: Settings, owner: Connection) -> None:
    newest = max(schema_version.migrations())
    assert schema_version.version(owner) == (newest, newest)
    with beside(upgraded) as empty:
        engine = create_engine(db.owner_url(empty))
        with engine.connect() as connection:
            assert schema_version.version(connection) == (None, newest)
        engine.dispose()


def test_a_migration_is_known_by_the_number_that_its_file_begins_with() -> None:
    files = [path.name for path in (schema_version.MIGRATIONS / "versions").glob("*.py")]
    known = schema_version.migrations()
    assert known
    assert all(len(one) == 4 and any(name.startswith(f"{one}_") for name in files) for one in known)


def test_a_database_of_another_version_is_refused_with_the_way_out(
    settings: Settings, owner: Connection, app: Database
) -> None:
    owner.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    owner.commit()
    try:
        with pytest.raises(Misconfigured, match="imprint db upgrade"):
            schema_version.require_current(app, HASH)
    finally:
        newest = schema_version.version(owner)[1]
        owner.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})
        owner.commit()
    schema_version.require_current(app, HASH)


@pytest.mark.parametrize("other", [("another-model", HASH[1]), (HASH[0], HASH[1] + 1)])
def test_vectors_of_another_model_refuse_to_start_and_say_the_way_out(
    app: Database, settings: Settings, other: tuple[str, int]
) -> None:
    schema_version.require_current(app, HASH)
    with pytest.raises(Misconfigured, match="IMPRINT_EMBEDDING"):
        schema_version.require_current(app, other)
    with pytest.raises(Misconfigured, match="IMPRINT_EMBEDDING"):
        schema.upgrade(settings, other)
    schema_version.require_current(app, HASH)
