from __future__ import annotations

from core.storage.db import Database
from core.tenancy import settings_rows
from tests.samples import TENANT


def test_a_setting_is_read_as_it_was_written_last(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert settings_rows.read(tx, TENANT, "colour") is None
        for value in ({"of": "sea"}, {"of": "sand"}):
            settings_rows.write(tx, TENANT, "colour", value)
        assert settings_rows.read(tx, TENANT, "colour", lock=True) == {"of": "sand"}
