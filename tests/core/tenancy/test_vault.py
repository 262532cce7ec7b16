from __future__ import annotations

import base64
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.config import Settings
from core.errors import Misconfigured
from core.tenancy.vault import Vault, load

OLD, NEW = b"o" * 32, b"n" * 32


def test_a_secret_is_opened_for_its_own_place_alone() -> None:
    vault = Vault([OLD])
    sealed = vault.seal("hunter2", "acme/shop")
    assert b"hunter2" not in sealed
    assert vault.open(sealed, "acme/shop") == "hunter2"
    with pytest.raises(Misconfigured, match="cannot be decrypted"):
        vault.open(sealed, "other/shop")


def test_a_second_key_opens_what_it_sealed_and_the_first_one_seals() -> None:
    sealed = Vault([OLD]).seal("hunter2", "p")
    both = Vault([NEW, OLD])
    assert both.open(sealed, "p") == "hunter2"
    assert Vault([NEW]).open(both.seal("again", "p"), "p") == "again"


def test_the_home_gets_a_key_where_the_settings_give_none(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, secrets_key=None)
    sealed = load(settings).seal("hunter2", "p")
    assert load(settings).open(sealed, "p") == "hunter2"


def test_what_is_no_key_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    short = base64.b64encode(b"short").decode()
    with pytest.raises(Misconfigured, match="openssl rand -base64 32"):
        load(Settings(home=tmp_path, secrets_key=SecretStr(short)))
