"""External servers."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
from kombu.connection import Connection

from api.stack.process import STOP_GRACE_S
from api.stack.servers import CONNECT_LIMIT_S
from core.errors import Misconfigured


class External:
    """A server operated by someone else: checked at start, never started, stopped or supervised."""

    pid = None

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url

    @property
    def where(self) -> str:
        """Address without user and password."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def start(self) -> str:
        """Check that it answers and accepts the login.

        Raises:
            Misconfigured: it does not, with its message.
        """
        if urlsplit(self.url).scheme.startswith("postgres"):
            self._try_database()
        else:
            self._try_broker()
        return self.url

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Do nothing: the server is not ours."""

    def alive(self) -> bool:
        """Return True: its operators monitor it, and the processes retry."""
        return True

    def exit(self) -> str:
        """Return no status: this stack does not stop an external server."""
        return "external"

    def last_lines(self) -> list[str]:
        """Return no lines: its log is its operators'."""
        return []

    def _try_database(self) -> None:
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_LIMIT_S).close()
        except psycopg.Error as error:
            raise Misconfigured(self._refusal("IMPRINT_DATABASE_URL", error)) from error

    def _try_broker(self) -> None:
        with Connection(self.url, connect_timeout=CONNECT_LIMIT_S) as connection:
            try:
                connection.connect()
            except (*connection.connection_errors, *connection.channel_errors, OSError, KeyError) as error:
                raise Misconfigured(self._refusal("IMPRINT_BROKER_URL", error)) from error

    def _refusal(self, setting: str, error: Exception) -> str:
        message = " ".join(str(error).split())
        wrong = any(sign in message for sign in ("password", "AUTH", "WRONGPASS", "ACCESS_REFUSED"))
        return f"{'wrong password: ' if wrong else ''}{setting} ({self.where}) does not let us in: {message}"
