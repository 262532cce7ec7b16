from __future__ import annotations

from core.storage.db import Database
from core.tenancy import extraction
from tests.samples import TENANT


def test_a_tenant_keeps_everything_until_it_sets_a_floor_of_its_own(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert extraction.least_importance(tx, TENANT) == 0
        for floor in (0.4, 0.6):
            extraction.put(tx, TENANT, floor)
        assert extraction.view(tx, TENANT) == {"min_importance": 0.6}
    with app.tenant("globex") as tx:
        assert extraction.least_importance(tx, "globex") == 0
