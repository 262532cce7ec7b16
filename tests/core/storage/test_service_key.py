from __future__ import annotations

from core.config import Settings
from core.storage import service_key

ONE = Settings(database_url="postgresql://imprint:first@localhost/imprint")


def test_each_purpose_has_a_key_of_its_own_that_every_process_derives_alike() -> None:
    assert service_key.derive(ONE, "requests") == service_key.derive(ONE.model_copy(), "requests")
    assert service_key.derive(ONE, "requests") != service_key.derive(ONE, "cursors")
    assert len(service_key.derive(ONE, "requests")) == 32
