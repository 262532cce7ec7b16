"""Limits of a tenant: the installation's, what the operator grants, and what the tenant chooses below that."""

from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Invalid
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy import limits
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT

PATH = "/v1/tenant/limits"


def test_a_tenant_has_the_limits_of_the_installation(door: Doors) -> None:
    assert door.ask("GET", PATH).json() == {"limits": TenantLimits().model_dump(), "granted": {}, "chosen": {}}


def test_a_tenant_chooses_lower_limits_and_takes_them_back(door: Doors) -> None:
    assert door.ask("PUT", PATH, json={"settles": 3}).json()["limits"]["settles"] == 3
    assert door.ask("GET", PATH).json()["chosen"] == {"settles": 3}
    assert door.ask("PUT", PATH, json={}).json()["limits"] == TenantLimits().model_dump()


def test_a_tenant_cannot_raise_its_limits(door: Doors) -> None:
    answer = door.ask("PUT", PATH, json={"settles": TenantLimits().settles + 1})
    assert answer.status_code == 403
    assert f"settles (at most {TenantLimits().settles})" in answer.json()["detail"]


def test_what_the_operator_grants_is_the_ceiling(door: Doors, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        limits.grant(tx, TENANT, {"settles": 500})
    assert door.ask("PUT", PATH, json={"settles": 400}).json()["limits"]["settles"] == 400
    with app.tenant(TENANT) as tx:
        limits.grant(tx, TENANT, {"settles": 50})
    assert door.ask("GET", PATH).json()["limits"]["settles"] == 50, "a choice above a later grant has no effect"


@pytest.mark.parametrize(("sent", "pointer"), [({"setles": 1}, "/setles"), ({"settles": 0}, "/settles")])
def test_what_is_no_limit_is_refused_with_its_place(door: Doors, sent: dict[str, int], pointer: str) -> None:
    answer = door.ask("PUT", PATH, json=sent)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]


def test_limits_are_whole_numbers(app: Database) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid, match="/settles"):
        limits.grant(tx, TENANT, {"settles": True})


def test_the_choice_of_extraction_is_read_and_set_by_an_admin(door: Doors, settings: Settings) -> None:
    path = "/v1/tenant/extraction"
    assert door.get(path).json() == {"min_importance": 0, "min_certainty": 0}
    for chosen in ({"min_importance": 0.4, "min_certainty": 0.9}, {"min_importance": 0.4}):
        shown = {"min_certainty": 0} | chosen
        assert door.ask("PUT", path, json=chosen).json() == door.get(path).json() == shown
    assert door.get(path, tenant=OTHER).json() == {"min_importance": 0, "min_certainty": 0}
    writer = key_of(settings, TENANT, ("write", "read"))
    assert door.ask("PUT", path, json={"min_importance": 0.1}, key=writer).status_code == 403
    for wrong in ({"min_importance": 2}, {"min_importance": "x"}, {}):
        answer = door.ask("PUT", path, json=wrong)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/min_importance")
