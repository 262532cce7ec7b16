"""Podman with a storage of its own, a base image made of Debian's packages, and stand-ins for images of others."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).parents[2]
HERE: Final = ROOT / "tests/containers"
CACHE: Final = ROOT / ".containers"
"""Images stay here between runs; `make clean` removes them."""

PROGRAMS: Final = ("podman", "runc", "debootstrap", "catatonit")
COMPOSE: Final = ROOT / ".venv-containers/bin/podman-compose"
BASE: Final = "localhost/imprint-base:bookworm"
SUITE: Final = "bookworm"
PACKAGES: Final = ("python3", "python3-venv", "python-is-python3", "ca-certificates")
REGISTRY_OPTIONS: Final = ("index-url", "extra-index-url", "cert", "trusted-host", "proxy", "timeout")
"""Options of pip that say how the host reaches its package index."""

SECONDS: Final = 900
"""Limit of a command: the image is built of what comes over the network."""


def lacking() -> list[str]:
    """Return what must be installed before anything here can run; `make containers` installs it."""
    programs = [name for name in PROGRAMS if shutil.which(name) is None]
    return programs + ([] if COMPOSE.exists() else [COMPOSE.name]) + ([] if os.geteuid() == 0 else ["root's rights"])


@dataclass(frozen=True)
class Podman:
    """Podman with its storage and its networks in a folder, apart from all else on this machine."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        settings = {"CONTAINERS_CONF": "containers.conf", "CONTAINERS_STORAGE_CONF": "storage.conf"}
        return {
            **os.environ,
            **{name: str(self.folder / file) for name, file in settings.items()},
            "DISABLE_HC_SYSTEMD": "true",
        }

    def configure(self) -> None:
        """Write the settings. Limits are those that a root without the right to raise limits may give."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "networks").mkdir(exist_ok=True)
        (self.folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/images"\nrunroot = "{self.folder}/run"\n'
        )
        (self.folder / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]\n'
            f'[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "{self.folder}/networks"\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n'
        )

    def __call__(self, *words: str | Path, check: bool = True, **more: object) -> str:
        """Run podman and return what it writes.

        Raises:
            AssertionError: it failed; with its last words.
        """
        return run(["podman", *map(str, words)], self.environment, check=check, **more)

    def succeeds(self, *words: str) -> bool:
        done = subprocess.run(["podman", *words], env=dict(self.environment), capture_output=True, check=False)
        return done.returncode == 0

    def has(self, image: str) -> bool:
        return bool(self("images", "--quiet", image).strip())


def run(command: list[str], environment: Mapping[str, str], *, check: bool = True, **more: object) -> str:
    """Run a command and return its output, with its errors where they do not go elsewhere."""
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "timeout": SECONDS, **more}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, env=dict(environment), text=True, check=False, **options
    )
    assert not check or done.returncode == 0, f"{' '.join(command)}\n{(done.stdout or '')[-4000:]}"
    return str(done.stdout)


def build_base(podman: Podman) -> None:
    """Make the base image: Debian and its Python, as small as `debootstrap` makes it."""
    if podman.has(BASE):
        return
    tree = podman.folder / "base"
    shutil.rmtree(tree, ignore_errors=True)
    packages = f"--include={','.join(PACKAGES)}"
    run(["debootstrap", "--variant=minbase", packages, SUITE, str(tree)], podman.environment)
    for waste in ("var/cache/apt/archives", "var/lib/apt/lists"):
        shutil.rmtree(tree / waste)
    with subprocess.Popen(["tar", "--directory", str(tree), "--create", "."], stdout=subprocess.PIPE) as archive:
        podman("import", "--quiet", "-", BASE, stdin=archive.stdout)
    shutil.rmtree(tree)


def build_stand_in(podman: Podman, name: str, image: str, *programs: Path) -> None:
    """Build what stands in for an image that only a registry has, of the folder of that name and these files."""
    context = podman.folder / "context"
    shutil.rmtree(context, ignore_errors=True)
    shutil.copytree(HERE / name, context)
    for source in programs:
        shutil.copytree(source, context / source.name) if source.is_dir() else shutil.copy(source, context)
    podman("build", "--network", "host", "--quiet", "--build-arg", f"BASE={BASE}", "--tag", image, context)


def wheel(name: str) -> Path:
    """Return the folder into which the packages of this environment are installed."""
    return Path(str(distribution(name).locate_file("")))


def reaching_the_index(podman: Podman) -> Iterator[str]:
    """Yield options of `podman build` that let pip in the build reach the package index as pip of this host does."""
    options = dict(host_options())
    file = podman.folder / "pip.conf"
    file.write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in options.items()))
    yield f"--volume={file}:/etc/pip.conf:ro"
    certificates = options.get("cert")
    if certificates and Path(certificates).is_file():
        yield f"--volume={certificates}:{certificates}:ro"


def host_options() -> Iterator[tuple[str, str]]:
    """Yield the host's own options for pip; those of its environment come last."""
    told = run([sys.executable, "-m", "pip", "config", "list"], os.environ, stderr=subprocess.DEVNULL)
    for line in sorted(told.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2]
        if option in REGISTRY_OPTIONS and not str(value).startswith("'file:"):
            yield option, str(ast.literal_eval(value))


def images() -> Mapping[str, str]:
    """Return the image of each service of the compose file, as it stands there."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return {name: service["image"] for name, service in services.items()}
