"""What is deployed to Kubernetes is what the compose file runs: settings, secrets, networks, rights and limits."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import kubernetes
from core.config import Settings
from tests import manifests, queries
from tests.manifests import Manifest

PROCESSES = ("api", "router", "worker-io", "worker-cpu", "clock")
ALL = (*PROCESSES, "migrate")
STALE = "is out of date: run `make manifests`"


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def base(root: Path) -> dict[tuple[str, str], Manifest]:
    return manifests.of_folder(root / "deploy/kustomize/base")


@pytest.fixture(scope="module")
def pods(base) -> dict[str, Manifest]:
    return manifests.processes(base)


@pytest.fixture(scope="module")
def production(root: Path) -> dict[tuple[str, str], Manifest]:
    components = root / "deploy/kustomize/components"
    return {
        name: manifest
        for folder in ("autoscaling", "monitoring")
        for name, manifest in manifests.of_folder(components / folder).items()
    }


def common(compose: dict[str, Any]) -> set[str]:
    """The settings that reach every container."""
    return set(compose["x-settings"])


def labelled(base: dict[tuple[str, str], Manifest], policy: str) -> set[str]:
    """The components that a network policy selects."""
    (expression,) = base["NetworkPolicy", policy]["spec"]["podSelector"]["matchExpressions"]
    assert expression["operator"] == "In"
    return set(expression["values"])


def test_the_schema_of_values_has_every_setting_of_this_version(root):
    assert (root / "deploy/helm/imprint/values.schema.json").read_text() == kubernetes.schema(), STALE


def test_the_table_of_values_is_that_of_the_schema(root):
    assert (root / "docs/kubernetes-values.md").read_text() == kubernetes.page(), STALE


def test_the_base_was_rendered_from_this_chart(root):
    """`make kubernetes` renders it again with Helm and compares the texts; this needs no Helm."""
    base = (root / "deploy/kustomize/base/kustomization.yaml").read_text()
    assert f"# Chart: {kubernetes.fingerprint()}\n" in base, STALE


def test_chart_image_and_project_have_one_version(root):
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    chart = yaml.safe_load((root / "deploy/helm/imprint/Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (version, version)
    for overlay in ("small", "production"):
        image = yaml.safe_load((root / f"deploy/kustomize/overlays/{overlay}/kustomization.yaml").read_text())["images"]
        assert [entry["newTag"] for entry in image] == [version]


@pytest.mark.parametrize("name", ALL)
def test_each_process_gets_what_its_container_gets(compose, pods, name):
    """But for settings that have their default. Helm is asked for all of them by `make kubernetes`."""
    assert set(manifests.environment(pods[name])) - common(compose) == (
        set(compose["services"][name]["environment"]) - common(compose)
    )
    assert pods[name]["containers"][0]["command"] == compose["services"][name]["command"]
    image = compose["services"][name]["image"].replace("${IMPRINT_IMAGE_TAG:-0.1.0}", "0.1.0")
    assert pods[name]["containers"][0]["image"] == image


def test_values_accept_what_the_compose_file_hands_through(compose, root):
    values = json.loads((root / "deploy/helm/imprint/values.schema.json").read_text())["properties"]
    settings, secrets = set(values["settings"]["properties"]), set(values["secrets"]["properties"])
    assert not settings & secrets
    assert settings | secrets == common(compose) | set(kubernetes.REQUIRED)
    assert secrets >= {f"IMPRINT_{name.upper()}" for name, field in Settings.model_fields.items()
                       if kubernetes.is_secret(field)} - {"IMPRINT_API_KEY"}  # fmt: skip


def test_secrets_are_keys_of_secrets_and_the_owners_is_one_apart(base, pods):
    assert not [name for kind, name in base if kind == "Secret"]
    holders: dict[str, set[str]] = {}
    for spec in pods.values():
        for variable, value in manifests.environment(spec).items():
            if isinstance(value, dict):
                holders.setdefault(variable, set()).add(value["secretKeyRef"]["name"])
            else:
                assert not kubernetes.is_secret(Settings.model_fields[variable.removeprefix("IMPRINT_").lower()]) if (
                    variable.startswith("IMPRINT_")
                ) else variable == "PROMETHEUS_MULTIPROC_DIR"  # fmt: skip
    assert holders == {name: {"imprint"} for name in kubernetes.REQUIRED} | {"IMPRINT_DATABASE_URL": {"imprint-owner"}}


def test_the_manual_creates_the_secrets_that_pods_name(root, pods):
    page = (root / "docs/kubernetes.md").read_text()
    created = {
        (name, key)
        for name, literals in re.findall(r"create secret generic (\S+) \\\n((?:  --from-literal=.*\n)+)", page)
        for key in re.findall(r"--from-literal=(\w+)=", literals)
    }
    values = [value for spec in pods.values() for value in manifests.environment(spec).values()]
    named = [value["secretKeyRef"] for value in values if isinstance(value, dict)]
    assert created == {(reference["name"], reference["key"]) for reference in named}


def test_only_the_migration_knows_the_owner(pods):
    assert {name for name, spec in pods.items() if "imprint-owner" in json.dumps(spec)} == {"migrate"}


@pytest.mark.parametrize("name", ALL)
def test_pods_meet_the_restricted_standard(pods, name):
    """The rules of the Pod Security Standards, level `restricted`, and more: nothing can be written, nothing asked."""
    spec, (container,) = pods[name], pods[name]["containers"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False, "a Service named imprint would set IMPRINT_PORT, which is no setting"
    assert all("emptyDir" in volume for volume in spec["volumes"])


def test_the_user_is_that_of_the_image(root, pods):
    (user,) = re.findall(r"^USER (\d+)$", (root / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert {spec["securityContext"]["runAsUser"] for spec in pods.values()} == {int(user)}


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_goes_to_memory_of_the_same_size(compose, pods, name):
    mounts = {mount["mountPath"]: mount["name"] for mount in pods[name]["containers"][0]["volumeMounts"]}
    volumes = {volume["name"]: volume["emptyDir"] for volume in pods[name]["volumes"]}
    sizes = {path: volumes[volume] for path, volume in mounts.items()}
    expected = {}
    for mount in compose["services"][name]["tmpfs"]:
        path, options = mount.split(":")
        (size,) = re.findall(r"size=(\d+)m", options)
        expected[path] = {"medium": "Memory", "sizeLimit": f"{size}Mi"}
    assert sizes == expected


@pytest.mark.parametrize("name", ALL)
def test_orphans_are_adopted_and_the_same_time_is_given_to_end(compose, pods, name):
    assert pods[name]["shareProcessNamespace"] is compose["services"][name]["init"]
    if name == "migrate":
        return
    grace = int(compose["services"][name]["stop_grace_period"].removesuffix("s"))
    before = pods[name]["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pods[name]["terminationGracePeriodSeconds"] == grace + before


@pytest.mark.parametrize("name", ALL)
def test_resources_are_bounded(pods, name):
    resources = pods[name]["containers"][0]["resources"]
    assert resources["limits"].keys() == resources["requests"].keys() == {"cpu", "memory"}


@pytest.mark.parametrize("name", PROCESSES)
def test_nothing_but_readiness_asks_the_database(pods, name):
    paths = {kind: (path, port) for kind, path, port in manifests.probes(pods[name])}
    port, metrics = Settings.model_fields["http_port"].default, Settings.model_fields["metrics_port"].default
    alive = ("/healthz", port) if name == "api" else ("/metrics", metrics)
    assert paths["startupProbe"] == paths["livenessProbe"] == alive
    assert paths["readinessProbe"] == (("/readyz", port) if name == "api" else alive)


def test_the_network_of_each_process_is_that_of_the_compose_file(compose, base):
    joined = {name: set(compose["services"][name]["networks"]) for name in ALL}
    assert labelled(base, "imprint-servers") == {name for name in ALL if "service" in joined[name]} == set(ALL)
    assert labelled(base, "imprint-outside") == {name for name in ALL if "outside" in joined[name]}
    assert labelled(base, "imprint-metrics") == {name for name in ALL if "watched" in joined[name]}


def test_all_else_is_denied(base):
    policies = {name: manifest["spec"] for (kind, name), manifest in base.items() if kind == "NetworkPolicy"}
    deny = policies.pop("imprint-deny")
    assert deny["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & deny.keys()
    assert all(
        deny["podSelector"]["matchLabels"].items() <= spec["podSelector"]["matchLabels"].items()
        for spec in policies.values()
    ), "it selects every pod that another policy selects"
    opened = [rule for spec in policies.values() for rule in (*spec.get("ingress", []), *spec.get("egress", []))]
    assert all(rule["ports"] for rule in opened)
    assert {name for name, spec in policies.items() if "Ingress" in spec["policyTypes"]} == {
        "imprint-clients",
        "imprint-metrics",
    }


def test_no_private_network_is_outside(base):
    (rule,) = base["NetworkPolicy", "imprint-outside"]["spec"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [443]
    excepted = {network for peer in rule["to"] for network in peer["ipBlock"]["except"]}
    assert excepted >= {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"}


def test_processes_are_spread_replaced_without_a_gap_and_drained_one_by_one(base):
    for name in PROCESSES:
        spec = base["Deployment", f"imprint-{name}"]["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        spread = spec["template"]["spec"]["topologySpreadConstraints"]
        assert {part["topologyKey"] for part in spread} == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
        selector = spec["selector"]
        assert selector["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
        assert all(part["labelSelector"] == selector for part in spread)
        budget = base["PodDisruptionBudget", f"imprint-{name}"]["spec"]
        assert budget == {"maxUnavailable": 1, "selector": selector}
        assert base["Service", f"imprint-{name}"]["spec"]["selector"] == selector["matchLabels"]


def test_alerts_are_those_of_prometheus(root, production):
    alerts = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text())
    assert production["PrometheusRule", "imprint"]["spec"] == alerts


def test_processes_are_scraped_under_the_names_that_alerts_ask_for(root, base, production):
    (endpoint,) = production["ServiceMonitor", "imprint"]["spec"]["endpoints"]
    (relabeling,) = endpoint["relabelings"]
    assert relabeling["sourceLabels"] == ["__meta_kubernetes_service_label_app_kubernetes_io_component"]
    selected = production["ServiceMonitor", "imprint"]["spec"]["selector"]["matchLabels"]
    services = [manifest for (kind, _), manifest in base.items() if kind == "Service"]
    assert all(selected.items() <= service["metadata"]["labels"].items() for service in services)
    assert all("metrics" in {port["name"] for port in service["spec"]["ports"]} for service in services)
    jobs = {relabeling["replacement"].replace("$1", manifests.component(service)) for service in services}
    config = yaml.safe_load((root / "deploy/prometheus/prometheus.yml").read_text())
    assert jobs == {job["job_name"] for job in config["scrape_configs"]}


def test_workers_scale_by_a_metric_that_is_declared(production):
    scaled = {name: manifest["spec"] for (kind, name), manifest in production.items() if kind == "ScaledObject"}
    assert set(scaled) == {"imprint-worker-io", "imprint-worker-cpu"}
    for name, spec in scaled.items():
        (trigger,) = spec["triggers"]
        (selector,) = queries.selectors(trigger["metadata"]["query"])
        labels = {matcher.name: matcher.value for matcher in selector.matchers.matchers}
        assert set(labels) - {"namespace"} <= queries.declared()[selector.name]
        assert name == f"imprint-worker-{labels['queue']}"
        assert spec["scaleTargetRef"] == {"name": name}
        assert spec["minReplicaCount"] >= 1, "without a worker of each kind the API is not ready"
