"""Pods without a cluster: their commands, environments and rights, in namespaces as a kubelet sets them up."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests import manifests
from tests.kubernetes.programs import ROOT
from tests.manifests import Manifest
from tests.patience import wait_until
from tests.ports import free_port

HOME = "/run/pod/home"
LOOPBACK = "127.0.0.1"
PORTS = {"http": "IMPRINT_HTTP_PORT", "metrics": "IMPRINT_METRICS_PORT"}

NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-euc")
WITHOUT_RIGHTS = (
    "setpriv --reuid={user} --regid={group} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all"
)


@dataclass
class Pod:
    """One pod: where it listens, and how long it may take to end."""

    name: str
    spec: Manifest
    environment: Mapping[str, str]
    log: Path
    ports: Mapping[str, int]
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Run the pod's command."""
        (container,) = self.spec["containers"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._confined(container["command"]),
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def run(self, *command: str) -> str:
        """Run the pod's command to its end, or another beside it, as `kubectl exec` would; return what it wrote."""
        (container,) = self.spec["containers"]
        confined, environment = self._confined(command or container["command"]), dict(self.environment)
        done = subprocess.run(confined, env=environment, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _confined(self, command: Sequence[str]) -> list[str]:
        return [*NAMESPACES, script(self.spec), "pause", *command]

    def answers(self, kind: str) -> int:
        """The status with which a probe is answered; 0: none in its time."""
        (container,) = self.spec["containers"]
        probe = container[kind]
        url = f"http://{LOOPBACK}:{self.ports[probe['httpGet']['port']]}{probe['httpGet']['path']}"
        try:
            return httpx.get(url, timeout=probe.get("timeoutSeconds", 1)).status_code
        except httpx.TransportError:
            return 0

    def started(self) -> None:
        """Wait for the startup probe; a busy machine may take longer than a cluster would allow."""
        wait_until(self._has_started, every=0.2)

    def _has_started(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return self.answers("startupProbe") == httpx.codes.OK

    def main_process(self) -> int:
        """The id of the container's process, as the host sees it: the child of what stands for `pause`."""
        (pause,) = children(self.process.pid)
        (main, *_) = children(pause)
        return main

    def terminate(self) -> float:
        """End it as a kubelet does, after preStop; return the seconds that it took."""
        began = time.monotonic()
        os.kill(self.main_process(), signal.SIGTERM)
        self.process.wait(600)
        return time.monotonic() - began

    @property
    def grace(self) -> int:
        """Seconds from the signal to the kill: preStop has taken its own."""
        (container,) = self.spec["containers"]
        before = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        return int(self.spec["terminationGracePeriodSeconds"]) - int(before)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def pod(name: str, spec: Manifest, secrets: Mapping[str, str], folder: Path) -> Pod:
    """A pod of these objects, on free ports of the loopback."""
    ports = {port: free_port() for port in PORTS}
    told = {
        variable: value if isinstance(value, str) else secrets[value["secretKeyRef"]["key"]]
        for variable, value in manifests.environment(spec).items()
    }
    listens = {variable: str(ports[port]) for port, variable in PORTS.items()}
    hosts = dict.fromkeys(("IMPRINT_HTTP_HOST", "IMPRINT_METRICS_HOST"), LOOPBACK)
    programs = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "IMPRINT_HOME": HOME}
    return Pod(name, spec, image_environment() | told | listens | hosts | programs, folder / f"{name}.log", ports)


def image_environment() -> dict[str, str]:
    """What the image sets."""
    _, last = re.split(r"^FROM .* AS build$", (ROOT / "deploy/Dockerfile").read_text(), flags=re.MULTILINE)
    (block,) = re.findall(r"^ENV (PATH=(?:.*\\\n)*.*)$", last, re.MULTILINE)
    return dict(word.split("=", 1) for word in shlex.split(block.replace("\\\n", " ")))


def script(spec: Manifest) -> str:
    """Shell that sets up the mounts, becomes the user without rights, and stands for `pause`: it adopts orphans."""
    rights, (container,) = spec["securityContext"], spec["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    sizes = {volume["name"]: volume["emptyDir"]["sizeLimit"] for volume in spec["volumes"]}
    owned = f"uid={rights['runAsUser']},gid={rights['fsGroup']}"
    writable = []
    for mount in container["volumeMounts"]:
        size, path = sizes[mount["name"]].removesuffix("i"), mount["mountPath"]
        writable.append(f"mkdir -p {path}; mount -t tmpfs -o mode=1777,size={size} tmpfs {path}")
    become = WITHOUT_RIGHTS.format(user=rights["runAsUser"], group=rights["runAsGroup"])
    return "\n".join([
        "mount -t tmpfs tmpfs /run; mkdir -p /run/pod/home /run/pod/kept",
        *passable([ROOT, Path(sys.base_prefix), *(Path(entry) for entry in sys.path if entry)]),
        f"mount -t tmpfs -o {owned},ro tmpfs {HOME}",
        *writable,
        "mount -o remount,bind,ro /run; mount -o remount,bind,ro /",
        f"cd {HOME}",
        f'{become} "$@" &',
        "wait $!",
    ])  # fmt: skip


def passable(paths: Iterable[Path]) -> list[str]:
    """Commands that show folders to everybody, also those below a folder that is closed to others."""
    closed: dict[Path, Path] = {}
    for path in {path.resolve() for path in paths if path.is_dir()}:
        for folder in (*reversed(path.parents), path):
            if not folder.stat().st_mode & 0o001:
                closed[path] = folder
                break
    keep = [f"mkdir /run/pod/kept/{n}; mount --bind {path} /run/pod/kept/{n}" for n, path in enumerate(closed)]
    cover = [f"mount -t tmpfs -o mode=755 tmpfs {folder}" for folder in sorted(set(closed.values()))]
    show = [f"mkdir -p {path}; mount --bind /run/pod/kept/{n} {path}" for n, path in enumerate(closed)]
    return [*keep, *cover, *show]
