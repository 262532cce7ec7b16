from __future__ import annotations

from core.storage.db import Database
from core.tenancy import extraction
from core.tenancy.extraction import ExtractionChoice
from tests.samples import TENANT


def test_a_tenant_keeps_everything_until_it_makes_a_choice_of_its_own(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert extraction.read(tx, TENANT) == ExtractionChoice(0, 0)
        for floor in (0.4, 0.6):
            extraction.put(tx, TENANT, ExtractionChoice(floor, 0.9))
        assert extraction.view(tx, TENANT) == {"min_importance": 0.6, "min_certainty": 0.9}
    with app.tenant("globex") as tx:
        assert extraction.read(tx, "globex") == ExtractionChoice(0, 0)
