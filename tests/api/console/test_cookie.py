from __future__ import annotations

import pytest

from api.console import cookie
from api.console.cookie import Sealer

KEY = "imp_key"


def test_a_sealed_key_is_opened_with_a_token_of_its_own() -> None:
    sealer = Sealer(b"k" * 32)
    first, second = (sealer.open(sealer.seal(KEY)) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.key == second.key == KEY
    assert first.csrf != second.csrf
    assert len(first.csrf) == 32


def test_the_key_cannot_be_read_from_the_cookie() -> None:
    assert KEY not in Sealer(b"k" * 32).seal(KEY)


@pytest.mark.parametrize("value", ["", "x", "not base64 §", "A" * 5_000, "QUJD"])
def test_what_was_not_sealed_here_is_no_login(value: str) -> None:
    assert Sealer(b"k" * 32).open(value) is None


def test_a_cookie_of_another_installation_or_with_one_changed_character_is_no_login() -> None:
    sealed = Sealer(b"k" * 32).seal(KEY)
    assert Sealer(b"o" * 32).open(sealed) is None
    for place in range(0, len(sealed) - 4, 7):
        changed = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        assert Sealer(b"k" * 32).open(changed) is None


def test_a_login_ends_after_a_working_day(monkeypatch: pytest.MonkeyPatch) -> None:
    sealer = Sealer(b"k" * 32)
    sealed = sealer.seal(KEY)
    now = cookie.time.time()
    monkeypatch.setattr(cookie.time, "time", lambda: now + cookie.SECONDS + 1)
    assert sealer.open(sealed) is None
