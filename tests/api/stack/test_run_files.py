from __future__ import annotations

import socket
from pathlib import Path

import pytest

from api.stack import run_files
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from core.errors import Misconfigured


def test_a_lost_secrets_file_is_not_replaced_by_one_that_cannot_fit(home: Path) -> None:
    secrets = home / "secrets.json"
    right = secrets.read_text()
    secrets.unlink()
    try:
        with pytest.raises(Misconfigured, match="Put the file back"):
            Postgres(home).start()
    finally:
        secrets.write_text(right)


def test_a_port_that_someone_took_meanwhile_is_given_up_for_another(home: Path) -> None:
    remembered = run_files.port(home, "broker")
    with socket.create_server(("127.0.0.1", remembered)):
        server = Broker(home)
        try:
            server.start()
            assert server.port != remembered
        finally:
            server.stop()
