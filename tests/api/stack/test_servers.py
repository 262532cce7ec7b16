from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from api.stack.broker import Broker
from api.stack.postgres import OWNER, Postgres
from core.errors import Misconfigured


def test_data_passwords_and_folders_are_closed_to_others(home: Path, postgres: Postgres, broker: Broker) -> None:
    assert (home / "secrets.json").stat().st_mode & 0o777 == 0o600
    for folder in (postgres.data, broker.data, home / "run", home / "log"):
        assert folder.stat().st_mode & 0o077 == 0
    if os.geteuid() == 0:
        assert postgres.data.stat().st_uid != 0
    for password in json.loads((home / "secrets.json").read_text()).values():
        listed = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True)
        assert password not in listed.stdout


def test_nobody_enters_without_the_password(postgres: Postgres, broker: Broker) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgresql://{OWNER}:guess@127.0.0.1:{postgres.port}/imprint")
    with redis.Redis(port=broker.port, retry=Retry(NoBackoff(), 0)) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_a_fresh_stack_for_tests_is_up_quickly(tmp_path: Path) -> None:
    begin = time.monotonic()
    servers = Postgres(tmp_path, durable=False), Broker(tmp_path, durable=False)
    try:
        for server in servers:
            server.start()
        assert time.monotonic() - begin < 30.0
        with psycopg.connect(servers[0].url) as db:
            assert db.execute("SHOW fsync").fetchone() == ("off",)
    finally:
        for server in servers:
            server.stop()


def test_a_data_directory_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be used as data directory"):
        Postgres(tmp_path / "file").start()
