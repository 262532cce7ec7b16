from __future__ import annotations

from tests.commands import Imprint
from tests.samples import TENANT


def test_its_status_is_what_readiness_says(imprint: Imprint) -> None:
    said = imprint("status", "--json")
    assert said.code == 1
    assert said.json["ready"] is False
    assert "Not at work" in said.json["detail"]
    assert said.json["tenant"] == TENANT
    assert "not ready" in imprint("status").out
