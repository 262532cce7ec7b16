"""A release of this tree: tagged in a clone, built, verified and uploaded to indexes on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.npm_registry import NpmRegistry, npm_registry
from tests.package.releases import VERSION, Keys, run
from tests.patience import wait_until
from tests.ports import free_port


@pytest.fixture(scope="session")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as it stands, as a tagged commit."""
    folder = tmp_path_factory.mktemp("clone")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=root)
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)
    run("git", "init", "--quiet", folder=folder)
    run("git", "add", "--all", folder=folder)
    author = ["-c", "user.name=Release", "-c", "user.email=release@example.org"]
    run("git", *author, "commit", "--quiet", "--message", "A release", folder=folder)
    run("git", "tag", f"v{VERSION}", folder=folder)
    return folder


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    pair = Keys(folder / "release.pem", folder / "release.pub")
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", pair.private, folder=folder)
    run("openssl", "pkey", "-in", pair.private, "-pubout", "-out", pair.public, folder=folder)
    return pair


@pytest.fixture(scope="session")
def python(root: Path) -> Path:
    """The interpreter with the tools of a release."""
    return root / ".venv-release/bin/python"


@pytest.fixture(scope="session")
def release(clone: Path, keys: Keys, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "files"
    run(python, "-m", "deploy.release", "build", folder, "--key", keys.private, folder=clone)
    return folder


@pytest.fixture(scope="session")
def npm() -> Iterator[NpmRegistry]:
    with npm_registry() as registry:
        yield registry


@pytest.fixture(scope="session")
def index(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty package index."""
    packages, port = tmp_path_factory.mktemp("index"), free_port()
    server = [python, "-m", "pypiserver", "run", "--port", str(port), "--interface", "127.0.0.1"]
    with subprocess.Popen([*server, "--authenticate", ".", "--passwords", ".", packages]) as process:
        wait_until(lambda: _listens(port))
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="session")
def published(release: Path, keys: Keys, python: Path, index: str, npm: NpmRegistry, clone: Path) -> str:
    """The address of the index once all packages are uploaded."""
    rc = clone.parent / "npmrc"
    rc.write_text(f"registry={npm.url}\n//{npm.url.removeprefix('http://')}:_authToken=token\n")
    twine = {"TWINE_REPOSITORY_URL": index, "TWINE_USERNAME": "maintainer", "TWINE_PASSWORD": "none"}
    run(
        python,
        "-m",
        "deploy.release",
        "publish",
        release,
        "--key",
        keys.public,
        folder=clone,
        NPM_CONFIG_USERCONFIG=str(rc),
        **twine,
    )
    return index


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
