from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api.ingress.fair_share import LARGE_BYTES
from core.config import Settings
from core.events import parsing
from core.events.parsing import Incoming
from core.settings.limits import TenantLimits
from core.transfer import export
from tests.api.posting import problem
from tests.commands import served
from tests.doors import OTHER, key_of, opened
from tests.patience import wait_until
from tests.samples import event, said


def test_a_backlog_above_the_limit_is_429_with_retry_after(settings: Settings) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=3)})) as doors:
        assert doors.post("/v1/events", [event(), event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        assert doors.post("/v1/events", [event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        refused = doors.post("/v1/events", [event(id="late")])
        problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        problem(doors.get("/v1/events/late"), 404)
        assert doors.post("/v1/events", [event()], tenant=OTHER).status_code == 202


def test_large_bodies_of_a_tenant_are_worked_on_one_at_a_time_and_small_ones_beside_them(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, together, small_done = parsing.parse, list[int](), threading.Event()
    running = list[int]()

    def observed(body: bytes, *rest: Any, **more: Any) -> list[Incoming]:
        if len(body) < LARGE_BYTES:
            return parse(body, *rest, **more)
        running.append(1)
        together.append(len(running))
        assert small_done.wait(20), "a small request is answered while a large one is worked on"
        running.pop()
        return parse(body, *rest, **more)

    monkeypatch.setattr(parsing, "parse", observed)
    with served(settings) as (url, key), ThreadPoolExecutor(4) as clients:
        headers = {"authorization": f"Bearer {key}"}
        large = [event(payload={"text": "x" * LARGE_BYTES})]
        sent = [clients.submit(httpx.post, f"{url}/v1/events", json=large, headers=headers) for _ in range(4)]
        wait_until(lambda: bool(running))
        assert httpx.post(f"{url}/v1/events", json=[event()], headers=headers).status_code == 202
        small_done.set()
        assert [future.result().status_code for future in sent] == [202] * 4
    assert together == [1] * 4


@pytest.mark.parametrize(("beside", "most"), [(True, 1), (False, 4)])
def test_beside_another_tenant_exports_are_worked_on_one_at_a_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, beside: bool, most: int
) -> None:
    together, running, may_end = list[int](), list[int](), threading.Event()
    write = export.write

    def observed(*given: Any, **more: Any) -> None:
        running.append(1)
        together.append(len(running))
        assert may_end.wait(20)
        running.pop()
        write(*given, **more)

    monkeypatch.setattr(export, "write", observed)
    with served(settings) as (url, key), ThreadPoolExecutor(4) as clients:
        headers = {"authorization": f"Bearer {key}"}
        assert httpx.post(f"{url}/v1/events", json=[said("I have a boat.")], headers=headers).status_code == 202
        if beside:
            other = {"authorization": f"Bearer {key_of(settings, OTHER)}"}
            assert httpx.get(f"{url}/v1/events", headers=other).status_code == 200
        sent = [clients.submit(httpx.get, f"{url}/v1/users/ada/export", headers=headers) for _ in range(4)]
        wait_until(lambda: len(running) == most)
        may_end.set()
        assert [future.result().status_code for future in sent] == [200] * 4
    assert max(together) == most
