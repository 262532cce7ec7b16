from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Misconfigured
from workers.delivery import notifiers


@pytest.mark.parametrize("address", ["https://example.com/hook", "log:", "MAILTO:ada@example.com"])
def test_the_service_carries_notices_to_its_own_schemes(address: str) -> None:
    assert notifiers.of_address(Settings(), address) is None


def test_a_scheme_of_no_package_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Misconfigured, match=r"'sms'.*http, https, log, mailto"):
        notifiers.of_address(Settings(), "sms:+351912345678")
