"""The database driver's connection."""

from __future__ import annotations

from typing import Any

import psycopg
from sqlalchemy import Engine, event

from core.baton import REQUESTS


class Connection(psycopg.Connection[Any]):
    """A connection whose thread passes on the baton of requests while it waits for the server."""

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        """Wait for the server's answer."""
        with REQUESTS.passed_on():
            return super().wait(*args, **kwargs)


def use(engine: Engine) -> None:
    """Let a pool open such connections."""

    def connect(_dialect: object, _record: object, args: Any, kwargs: Any) -> Connection:
        return Connection.connect(*args, **kwargs)

    event.listen(engine, "do_connect", connect)
