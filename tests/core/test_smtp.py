from __future__ import annotations

import smtplib
from collections.abc import Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from core import smtp
from tests.ports import free_port


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a mail server that lets `ada` in with the password `a/b`."""

    def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, login: LoginPassword) -> AuthResult:
        return AuthResult(success=(login.login, login.password) == (b"ada", b"a/b"), handled=False)

    port = free_port()
    controller = Controller(
        object(), hostname="127.0.0.1", port=port, authenticator=authenticate, auth_require_tls=False
    )
    controller.start()
    yield port
    controller.stop()


def test_the_login_of_the_url_is_used_as_it_was_before_it_was_encoded(port: int) -> None:
    with smtp.log_in(f"smtp://ada:a%2Fb@127.0.0.1:{port}", 5) as server:
        assert server.noop()[0] == 250


def test_a_refused_login_is_raised_and_its_connection_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, close = [], smtplib.SMTP.close
    monkeypatch.setattr(smtplib.SMTP, "close", lambda server: closed.append(close(server)))
    with pytest.raises(smtplib.SMTPAuthenticationError):
        smtp.log_in(f"smtp://ada:wrong@127.0.0.1:{port}", 5)
    assert closed
