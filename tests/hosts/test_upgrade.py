"""An installation with the previous schema is upgraded under a stream of events, with both versions side by side."""

from __future__ import annotations

import subprocess
import time
import tomllib
from pathlib import Path

import pytest

from core.storage import schema_version
from core.storage.schema_version import MIGRATIONS
from tests.hosts import network
from tests.hosts.cluster import HOSTS, PROCESSES, cluster, upgrade
from tests.hosts.stream import Stream, figure

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(not network.POSSIBLE, reason="needs root, iproute2 and nftables (`make hosts` installs them)"),
    pytest.mark.timeout(900),
]

MIXED_SECONDS = 60
FIRST = ("api1", "worker1", "control1")
"""Hosts that get the new version first; the other three keep the old one for a while."""


def test_an_upgrade_under_load_costs_nothing(root: Path, tmp_path: Path) -> None:
    before = tree_before_the_newest_migration(root, tmp_path)
    newest = max(schema_version.migrations())
    with network.network(*HOSTS) as hosts, cluster(hosts, before) as running:
        ((version,),) = running.select("SELECT version_num FROM alembic_version")
        assert version < newest
        with Stream(running, "upgrade") as stream:
            time.sleep(10)
            began = time.monotonic()
            upgrade(running.settings, running.environment, root)
            figure("until the database is migrated, beside the old version", time.monotonic() - began)
            assert running.select("SELECT version_num FROM alembic_version") == [(newest,)]
            time.sleep(5)
            running.code = root
            for host in FIRST:
                running.restart(host)
            time.sleep(MIXED_SECONDS)
            for host in PROCESSES:
                if host not in FIRST:
                    running.restart(host)
            time.sleep(10)
            stream.stop()
            figure("after the last restart, until all is done", stream.settle())
            figure("longest from event to effect during the upgrade", stream.longest_wait())
        assert stream.told > 10
        stream.assert_each_once()


def tree_before_the_newest_migration(root: Path, folder: Path) -> Path:
    """Unpack the last commit that did not have the newest migration yet."""
    newest = max((MIGRATIONS / "versions").glob("[0-9]*.py"))
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", str(newest)).split()
    if not added or subprocess.run(["git", "cat-file", "-e", f"{added[-1]}^"], cwd=root, check=False).returncode:
        pytest.skip("the history of this checkout does not reach to the version before")
    tree = folder / "before"
    tree.mkdir()
    with subprocess.Popen(["git", "archive", f"{added[-1]}^"], cwd=root, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "--extract", "--directory", str(tree)], stdin=archive.stdout, check=True)
    assert not (tree / newest.relative_to(root)).exists()
    _install(tree)
    return tree


def _install(tree: Path) -> None:
    """Write what tells processes of this tree which version they are; what is installed may have another name."""
    project = tomllib.loads((tree / "pyproject.toml").read_text())["project"]
    installed = tree / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    described = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (installed / "METADATA").write_text(described)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout
