"""What not everyone needs: Prometheus finds each process, RabbitMQ carries the work, an old database is migrated."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.containers import engine
from tests.containers.conftest import IMAGES, running
from tests.containers.engine import ROOT, Podman
from tests.containers.stack import Stack, fresh_settings
from tests.containers.talker import Talker
from tests.patience import wait_until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1800)]

AS_OWNER = ("--username=imprint", "--dbname=imprint")
JOBS = {f"imprint-{name}" for name in ("api", "router", "worker-io", "worker-cpu", "clock")}
OLD = ROOT / "tests/core/storage/revision_0037.sql"
"""A database as an earlier version left it, with rows of two tenants; its vectors are of the model `hash`."""


@pytest.fixture(scope="module")
def stack(podman: Podman) -> Iterator[Stack]:
    """Everything that always runs over RabbitMQ, and Prometheus; Grafana's image only a registry has."""
    for name in ("rabbitmq", "prometheus"):
        engine.build_stand_in(podman, name, IMAGES[name])
    settings = fresh_settings(COMPOSE_PROFILES="rabbitmq,monitoring", IMPRINT_MIRROR_DIR="/var/lib/imprint/mirror")
    password = settings["IMPRINT_BROKER_PASSWORD"]
    settings["IMPRINT_BROKER_URL"] = f"amqp://imprint:{password}@rabbitmq:5672//"
    everything = [name for name in IMAGES if name not in {"grafana", "mailpit"}]
    with running(Stack(podman, "imprint-profiles", settings), *everything) as stack:
        yield stack


def test_rabbitmq_carries_the_work_and_the_other_broker_idles(stack: Stack) -> None:
    stack.wait_until_healthy(["rabbitmq"])
    with closing(Talker(stack)) as talker:
        talker.tell("s1", "I live in Lisbon.")
        assert "Lisbon" in talker.search("Where is the home of Ada?")[0]
    assert "imprint" in stack.inside("rabbitmq", "rabbitmqctl", "--quiet", "list_queues", "name")


def test_the_mirror_is_written_to_its_volume(stack: Stack) -> None:
    file = "/var/lib/imprint/mirror/acme/ada/memory.md"
    wait_until(lambda: "Lisbon" in stack.inside("worker-io", "cat", file, check=False), every=0.5)
    assert "Lisbon" in stack.inside("api", "cat", file), "the erasure of a user takes it away from here"


def test_prometheus_finds_every_process_by_its_name(stack: Stack) -> None:
    stack.wait_until_healthy(["prometheus"])
    address = f"http://127.0.0.1:{stack.settings['IMPRINT_PROMETHEUS_PORT']}/api/v1/query"

    def answering() -> list[str]:
        series = httpx.get(address, params={"query": "up == 1"}).json()["data"]["result"]
        return sorted(row["metric"]["job"] for row in series)

    wait_until(lambda: answering() == sorted(JOBS), every=1)
    stack.compose("up", "--detach", "--no-recreate", "--scale", "worker-cpu=2", "worker-cpu")
    wait_until(lambda: answering() == sorted([*JOBS, "imprint-worker-cpu"]), every=1)


def test_a_dump_is_restored_into_an_empty_server_as_the_manual_says(podman: Podman, stack: Stack) -> None:
    secrets = {name: value for name, value in stack.settings.items() if name.endswith(("_PASSWORD", "_KEY"))}
    empty = Stack(podman, "imprint-new", fresh_settings(**secrets))
    with closing(Talker(stack)) as talker, running(empty, "postgres") as new:
        talker.tell("s2", "I work at Siemens.", user="bob")
        dump = dumped(stack)
        new.wait_until_healthy(["postgres"])
        new.compose("run", "--rm", "migrate")
        with dump.open("rb") as file:
            new.inside("postgres", "pg_restore", *AS_OWNER, "--clean", "--if-exists", stdin=file)
        new.up("api")
        new.wait_until_healthy(["api"])
        talker.http.base_url = new.url
        assert "Siemens" in talker.search("Where does Bob earn money?", user="bob")[0]


def dumped(stack: Stack) -> Path:
    dump = stack.podman.folder / "imprint.dump"
    with dump.open("wb") as file:
        command = ("pg_dump", "--username=imprint", "--format=custom", "imprint")
        stack.inside("postgres", *command, stdout=file, stderr=subprocess.DEVNULL)
    return dump


def test_a_database_of_an_earlier_version_is_migrated_by_the_image(podman: Podman) -> None:
    stack = Stack(podman, "imprint-old", fresh_settings(IMPRINT_EMBEDDING="hash"))
    with running(stack, "postgres"):
        stack.wait_until_healthy(["postgres"])
        ask = ("psql", *AS_OWNER, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
        stack.inside("postgres", *ask, "--command", "CREATE ROLE imprint_app; CREATE ROLE imprint_router")
        copied = f"{stack.container('postgres')}:/tmp/{OLD.name}"
        podman("cp", OLD, copied)
        stack.inside("postgres", *ask, f"--file=/tmp/{OLD.name}")
        stack.up("migrate")
        podman("wait", stack.container("migrate"))
        assert stack.inspected("migrate")["State"]["ExitCode"] == 0, podman("logs", stack.container("migrate"))
        rows = stack.inside("postgres", *ask, "--tuples-only", "--command", "SELECT version_num FROM alembic_version")
        assert rows.strip() == newest()
        rows = stack.inside("postgres", *ask, "--tuples-only", "--command", "SELECT count(*) FROM memories")
        assert rows.strip() == "2"


def newest() -> str:
    versions: Path = ROOT / "core/storage/migrations/versions"
    return max(path.name.partition("_")[0] for path in versions.glob("[0-9]*.py"))
