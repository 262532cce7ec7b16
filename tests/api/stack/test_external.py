from __future__ import annotations

import pytest

from api.stack.broker import Broker
from api.stack.external import External
from api.stack.postgres import OWNER, Postgres
from core.errors import Misconfigured


def test_an_own_database_with_a_wrong_password_is_one_clear_line(postgres: Postgres) -> None:
    wrong = f"postgresql://{OWNER}:guess@127.0.0.1:{postgres.port}/imprint"
    with pytest.raises(Misconfigured, match="wrong password: IMPRINT_DATABASE_URL") as caught:
        External("postgres", wrong).start()
    assert "\n" not in caught.value.detail
    assert "guess" not in caught.value.detail
    assert External("postgres", postgres.url).start() == postgres.url


def test_an_own_broker_with_a_wrong_password_is_one_clear_line(broker: Broker) -> None:
    with pytest.raises(Misconfigured, match="wrong password: IMPRINT_BROKER_URL"):
        External("broker", f"redis://:guess@127.0.0.1:{broker.port}/0").start()
    assert External("broker", broker.url).start() == broker.url


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://guest:guest@127.0.0.1:1//"])
def test_an_own_broker_that_is_not_there_is_one_clear_line(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"IMPRINT_BROKER_URL \(127.0.0.1:1"):
        External("broker", url).start()
