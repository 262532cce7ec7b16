"""The chart's pods, each as a kubelet would run it: user 10001, no rights, nothing to write on but memory."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.stack.broker import Broker
from api.stack.postgres import Postgres
from core.config import Settings
from core.storage import db
from tests import manifests
from tests.kubernetes import pods, programs
from tests.kubernetes.pods import LOOPBACK, Pod
from tests.patience import wait_until

pytestmark = pytest.mark.kubernetes

PROCESSES = ("router", "clock", "worker-io", "worker-cpu", "api")
KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
ENDED = 128 + signal.SIGTERM
"""Exit code of an API of one process: it ends itself by the signal once it has finished."""

TALK = ("I moved to Lisbon in May.", "My sister Nora works at the harbour.", "I cycle to work on Mondays.")


@pytest.fixture(scope="module")
def postgres(tmp_path_factory) -> Iterator[Postgres]:
    assert os.geteuid() == 0, "needs root, for namespaces"
    server = Postgres(tmp_path_factory.mktemp("postgres"), durable=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def running(postgres, tmp_path_factory) -> Iterator[dict[str, Pod]]:
    """One pod of each process, migrated and ready, and that of `helm test`."""
    folder = tmp_path_factory.mktemp("pods")
    with contextlib.ExitStack() as last:
        broker = Broker(folder, durable=False)
        broker.start()
        last.callback(broker.stop)
        specs = manifests.processes(programs.template("--set", "settings.IMPRINT_EMBEDDING=hash"))
        secrets = secrets_of(postgres.url, broker.url)
        made = {name: pods.pod(name, spec, secrets, folder) for name, spec in specs.items()}
        made["migrate"].run()
        for name in PROCESSES:
            made[name].start()
            last.callback(made[name].kill)
        for name in PROCESSES:
            made[name].started()
        wait_until(lambda: made["api"].answers("readinessProbe") == httpx.codes.OK, every=0.5)
        yield made


def secrets_of(owner: str, broker: str) -> dict[str, str]:
    """The keys of the Secrets that the chart names."""
    settings = Settings(database_url=owner)  # type: ignore[arg-type] - words, as the environment gives them
    roles = {"APP": db.app_url(settings), "ROUTER": db.router_url(settings)}
    urls = {
        f"IMPRINT_DATABASE_{role}_URL": url.set(drivername="postgresql").render_as_string(hide_password=False)
        for role, url in roles.items()
    }
    keys = dict.fromkeys(("IMPRINT_RECEIPT_KEY", "IMPRINT_SECRETS_KEY"), KEY)
    return urls | keys | {"IMPRINT_DATABASE_URL": owner, "IMPRINT_BROKER_URL": broker}


def test_every_probe_is_answered(running):
    for name in PROCESSES:
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert running[name].answers(kind) == httpx.codes.OK, (name, kind)


def test_processes_have_no_rights_and_cannot_write(running):
    for name in PROCESSES:
        status = Path(f"/proc/{running[name].main_process()}/status").read_text()
        assert "NoNewPrivs:\t1\n" in status
        assert "CapBnd:\t0000000000000000\n" in status
        assert "Uid:\t10001\t10001\t10001\t10001\n" in status
    with pytest.raises(AssertionError, match="Read-only file system"):
        running["router"].run("touch", f"{pods.HOME}/file")
    running["router"].run("touch", "/tmp/file")  # noqa: S108 - in its own namespace


def test_the_test_of_helm_passes(running):
    *command, address = running["test"].spec["containers"][0]["command"]
    assert address == "http://imprint-api:8070"
    said = running["test"].run(*command, f"http://{LOOPBACK}:{running['api'].ports['http']}")
    assert '"ready"' in said


def test_a_talk_is_remembered(running):
    """With a key made as the notes of the chart say."""
    api = running["api"]
    key = api.run("imprint", "keys", "create", "--tenant", "acme", "--scopes", "admin,publish,read").split()[-1]
    with httpx.Client(base_url=f"http://{LOOPBACK}:{api.ports['http']}", timeout=30) as client:
        client.headers["authorization"] = f"Bearer {key}"
        said = [{"session_id": "s1", "user_id": "ada", "role": "user", "content": content} for content in TALK]
        events = [{"event_type": "message.added", "payload": payload} for payload in said]
        ended = {"event_type": "session.ended", "payload": {"session_id": "s1", "user_id": "ada"}}
        sent = client.post("/v1/events", json=[{"source": "chat", **event} for event in (*events, ended)])
        assert sent.status_code == httpx.codes.ACCEPTED, sent.text
        asked = {"token": sent.json()["settle_token"], "flush": True, "timeout": 5}
        wait_until(lambda: client.get("/v1/settle", params=asked).json()["settled"])
        memories = client.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
        assert any("Lisbon" in memory["content"] for memory in memories)


def test_nobody_is_restarted_because_the_database_is_away(running, postgres):
    postgres.stop()
    wait_until(lambda: running["api"].answers("readinessProbe") == httpx.codes.SERVICE_UNAVAILABLE, every=0.5)
    for name in PROCESSES:
        assert running[name].answers("livenessProbe") == httpx.codes.OK, name
    postgres.start()
    wait_until(lambda: running["api"].answers("readinessProbe") == httpx.codes.OK, every=0.5)


def test_a_signal_ends_each_within_its_time(running):
    for name in PROCESSES:
        seconds = running[name].terminate()
        print(f"{name}: {seconds:.1f} s of {running[name].grace}, exit {running[name].process.returncode}")
        assert seconds < running[name].grace
        assert running[name].process.returncode in {0, ENDED}, running[name].log.read_text()[-2000:]
