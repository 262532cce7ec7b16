from __future__ import annotations

import pytest

from core.settings.limits import TenantLimits
from tests.commands import Imprint
from tests.samples import TENANT


def test_an_operator_sees_raises_and_takes_back_the_limits_of_a_tenant(operator: Imprint) -> None:
    shown = operator("tenant", "limits", "--tenant", TENANT)
    assert shown.code == 0
    assert [name for name in TenantLimits.model_fields if name not in shown.out] == []
    raised = operator("tenant", "limits", "--tenant", TENANT, "settles=500", "documents=7", "--json")
    assert raised.json["granted"] == {"settles": 500, "documents": 7}
    assert raised.json["limits"]["settles"] == 500
    back = operator("tenant", "limits", "--tenant", TENANT, "settles=default", "--json")
    assert back.json["granted"] == {"documents": 7}
    assert back.json["limits"]["settles"] == TenantLimits().settles


@pytest.mark.parametrize("said", ["setles=3", "settles", "settles=many", "settles=0", "settles=-1"])
def test_what_is_no_limit_is_refused_in_words(operator: Imprint, said: str) -> None:
    refused = operator("tenant", "limits", "--tenant", TENANT, said)
    assert refused.code == 1
    assert said.partition("=")[0] in refused.err


def test_a_tenant_that_is_none_is_not_made(operator: Imprint) -> None:
    refused = operator("tenant", "limits", "--tenant", "nobody", "settles=3")
    assert refused.code == 1
    assert "'nobody'" in refused.err
