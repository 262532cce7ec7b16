"""The files of a release: built from a commit alone, twice, tried in an empty environment, described and signed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deploy.release import provenance
from deploy.release.failures import ReleaseFailed
from deploy.release.hashes import sha256

CLIENT = "sdk/python"
JS_CLIENT = "sdk/js"
SERVICE_LOCK = "deploy/local.lock"
LOCKS = ("deploy/build.lock", SERVICE_LOCK, "sdk/js/package-lock.json")
"""What pins everything that builds a release or is installed with it."""


@dataclass(frozen=True, slots=True)
class Source:
    """The commit of a release: `time` in seconds since 1970, `tag` None for a snapshot."""

    commit: str
    time: str
    version: str
    tag: str | None


def build(repository: Path, folder: Path, key: Path, *, snapshot: bool) -> None:
    """Fill a new folder with packages, bills of materials, SHA256SUMS and the signed provenance.

    Raises ReleaseFailed: the tree is not clean, the tag is missing, a second build differs, or a package does not work.
    """
    started = datetime.now(UTC)
    source = _source(repository, snapshot=snapshot)
    if folder.exists():
        raise ReleaseFailed(f"{folder} exists. Name a folder that does not.")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        tree, out = _exported(repository, source.commit, scratch / "tree"), scratch / "out"
        out.mkdir()
        locks = {lock: sha256(tree / lock) for lock in LOCKS}
        environment = {**os.environ, "SOURCE_DATE_EPOCH": source.time}
        for project in (tree, tree / CLIENT):
            _build_python(project, out, scratch, environment)
        # npm names the package in its bill of materials after the folder.
        _build_js(Path(shutil.move(tree / JS_CLIENT, scratch / "imprint-client")), out, environment)
        _describe_service(tree, out, source.version, scratch / "service", environment)
        files = {path.name: sha256(path) for path in sorted(out.iterdir())}
        (out / provenance.SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in files.items()))
        provenance.sign(out, files, source, locks, key, started)
        shutil.copytree(out, folder)


def _source(repository: Path, *, snapshot: bool) -> Source:
    version = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["version"]
    commit, time = _run(["git", "show", "--no-patch", "--format=%H %ct", "HEAD"], repository).split()
    if snapshot:
        return Source(commit, time, version, None)
    if changed := _run(["git", "status", "--porcelain"], repository):
        raise ReleaseFailed(f"The tree has changes that no commit holds:\n{changed}Commit or remove them.")
    if f"v{version}" not in _run(["git", "tag", "--points-at", "HEAD"], repository).split():
        raise ReleaseFailed(
            f"This commit has no tag v{version}: `git tag --sign v{version}`, or build with --snapshot."
        )
    return Source(commit, time, version, f"v{version}")


def _exported(repository: Path, commit: str, folder: Path) -> Path:
    archive = folder.with_suffix(".tar")
    _run(["git", "archive", "--output", str(archive), commit], repository)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder


def _build_python(project: Path, folder: Path, scratch: Path, environment: Mapping[str, str]) -> None:
    """Build an sdist and a wheel, and the wheel once more from the sdist: that must give the same bytes."""
    again = Path(tempfile.mkdtemp(dir=scratch))
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory"]
    before = set(folder.iterdir())
    _run([*hatchling, str(folder)], project, environment)
    new = set(folder.iterdir()) - before
    (sdist,) = (path for path in new if path.name.endswith(".tar.gz"))
    (wheel,) = new - {sdist}
    with tarfile.open(sdist) as files:
        files.extractall(again, filter="data")
    (unpacked,) = again.iterdir()
    _run([*hatchling, str(again), "--target", "wheel"], unpacked, environment)
    _require_same(wheel, again / wheel.name)


def _build_js(project: Path, folder: Path, environment: Mapping[str, str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise ReleaseFailed("npm is not installed; the package of the JavaScript client needs it.")
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], project, environment)
    packed = [_packed(npm, project, folder, environment) for _ in range(2)]
    if packed[0] != packed[1]:
        raise ReleaseFailed("Two builds of the JavaScript client differ.")
    bill = [npm, "sbom", "--omit=dev", "--sbom-format=cyclonedx"]
    (folder / "imprint-client-js.cdx.json").write_text(_run(bill, project, environment))


def _packed(npm: str, project: Path, folder: Path, environment: Mapping[str, str]) -> str:
    name = _run([npm, "pack", "--silent", "--pack-destination", str(folder)], project, environment).split()[-1]
    return sha256(folder / name)


def _describe_service(tree: Path, folder: Path, version: str, place: Path, environment: Mapping[str, str]) -> None:
    """Install the service as a user does, by hashes, run the demo, and list what is installed."""
    python = place / "bin/python"
    _run([sys.executable, "-m", "venv", str(place)], tree)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--no-deps", "--require-hashes", "--requirement", str(tree / "deploy/build.lock")], tree)
    locked = ["--no-deps", "--no-build-isolation", "--require-hashes", "--requirement", str(tree / SERVICE_LOCK)]
    _run([*pip, *locked], tree)
    wheel = folder / f"imprint_service-{version}-py3-none-any.whl"
    _run([*pip, "--no-deps", "--no-index", str(wheel)], tree)
    home = {**environment, "IMPRINT_HOME": str(place / "home")}
    demo = _run([str(place / "bin/imprint"), "demo"], place, home)
    if "5 of 5 answers cite" not in demo:
        raise ReleaseFailed(f"The demo of the built package fails:\n{demo}")
    installers = _pinned(tree / "deploy/build.lock") - _pinned(tree / SERVICE_LOCK)
    _run([str(python), "-m", "pip", "uninstall", "--quiet", "--yes", *sorted(installers), "pip"], tree)
    bill = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    output = folder / "imprint-service.cdx.json"
    _run([*bill, "--pyproject", str(tree / "pyproject.toml"), "-o", str(output), str(python)], tree, environment)


def _pinned(lock: Path) -> set[str]:
    return {line.partition("==")[0] for line in lock.read_text().splitlines() if line[:1].isalpha()}


def _require_same(first: Path, second: Path) -> None:
    if sha256(first) != sha256(second):
        raise ReleaseFailed(f"Two builds of {first.name} differ.")


def _run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ReleaseFailed(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout
