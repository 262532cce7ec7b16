"""`imprint serve` in two processes: a client cannot tell them from one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from api.stack import forking
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from tests import production
from tests.patience import wait_until
from tests.production import Production, message

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Production]:
    home = tmp_path_factory.mktemp("served")
    postgres, broker = Postgres(home, durable=False), Broker(home, durable=False)
    with ExitStack() as last:
        for server in (postgres, broker):
            server.start()
            last.callback(server.stop)
        made = production.wired(home, postgres.url, broker.url, "http://127.0.0.1:9/v1")
        made.environment["IMPRINT_API_PROCESSES"] = "2"
        last.callback(made.stop)
        made.start("api")
        wait_until(made.alive)
        yield made


def test_two_processes_serve_one_port(served):
    wait_until(lambda: len(served.children("api")) == 2)
    url = str(served.api.base_url)
    for _ in range(8):
        assert httpx.get(f"{url}/healthz").status_code == httpx.codes.OK


def test_metrics_add_up_whichever_process_answers(served):
    headers = dict(served.api.headers)
    for number in range(6):  # Each over a connection of its own.
        httpx.post(f"{served.api.base_url}/v1/events", json=[message(number)], headers=headers).raise_for_status()
    shown = {served.total("api", "imprint_events_accepted_total", door="http") for _ in range(6)}
    assert shown == {6.0}


def test_sighup_renews_both_and_refuses_no_connection(served):
    before = set(served.children("api"))
    served.running["api"].send_signal(signal.SIGHUP)
    while before & set(served.children("api")):  # A refused connection raises.
        assert httpx.get(f"{served.api.base_url}/healthz").status_code == httpx.codes.OK
    assert len(served.children("api")) == 2


def test_one_that_is_killed_is_replaced_while_the_other_answers(served):
    wait_until(lambda: len(served.children("api")) == 2)
    killed = served.children("api")[0]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in served.children("api") and len(served.children("api")) == 2)
    assert httpx.get(f"{served.api.base_url}/healthz").status_code == httpx.codes.OK
