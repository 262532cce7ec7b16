"""`imprint doctor`: each check can pass and can fail."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import create_server

import pytest
from sqlalchemy import create_engine, text

from api.stack import host
from core.config import Settings
from core.inference.local_models.catalog import MODELS
from core.maintenance import heartbeat
from core.storage import db
from tests import servers
from tests.commands import Imprint, served
from tests.ports import free_port
from tests.servers import Handler

_BEAT = text("""
    INSERT INTO heartbeats (process, at, version, queue, processes)
    VALUES (:name, now() + interval '1 hour', :version, cast(:queue AS text), CASE WHEN :queue IS NOT NULL THEN 2 END)
""")
"""An hour ahead, so that a slow test does not outlive it."""


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Imprint:
    """On an empty home, with no servers."""
    monkeypatch.setenv("IMPRINT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IMPRINT_HTTP_PORT", str(free_port()))
    monkeypatch.setenv("IMPRINT_EMBEDDING", "hash")
    monkeypatch.setenv("COLUMNS", "200")
    return Imprint(monkeypatch, capsys)


@pytest.fixture
def serving(settings: Settings, doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> Iterator[Imprint]:
    """On the servers of the tests, with every process at work."""
    assert settings.database_url
    assert settings.broker_url
    monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("IMPRINT_BROKER_URL", settings.broker_url.get_secret_value())
    owner = create_engine(db.owner_url(settings))
    with owner.begin() as tx:
        for name in heartbeat.REQUIRED_PROCESSES:
            values = {"name": name, "version": heartbeat.VERSION, "queue": name.partition("worker-")[2] or None}
            tx.execute(_BEAT, values)
    yield doctor
    owner.dispose()


def states(doctor: Imprint) -> dict[str, str]:
    return {check["name"]: check["state"] for check in doctor("doctor", "--json").json["checks"]}


@pytest.fixture
def answering(serving: Imprint, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Imprint]:
    """With an API that answers, too."""
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        yield serving


@contextmanager
def endpoint(status: int) -> Iterator[str]:
    """A model's endpoint that answers every request so."""

    class Answering(Handler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

    with servers.serving(Answering) as url:
        yield f"{url}/v1"


def said(doctor: Imprint) -> dict[str, str]:
    return {check["name"]: check["detail"] for check in doctor("doctor", "--json").json["checks"]}


def test_where_nothing_runs_it_fails_and_says_the_way_out(doctor: Imprint) -> None:
    answer = doctor("doctor")
    assert answer.code == 1
    assert "Start it with `imprint up`" in answer.out
    assert states(doctor) == {
        **dict.fromkeys(
            ["settings", "python", "postgresql", "valkey", "model", "extractor", "disk", "files", "passwords"], "ok"
        ),
        **dict.fromkeys(["receipts", "port"], "ok"),
        "stack": "fail",
    }


def test_an_installation_that_is_well_is_well_in_all_of_it(answering: Imprint) -> None:
    answer = answering("doctor", "--json")
    assert (answer.code, answer.json["well"]) == (0, True), answer.out
    found = said(answering)
    assert found["key"] == "let in to the tenant acme, scopes admin"
    assert "ready at http://127.0.0.1:" in found["api"]


def test_an_api_that_does_not_answer_is_a_failure(answering: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_URL", f"http://127.0.0.1:{free_port()}")
    assert states(answering)["api"] == "fail"
    assert "No answer from" in said(answering)["api"]


def test_a_key_that_is_refused_is_a_failure(answering: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_API_KEY", "imp.acme.nobodys.key")
    assert states(answering)["key"] == "fail"


def test_a_wrong_setting_is_a_failure_and_not_a_traceback(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_CATCH_UP", "sometimes")
    answer = doctor("doctor")
    assert answer.code == 1
    assert "IMPRINT_CATCH_UP in the environment is 'sometimes'" in answer.out
    assert states(doctor)["settings"] == "fail"


@pytest.mark.parametrize(("setting", "check"), [("EXTRACTOR", "extractor"), ("EMBEDDING", "model")])
def test_an_extractor_or_embedder_that_nobody_brings_is_a_failure(
    doctor: Imprint, monkeypatch: pytest.MonkeyPatch, setting: str, check: str
) -> None:
    monkeypatch.setenv(f"IMPRINT_{setting}", "foo")
    found = states(doctor)
    assert (found[check], found["settings"]) == ("fail", "fail")


def test_a_misspelt_setting_is_a_warning(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_LLM_BASEURL", "http://localhost")
    assert states(doctor)["settings"] == "warn"
    assert "did you mean IMPRINT_LLM_BASE_URL?" in said(doctor)["settings"]


def test_the_endpoint_of_the_model_is_asked(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_LLM_API_KEY", "hush")
    for status, state in ((200, "ok"), (404, "ok"), (401, "fail"), (503, "fail")):
        with endpoint(status) as url:
            monkeypatch.setenv("IMPRINT_LLM_BASE_URL", url)
            assert states(doctor)["llm"] == state
            assert "hush" not in doctor("doctor").out
    assert "does not answer" in said(doctor)["llm"]


def test_a_wrong_key_of_receipts_is_a_failure(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_RECEIPT_KEY", "hush")
    assert states(doctor)["receipts"] == "fail"
    assert "hush" not in doctor("doctor").out


def test_the_local_model_is_checked_by_its_sha256(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_EMBEDDING", "local")
    assert "sha256 as published" in doctor("doctor").out
    spoilt = replace(MODELS["local"], files={"model.safetensors": "0" * 64})
    monkeypatch.setattr("api.cli.commands.host.checks.models.MODELS", {"local": spoilt})
    monkeypatch.setattr("core.inference.local_embedder.MODELS", {"local": spoilt})
    said = doctor("doctor")
    assert said.code == 1
    assert "imprint model install" in said.out


def test_servers_and_processes_that_are_well_are_ok(serving: Imprint) -> None:
    found = states(serving)
    assert {found[name] for name in ("database", "migration", "tenancy", "vectors", "processes", "broker")} == {"ok"}


def test_a_missing_process_is_named(serving: Imprint, settings: Settings) -> None:
    owner = create_engine(db.owner_url(settings))
    with owner.begin() as tx:
        tx.execute(text("DELETE FROM heartbeats WHERE process = 'clock'"))
    owner.dispose()
    said = serving("doctor")
    assert said.code == 1
    assert "not at work: clock" in said.out


def test_vectors_of_another_model_are_a_failure(serving: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_EMBEDDING", "local")
    assert states(serving)["vectors"] == "fail"


def test_a_role_that_owns_the_tables_is_a_failure(
    serving: Imprint, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = db.owner_url(settings).render_as_string(hide_password=False)
    monkeypatch.setenv("IMPRINT_DATABASE_APP_URL", owner)
    assert states(serving)["tenancy"] == "fail"


def test_servers_that_do_not_answer_are_failures_without_their_passwords(
    serving: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("IMPRINT_DATABASE_URL", f"postgresql://me:hush@127.0.0.1:{port}/x")
    monkeypatch.setenv("IMPRINT_BROKER_URL", f"redis://:hush@127.0.0.1:{port}/0")
    found = states(serving)
    assert (found["database"], found["broker"]) == ("fail", "fail")
    assert "migration" not in found
    assert "hush" not in serving("doctor").out


def test_a_taken_port_is_a_warning(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("IMPRINT_HTTP_PORT", str(taken.getsockname()[1]))
        assert states(doctor)["port"] == "warn"


def test_a_full_disk_is_a_failure(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "FREE_DISK_BYTES", 1 << 60)
    assert states(doctor)["disk"] == "fail"


def test_a_home_that_cannot_be_written_is_a_failure_only_where_something_is_kept_in_it(
    doctor: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container of the compose file nothing is: it knows the role of the application alone."""
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setenv("IMPRINT_DATABASE_APP_URL", f"postgresql://imprint_app:x@127.0.0.1:{free_port()}/imprint")
    monkeypatch.setenv("IMPRINT_BROKER_URL", f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setenv("IMPRINT_RECEIPT_KEY", base64.b64encode(bytes(32)).decode())
    assert (states(doctor)["postgresql"], states(doctor)["disk"]) == ("ok", "fail")
    monkeypatch.setenv("IMPRINT_SECRETS_KEY", base64.b64encode(bytes(32)).decode())
    assert states(doctor)["disk"] == "ok"


def test_a_wheel_that_is_not_installed_is_a_failure(doctor: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    said = doctor("doctor")
    assert said.code == 1
    assert "imprint-service[local]" in said.out
