from __future__ import annotations

import re

from core.config import Settings
from tests.api.console.browser import Browser
from tests.doors import Doors, key_of
from tests.samples import TENANT


def test_a_key_is_created_shown_once_and_revoked(browser: Browser, door: Doors) -> None:
    shown = browser.press("/keys", name="reader", scope="read").text
    key = re.search(r'<pre id="key">([^<]+)</pre>', shown)
    assert key
    assert door.get("/v1/memories", key=key[1]).status_code == 200
    assert key[1] not in browser.get("/keys").text
    [made] = [one for one in door.get("/v1/keys").json()["items"] if one["name"] == "reader"]
    assert browser.press("/keys/revoke", id=made["id"]).status_code == 204
    assert door.get("/v1/memories", key=key[1]).status_code == 401


def test_keys_are_for_administrators(stranger: Browser, settings: Settings) -> None:
    stranger.log_in(key_of(settings, TENANT, ("read",)))
    assert stranger.get("/keys").status_code == 403
