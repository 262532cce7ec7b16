"""What a key with the scope `read` alone changes, what one tenant learns of another by waiting, and the manual."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from core.config import Settings
from core.inference.embedders import CachedEmbedder, Floats, HashEmbedder
from core.reflection.profile import ProfileOwner, get
from core.storage.db import Database
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, event
from tests.works import Works


def test_a_settle_that_flushes_needs_publish(settings: Settings, door: Doors) -> None:
    token = door.post("/v1/events", event()).json()["settle_token"]
    asked = f"/v1/settle?token={token}&timeout=0"
    reads, publishes = key_of(settings, TENANT, ("read",)), key_of(settings, TENANT, ("read", "publish"))
    assert door.get(asked, key=reads).status_code == 200
    refused = door.get(f"{asked}&flush=true", key=reads)
    assert refused.status_code == 403
    assert "`publish`" in refused.json()["detail"]
    assert door.get(f"{asked}&flush=true", key=publishes).status_code == 200


def test_a_fresh_profile_is_stored_for_who_may_write_alone(settings: Settings, door: Doors, app: Database) -> None:
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada lives in Lisbon."})
    reads, asked = key_of(settings, TENANT, ("read",)), "/v1/users/ada/profile?fresh=true"
    shown = door.get(asked, key=reads)
    assert shown.status_code == 200
    assert "Lisbon" in shown.text
    assert stored(app) == (False, 0)
    assert door.get(asked).json()["attributes"] == shown.json()["attributes"]
    assert stored(app) == (True, 1)


def stored(app: Database) -> tuple[bool, int]:
    """Whether there is a profile of ada, and how many events say so."""
    with app.tenant(TENANT) as tx:
        told = tx.exec_driver_sql("SELECT count(*) FROM events WHERE event_type = 'profile.updated'").scalar_one()
        return get(tx, ProfileOwner(user_id="ada")) is not None, told


class Counting(HashEmbedder):
    """Counts the texts that it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return super().embed(texts)


def test_a_text_that_one_tenant_asked_is_not_cached_for_another() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    acme, evil = cached.of("acme"), cached.of("evil")
    acme.embed(["merger with Initech"])
    acme.embed(["merger with Initech"])
    assert inner.asked == ["merger with Initech"]
    np.testing.assert_array_equal(evil.embed(["merger with Initech"]), cached.embed(["merger with Initech"]))
    assert inner.asked == ["merger with Initech"] * 3


def test_searches_of_two_tenants_share_no_vector(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Counting()
    monkeypatch.setattr(door.client.app.state.deps.embedder, "_inner", inner)  # type: ignore[attr-defined]
    for tenant in (TENANT, TENANT, OTHER):
        assert door.post("/v1/search", {"user_id": "ada", "query": "a secret plan"}, tenant=tenant).is_success
    assert inner.asked == ["a secret plan"] * 2


def test_the_manual_loads_and_runs_nothing(door: Doors) -> None:
    page = door.client.get("/docs")
    assert page.status_code == 200
    assert "/v1/search" in page.text
    assert not re.search(
        r"<(?:script|link|iframe|img)|(?:src|href|action)=[\"']?\w+:|url\(|@import|\son\w+=|javascript:", page.text
    )
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_the_manual_says_which_scope_a_route_needs(door: Doors) -> None:
    page = door.client.get("/docs").text
    assert re.search(r"<code>/v1/settle</code><span class=scope>read</span>", page)
    assert re.search(r"<code>/healthz</code><span class=scope>no key</span>", page)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 503),
        ("GET", "/docs", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/nowhere", 404),
        ("PUT", "/healthz", 405),
        ("GET", "/v1/tenant", 401),
        ("POST", "/v1/search", 401),
    ],
)
def test_every_answer_carries_protective_headers(door: Doors, method: str, path: str, status: int) -> None:
    answer = door.client.request(method, path)
    assert answer.status_code == status
    protected(answer.headers)


def test_answers_to_who_has_a_key_are_not_stored_anywhere(door: Doors) -> None:
    answer = door.get("/v1/tenant")
    protected(answer.headers)
    assert answer.headers["cache-control"] == "no-store"


def test_an_unexpected_error_carries_protective_headers_too(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tenancy.tenants.allows_high_risk", lambda *_: 1 / 0)
    answer = door.get("/v1/tenant")
    assert answer.status_code == 500
    protected(answer.headers)


def protected(headers: object) -> None:
    assert headers["x-content-type-options"] == "nosniff"  # type: ignore[index]
    assert headers["referrer-policy"] == "no-referrer"  # type: ignore[index]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]  # type: ignore[index]
    assert headers["cache-control"]  # type: ignore[index]


@pytest.mark.parametrize("path", ["/v1/memories/", "/docs/", "/healthz/", "/v1/search/"])
def test_nothing_is_redirected_by_the_host_header(door: Doors, path: str) -> None:
    answer = door.client.get(path, headers={"host": "evil.example"}, follow_redirects=False)
    assert answer.status_code in {401, 404, 405}
    assert "location" not in answer.headers


def test_settles_end_when_the_work_ends(door: Doors, works: Works) -> None:
    token = door.post("/v1/events", event()).json()["settle_token"]
    assert door.get(f"/v1/settle?token={token}&timeout=0").json() == {"settled": False, "pending": 1}
    works.settle()
    assert door.get(f"/v1/settle?token={token}&timeout=20").json() == {"settled": True, "pending": 0}
