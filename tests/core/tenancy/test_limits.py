from __future__ import annotations

import pytest

from core.errors import Forbidden, Invalid
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy import limits
from tests.samples import TENANT

DEFAULT = TenantLimits(documents=100, settles=10)


def test_a_tenant_may_choose_less_than_it_was_granted_and_no_more(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        limits.grant(tx, TENANT, {"documents": 50})
        limits.choose(tx, TENANT, {"documents": 20}, DEFAULT)
        assert limits.effective(tx, TENANT, DEFAULT).documents == 20
        with pytest.raises(Forbidden, match="at most 50"):
            limits.choose(tx, TENANT, {"documents": 51}, DEFAULT)
        limits.choose(tx, TENANT, {}, DEFAULT)
        assert limits.effective(tx, TENANT, DEFAULT).documents == 50


def test_a_lower_grant_holds_against_an_earlier_choice(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        limits.choose(tx, TENANT, {"settles": 8}, DEFAULT)
        limits.grant(tx, TENANT, {"settles": 4})
        assert limits.effective(tx, TENANT, DEFAULT).settles == 4
        assert limits.view(tx, TENANT, DEFAULT)["chosen"] == {"settles": 8}


def test_what_is_no_limit_is_refused_with_its_place(app: Database) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid) as refused:
        limits.grant(tx, TENANT, {"documents": "many"})
    assert refused.value.problems[0].pointer == "/documents"
