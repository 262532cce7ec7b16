from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from api.stack import process
from api.stack.postgres import OWNER, Postgres
from api.stack.process import wait_released
from core.errors import Misconfigured
from tests.patience import wait_until


def test_what_was_written_is_found_on_the_second_start_at_the_same_address(home: Path) -> None:
    first = Postgres(home)
    url = first.start()
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE kept AS SELECT 'still here' AS words")
    first.stop()
    second = Postgres(home)
    try:
        assert second.start() == url
        with psycopg.connect(url) as db:
            assert db.execute("SELECT words FROM kept").fetchone() == ("still here",)
    finally:
        second.stop()


def test_the_owner_may_use_vectors_and_create_roles_and_is_bound_by_row_security(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        assert db.execute("SELECT '[3,4]'::vector <-> '[0,0]'").fetchone() == (5.0,)
        db.execute("CREATE ROLE some_app LOGIN")
        db.execute("GRANT some_app TO CURRENT_USER")
        db.execute("DROP ROLE some_app")
        db.execute("CREATE TABLE closed AS SELECT 1")
        db.execute("ALTER TABLE closed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        assert db.execute("SELECT count(*) FROM closed").fetchone() == (0,)
        mine = db.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
        assert mine == (False, False)
        db.rollback()


def test_a_database_made_later_has_vectors_too(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("CREATE DATABASE later")
    with psycopg.connect(postgres.url.removesuffix("imprint") + "later") as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        assert db.execute("SELECT '[1]'::vector::text").fetchone() == ("[1]",)
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("DROP DATABASE later")


def test_committed_rows_survive_a_kill_9_of_postgres(home: Path, postgres: Postgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("CREATE TABLE survivors AS SELECT generate_series(1, 1000) AS n")
        assert postgres.pid
        os.kill(postgres.pid, signal.SIGKILL)
        assert wait_released(home, "postgres", 60.0)
        wait_until(lambda: not postgres.alive())  # A process lets go of its lock a moment before it has ended.
        assert postgres.exit() == "SIGKILL"
    url = postgres.start()
    with psycopg.connect(url) as db:
        assert db.execute("SELECT count(*) FROM survivors").fetchone() == (1000,)
        db.execute("DROP TABLE survivors")


def test_a_postgres_that_an_earlier_run_left_alive_is_ended_and_replaced(home: Path, postgres: Postgres) -> None:
    left_over = postgres.pid
    successor = Postgres(home)
    try:
        successor.start()
        assert successor.pid != left_over
        assert not postgres.alive()
    finally:
        successor.stop()


def test_a_postmaster_pid_that_now_belongs_to_a_stranger_does_not_stop_the_start(home: Path) -> None:
    server = Postgres(home)
    owner = server.data.stat()
    sleep = ["sleep", "60"]
    user = owner.st_uid if os.geteuid() == 0 else None  # PostgreSQL fears only processes of its own user
    with subprocess.Popen(sleep, start_new_session=True, user=user) as stranger:
        stale = server.data / "postmaster.pid"
        stale.write_text(f"{stranger.pid}\n{server.data}\n1\n5432\n\n127.0.0.1\n0 0\nready\n")
        os.chown(stale, owner.st_uid, owner.st_gid)
        try:
            server.start()
            assert stranger.poll() is None
        finally:
            server.stop()
            stranger.kill()


def test_postgres_ends_by_itself_when_its_starter_is_killed(home: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent died")
    script = "import sys, time; from pathlib import Path; from api.stack.postgres import Postgres\n"
    script += "Postgres(Path(sys.argv[1])).start(); print('up', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"up\n"
        starter.kill()
    assert wait_released(home, "postgres", 60.0)
    assert "database system is shut down" in process.log_file(home, "postgres").read_text().splitlines()[-1]


@pytest.mark.parametrize("role", ["postgres", OWNER])
def test_secrets_that_do_not_fit_the_data_are_one_clear_line(home: Path, role: str) -> None:
    secrets = home / "secrets.json"
    right = secrets.read_text()
    secrets.write_text(json.dumps({**json.loads(right), role: "wrong"}))
    server = Postgres(home)
    try:
        with pytest.raises(Misconfigured, match=r"wrong password: .*secrets.json does not open the data") as caught:
            server.start()
        assert "\n" not in caught.value.detail
        assert not server.alive()
    finally:
        server.stop()
        secrets.write_text(right)
