from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from api.stack import process, run_files
from api.stack.broker import Broker
from api.stack.external import External
from api.stack.postgres import OWNER, Postgres
from api.stack.process import wait_released
from core.errors import Misconfigured


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose path is longer than a unix socket's may be."""
    folder = tmp_path_factory.mktemp("stack") / ("a-long-name-" * 10)
    folder.mkdir()
    made = Postgres(folder, durable=False)  # making a data directory that is synced takes its time on a busy disk
    made.start()
    made.stop()
    return folder


@pytest.fixture
def postgres(home: Path) -> Iterator[Postgres]:
    server = Postgres(home)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def broker(home: Path) -> Iterator[Broker]:
    server = Broker(home)
    server.start()
    yield server
    server.stop()


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
        assert not postgres.alive()
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
    script = "import sys, time; from pathlib import Path; from api.stack.servers import Postgres\n"
    script += "Postgres(Path(sys.argv[1])).start(); print('up', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"up\n"
        starter.kill()
    assert wait_released(home, "postgres", 60.0)
    assert "database system is shut down" in process.log_file(home, "postgres").read_text().splitlines()[-1]


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


def test_a_lost_secrets_file_is_not_replaced_by_one_that_cannot_fit(home: Path) -> None:
    secrets = home / "secrets.json"
    right = secrets.read_text()
    secrets.unlink()
    try:
        with pytest.raises(Misconfigured, match="Put the file back"):
            Postgres(home).start()
    finally:
        secrets.write_text(right)


def test_what_is_queued_is_found_again_after_a_restart_of_the_broker(home: Path, broker: Broker) -> None:
    with redis.Redis.from_url(broker.url) as client:
        client.rpush("queue", "task")
    broker.stop()
    again = Broker(home)
    try:
        assert again.start() == broker.url
        with redis.Redis.from_url(again.url) as client:
            assert client.lpop("queue") == b"task"
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert client.config_get("bind") == {"bind": "127.0.0.1"}
    finally:
        again.stop()


def test_a_port_that_someone_took_meanwhile_is_given_up_for_another(home: Path) -> None:
    remembered = run_files.port(home, "broker")
    with socket.create_server(("127.0.0.1", remembered)):
        server = Broker(home)
        try:
            server.start()
            assert server.port != remembered
        finally:
            server.stop()


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


def test_an_own_database_with_a_wrong_password_is_one_clear_line(postgres: Postgres) -> None:
    wrong = f"postgresql://{OWNER}:guess@127.0.0.1:{postgres.port}/imprint"
    with pytest.raises(Misconfigured, match="wrong password: IMPRINT_DATABASE_URL") as caught:
        External("postgres", wrong).start()
    assert "\n" not in caught.value.detail
    assert "guess" not in caught.value.detail
    assert External("postgres", postgres.url).start() == postgres.url


def test_an_own_broker_with_a_wrong_password_is_one_clear_line(broker: Broker) -> None:
    with pytest.raises(Misconfigured, match="wrong password: IMPRINT_BROKER_URL"):
        External("broker", f"redis://:guess@127.0.0.1:{broker.port}/0").start()
    assert External("broker", broker.url).start() == broker.url


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://guest:guest@127.0.0.1:1//"])
def test_an_own_broker_that_is_not_there_is_one_clear_line(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"IMPRINT_BROKER_URL \(127.0.0.1:1"):
        External("broker", url).start()


def test_a_data_directory_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be used as data directory"):
        Postgres(tmp_path / "file").start()
