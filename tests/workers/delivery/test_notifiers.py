from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.tenancy.tenants import DEFAULT
from tests.core.packages import Publish
from tests.factories import a_job, tools
from workers.agents import notify
from workers.delivery import notifiers


@pytest.mark.parametrize("address", ["https://example.com/hook", "log:", "MAILTO:ada@example.com"])
def test_the_service_carries_notices_to_its_own_schemes(address: str) -> None:
    assert notifiers.of_address(Settings(), address) is None


def test_a_scheme_of_no_package_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Misconfigured, match=r"'sms'.*http, https, log, mailto"):
        notifiers.of_address(Settings(), "sms:+351912345678")


@pytest.mark.parametrize(("scheme", "answer"), [("pager", True), ("beeper", {"delivered": 0})])
def test_what_a_notifier_returns_is_no_part_of_the_result(
    upgraded: Settings, publish: Publish, scheme: str, answer: object
) -> None:
    code = f"class Pager:\n    def __init__(self, settings): ...\n    def send(self, notice): return {answer!r}\n"
    publish(f"{scheme}_package", plugins.NOTIFIERS, f"{scheme} = {scheme}_package:Pager", code=code)
    settings = upgraded.model_copy(update={"notify_channels": {"ops": f"{scheme}:7"}})
    job = replace(a_job(channel="ops", template="The stock is empty."), tenant_id=DEFAULT)
    outcome = notify.notify(tools(settings), job)
    assert outcome.pending.write(cast(Any, None), job.author) == {"channel": "ops", "delivered": 1}
