"""Connections to the mail server."""

from __future__ import annotations

import smtplib
import ssl
from urllib.parse import unquote, urlsplit


def log_in(url: str, timeout: float) -> smtplib.SMTP:
    """Connect to the server of an SMTP URL and log in if it names a user; use the result as a context manager.

    `smtps` begins with TLS, `smtp` uses STARTTLS if the server offers it. `timeout`: of each step, in seconds.

    Raises:
        SMTPException, OSError: it cannot be reached, or refuses.
    """
    parts = urlsplit(url)
    server = _connect(parts.scheme, parts.hostname or "", parts.port or 0, timeout)
    try:
        _greet(server)
        if parts.username is not None:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server


def _connect(scheme: str, host: str, port: int, timeout: float) -> smtplib.SMTP:
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port or 465, timeout=timeout, context=ssl.create_default_context())
    return smtplib.SMTP(host, port or 587, timeout=timeout)


def _greet(server: smtplib.SMTP) -> None:
    server.ehlo()
    if not isinstance(server, smtplib.SMTP_SSL) and server.has_extn("starttls"):
        server.starttls(context=ssl.create_default_context())
        server.ehlo()
