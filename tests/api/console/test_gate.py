from __future__ import annotations

import pytest

from api.console.cookie import NAME
from core.config import Settings
from core.storage.db import Database
from core.tenancy import tenants
from tests.api.console.browser import Browser
from tests.doors import OTHER, Doors, key_of
from tests.factories import a_memory, carry_out
from tests.samples import TENANT


def test_a_browser_without_a_login_is_sent_to_it_and_comes_back(stranger: Browser, door: Doors) -> None:
    answer = stranger.get("/memories?user_id=ada")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/console/login?next=%2Fconsole%2Fmemories%3Fuser_id%3Dada",
    )
    there = stranger.log_in(door.keys[TENANT], "/console/memories?user_id=ada")
    assert there.headers["location"] == "/console/memories?user_id=ada"


def test_a_part_of_a_page_without_a_login_makes_the_whole_page_go_there(stranger: Browser) -> None:
    answer = stranger.get("/memories", **{"hx-request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (204, "/console/login")


def test_the_cookie_is_kept_from_scripts_other_sites_and_the_api(stranger: Browser, door: Doors) -> None:
    set_cookie = stranger.log_in(door.keys[TENANT]).headers["set-cookie"].lower()
    assert "httponly" in set_cookie
    assert "samesite=lax" in set_cookie
    assert "path=/console;" in set_cookie
    assert door.keys[TENANT] not in set_cookie
    sealed = door.client.cookies[NAME]
    assert door.client.get("/v1/memories", headers={"cookie": f"{NAME}={sealed}"}).status_code == 401


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/v1/memories", "/console/\\evil", "/consolex"]
)
def test_a_login_leads_nowhere_but_into_the_console(stranger: Browser, door: Doors, target: str) -> None:
    assert stranger.log_in(door.keys[TENANT], target).headers["location"] == "/console"


def test_a_wrong_key_is_refused_with_a_word(stranger: Browser) -> None:
    answer = stranger.log_in("imp_wrong")
    assert answer.status_code == 401
    assert "This key is not valid" in answer.text
    assert NAME not in answer.cookies


def test_a_login_takes_no_more_than_a_key(stranger: Browser) -> None:
    assert stranger.client.post("/console/login", data={"key": "x" * 10_000}).status_code == 413


def test_a_form_of_another_site_is_refused(browser: Browser) -> None:
    path, token = "/console/logout", {"x-csrf-token": browser.token}
    assert browser.client.post(path, headers={"origin": "https://evil.example"} | token).status_code == 403
    assert browser.client.post(path, headers={"origin": "http://testserver"}).status_code == 403
    assert browser.client.post(path, headers={"x-csrf-token": "0" * 32}).status_code == 403
    evil = {"origin": "https://evil.example"}
    assert browser.client.post("/console/login", data={"key": "x"}, headers=evil).status_code == 403
    assert browser.press("/logout").status_code == 204


def test_a_revoked_key_ends_its_login(
    stranger: Browser, door: Doors, settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(settings, TENANT, ("read",))
    stranger.log_in(key)
    assert stranger.get("/memories").status_code == 200
    with app.tenant(TENANT) as tx:
        caller = tenants.caller(app, key, settings.tenant_limits)
        tenants.revoke_key(tx, caller.key_id)
    monkeypatch.setattr("api.ingress.dependencies.KEY_SECONDS", 0.0)
    answer = stranger.get("/memories")
    assert (answer.status_code, answer.headers["location"][:14]) == (303, "/console/login")


def test_every_answer_forbids_what_does_not_come_from_here(browser: Browser) -> None:
    for path in ("", "/login", "/static/console.css", "/nothing"):
        policy = browser.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("name", ["../render.py", "..%2frender.py", "vendor/../../cookie.py", "vendor", "nothing.js"])
def test_only_assets_are_served(stranger: Browser, name: str) -> None:
    assert stranger.get(f"/static/{name}").status_code in {303, 404}


def test_a_reading_key_sees_and_cannot_change(stranger: Browser, settings: Settings, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    stranger.log_in(key_of(settings, TENANT, ("read",)))
    assert "Ada plays the cello." in stranger.get("/memories").text
    for path, fields in (
        (f"/memories/{memory.id}/pin", {"pinned": "true"}),
        (f"/memories/{memory.id}/edit", {"version": "1", "content": "Ada plays chess."}),
        (f"/memories/{memory.id}/erase", {"confirm": str(memory.id)[-8:]}),
        ("/rules/write_episodes/pause", {"enabled": "false"}),
    ):
        answer = stranger.press(path, **fields)
        assert "lacks the scope" in answer.text, path
    assert "Ada plays the cello." in stranger.get("/memories").text


def test_a_login_of_another_tenant_sees_nothing_of_this_one(stranger: Browser, door: Doors, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    stranger.log_in(door.keys[OTHER])
    for path in ("", "/memories", f"/memories/{memory.id}", "/events", "/people", "/people/ada", "/work"):
        assert "cello" not in stranger.get(path).text
    assert stranger.get(f"/memories/{memory.id}").status_code == 404
