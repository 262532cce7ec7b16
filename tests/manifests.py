"""Objects of Kubernetes, as files and programs write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

PODS = {"Deployment", "Job", "Pod"}
HELMS_LABELS = ("app.kubernetes.io/managed-by", "helm.sh/chart")


def objects(text: str) -> dict[tuple[str, str], Manifest]:
    """The objects of a stream by kind and name."""
    parsed = [manifest for manifest in yaml.safe_load_all(text) if manifest]
    by_name = {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in parsed}
    assert len(by_name) == len(parsed), "two objects of one name"
    return by_name


def of_folder(folder: Path) -> dict[tuple[str, str], Manifest]:
    """The objects that a kustomization lists."""
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    return objects("\n".join((folder / name).read_text() for name in listed))


def pod(manifest: Manifest) -> Manifest:
    """The spec of the pods that an object makes."""
    return manifest["spec"] if manifest["kind"] == "Pod" else manifest["spec"]["template"]["spec"]


def component(manifest: Manifest) -> str:
    return manifest["metadata"]["labels"]["app.kubernetes.io/component"]


def processes(manifests: Mapping[tuple[str, str], Manifest]) -> dict[str, Manifest]:
    """The specs of pods by component."""
    return {component(manifest): pod(manifest) for (kind, _), manifest in manifests.items() if kind in PODS}


def environment(spec: Manifest) -> dict[str, str | Manifest]:
    """The variables of the one container: a value, or the key of a Secret."""
    (container,) = spec["containers"]
    return {variable["name"]: variable.get("value") or variable["valueFrom"] for variable in container.get("env", [])}


def without_what_helm_adds(value: Any) -> Any:
    """The same without the labels that only Helm sets, and without the namespace, which Helm knows by itself."""
    if isinstance(value, dict):
        left_out = {*HELMS_LABELS, *(["namespace"] if "name" in value and "labels" in value else [])}
        return {key: without_what_helm_adds(item) for key, item in value.items() if key not in left_out}
    return [without_what_helm_adds(item) for item in value] if isinstance(value, list) else value


def probes(spec: Manifest) -> Iterator[tuple[str, str, str | int]]:
    """Kind, path and port of each probe."""
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        for container in spec["containers"]:
            if kind in container:
                get = container[kind]["httpGet"]
                ports = {port["name"]: port["containerPort"] for port in container["ports"]}
                yield kind, get["path"], ports[get["port"]]
