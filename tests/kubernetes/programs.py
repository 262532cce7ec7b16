"""Helm, kubectl and the validators of `make kubernetes`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests import manifests
from tests.manifests import Manifest

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/helm/imprint"
BIN = ROOT / ".venv-kubernetes/bin"
NODE = ROOT / ".kubernetes"

MODELS = {
    "HTTPRoute": "gateway-api/gateway.networking.k8s.io/v1",
    "PrometheusRule": "prometheus-operator/monitoring.coreos.com/v1",
    "ScaledObject": "keda/keda.sh/v1alpha1",
    "ServiceMonitor": "prometheus-operator/monitoring.coreos.com/v1",
}
"""Where the model of each kind of custom resource is, in the packages for Node."""

TYPESCRIPT = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext")

HELMS = ("helm-3", "helm-4")
EVERYTHING = (
    *("--values", str(CHART / "values-production.yaml"), "--set", "ingress.enabled=true,ingress.host=m.example.com"),
    *("--set", "gateway.enabled=true,gateway.parentRefs[0].name=public,gateway.hostnames[0]=m.example.com"),
)
"""Options with which the chart makes all that it can make."""


def run(*command: str, given: str | None = None, folder: Path = ROOT) -> str:
    """The standard output; an error with all that was said if it fails."""
    done = subprocess.run(command, input=given, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def refusal(*command: str) -> str:
    """What a command says that must fail."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0, done.stdout
    return done.stderr


def template(*options: str, helm: str = "helm-4", release: str = "imprint") -> dict[tuple[str, str], Manifest]:
    """The objects that Helm makes of the chart."""
    command = (str(BIN / helm), "template", release, str(CHART), "--namespace", "imprint", *options)
    return manifests.objects(run(*command))


def kustomize(overlay: str, kubectl: str = "kubectl-37") -> dict[tuple[str, str], Manifest]:
    """The objects that kubectl makes of an overlay."""
    return manifests.objects(run(str(BIN / kubectl), "kustomize", str(ROOT / "deploy/kustomize/overlays" / overlay)))


def schema_faults(objects: Iterable[Manifest], version: str, folder: Path) -> str:
    """What the strict schemas of a Kubernetes version say of its own objects."""
    files = []
    for number, manifest in enumerate(objects):
        file = folder / f"{version}-{number}.json"
        file.write_text(json.dumps(manifest))
        files.append(str(file))
    command = [str(BIN / "kubernetes-validate"), "--kubernetes-version", version, "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert said.count("passed") + said.count("ERROR") == len(files), said
    return "\n".join(line for line in said.splitlines() if "passed" not in line)


def misspelt_fields(objects: Iterable[Manifest]) -> str:
    """What TypeScript says of custom resources as values of their types; it knows every field, but no pattern."""
    imports = [f'import type {{ I{kind} }} from "@kubernetes-models/{path}/{kind}";' for kind, path in MODELS.items()]
    values = [f"export const o{n}: I{each['kind']} = {json.dumps(each)};" for n, each in enumerate(objects)]
    with tempfile.TemporaryDirectory(dir=NODE) as folder:
        file = Path(folder, "objects.ts")
        file.write_text("\n".join([*imports, *values]))
        command = [str(NODE / "node_modules/.bin/tsc"), *TYPESCRIPT, str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def custom_faults(objects: list[Manifest]) -> list[str]:
    """What the schemas of custom resources say of values, in the order of the objects; empty: nothing."""
    said = run("node", str(NODE / "custom_resources.mjs"), given=json.dumps(objects), folder=NODE)
    return list(json.loads(said))
