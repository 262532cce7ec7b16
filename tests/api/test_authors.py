from __future__ import annotations

from api import authors
from core.storage.db import Database
from core.tenancy import tenants
from tests.samples import TENANT


def test_a_key_with_a_name_is_named_and_others_stay_as_they_are(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        named, _ = tenants.create_key(tx, TENANT, ("read",), name="Porto")
        nameless, _ = tenants.create_key(tx, TENANT, ("read",))
        told = [{"name": f"key:{named}", "rule": "r"}, {"name": f"key:{nameless}"}, {"name": "memory_merger"}, {}]
        shown = authors.with_key_names(tx, told)
    assert shown == [{**told[0], "key_name": "Porto"}, *told[1:]]
