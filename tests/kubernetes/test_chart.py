"""Chart and manifests under Helm, kubectl, the schemas of two versions of Kubernetes, and a policy check."""

from __future__ import annotations

import copy
import json
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import kubernetes
from tests import manifests
from tests.kubernetes import programs
from tests.kubernetes.programs import BIN, CHART, EVERYTHING, HELMS, ROOT
from tests.manifests import Manifest

pytestmark = pytest.mark.kubernetes

VERSIONS = ("1.34.0", "1.37.0")
CUSTOM = set(programs.MODELS)

ACCEPTED = {
    ("CKV_K8S_35", "Deployment"): "settings are read from the environment, not from files",
    ("CKV_K8S_35", "Job"): "the same",
    ("CKV_K8S_8", "Pod"): "that of helm test ends by itself",
    ("CKV_K8S_9", "Pod"): "that of helm test is asked by nobody",
}
"""Checks of the policy that fail, by kind of object, with the reason."""


@pytest.fixture(scope="module")
def everything() -> dict[tuple[str, str], Manifest]:
    return programs.template(*EVERYTHING)


@pytest.mark.parametrize("helm", HELMS)
@pytest.mark.parametrize("values", ["values.yaml", "values-small.yaml", "values-production.yaml"])
def test_helm_finds_nothing_to_say(helm, values):
    said = programs.run(str(BIN / helm), "lint", "--strict", str(CHART), "--values", str(CHART / values))
    assert "1 chart(s) linted, 0 chart(s) failed" in said


def test_both_helms_make_the_same(everything):
    assert programs.template(*EVERYTHING, helm="helm-3") == everything


def test_the_base_is_what_helm_makes_of_the_chart():
    for path, text in kubernetes.rendered(str(BIN / "helm-4")).items():
        assert (kubernetes.KUSTOMIZE / path).read_text() == text, f"{path}: run `make manifests`"


@pytest.mark.parametrize("kubectl", ["kubectl-34", "kubectl-37"])
@pytest.mark.parametrize("size", ["small", "production"])
def test_an_overlay_has_the_objects_of_the_chart(size, kubectl):
    options = ("--values", str(CHART / f"values-{size}.yaml"), "--set", "migration.hook=false", "--skip-tests")
    of_helm = programs.template(*options)
    of_kubectl = programs.kustomize(size, kubectl)
    assert of_kubectl.keys() == of_helm.keys()
    for name, manifest in of_kubectl.items():
        assert manifest["metadata"]["namespace"] == "imprint"
        assert manifests.without_what_helm_adds(manifest) == manifests.without_what_helm_adds(of_helm[name])


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_fit_the_schemas_of_kubernetes(everything, version, tmp_path):
    own = [manifest for (kind, _), manifest in everything.items() if kind not in CUSTOM]
    assert len(own) >= 25
    assert programs.schema_faults(own, version, tmp_path) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schemas_of_kubernetes_notice_a_misspelt_field(everything, version, tmp_path):
    broken = copy.deepcopy(everything["Deployment", "imprint-api"])
    broken["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    assert "livenesProbe" in programs.schema_faults([broken], version, tmp_path)


def test_custom_resources_fit_their_schemas(everything):
    custom = [manifest for (kind, _), manifest in everything.items() if kind in CUSTOM]
    assert {manifest["kind"] for manifest in custom} == CUSTOM
    assert programs.custom_faults(custom) == [""] * len(custom)
    assert programs.misspelt_fields(custom) == ""


@pytest.mark.parametrize("kind", sorted(CUSTOM))
def test_the_types_of_custom_resources_notice_a_misspelt_field(everything, kind):
    broken = copy.deepcopy(next(manifest for (own, _), manifest in everything.items() if own == kind))
    broken["spec"]["minReplicasCount"] = 1
    assert "minReplicasCount" in programs.misspelt_fields([broken])


def test_the_schemas_of_custom_resources_notice_a_wrong_value(everything):
    scaled = copy.deepcopy(everything["ScaledObject", "imprint-worker-io"])
    scaled["spec"]["minReplicaCount"] = "two"
    monitor = copy.deepcopy(everything["ServiceMonitor", "imprint"])
    monitor["spec"]["endpoints"][0]["interval"] = "soon"
    rule = copy.deepcopy(everything["PrometheusRule", "imprint"])
    del rule["spec"]["groups"][0]["rules"][0]["expr"]
    route = copy.deepcopy(everything["HTTPRoute", "imprint"])
    route["spec"]["rules"][0]["backendRefs"][0]["port"] = 99999
    for fault, place in zip(
        programs.custom_faults([scaled, monitor, rule, route]),
        ("minReplicaCount", "interval", "expr", "port"),
        strict=True,
    ):
        assert place in fault


def policy_faults(objects: dict[tuple[str, str], Manifest], folder: Path) -> set[tuple[str, str]]:
    """The checks that fail, with the kind of object."""
    file = folder / "all.yaml"
    file.write_text(yaml.safe_dump_all(objects.values()))
    command = [
        str(BIN / "checkov"),
        "--file",
        str(file),
        "--framework",
        "kubernetes",
        "--output",
        "json",
        "--soft-fail",
    ]
    report = json.loads(programs.run(*command, "--skip-download", "--compact", "--quiet"))
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["resource_count"] >= len(objects) - 2
    failed = report["results"]["failed_checks"]
    return {(check["check_id"], check["resource"].split(".")[0]) for check in failed}


def in_a_namespace(objects: dict[tuple[str, str], Manifest]) -> dict[tuple[str, str], Manifest]:
    """The objects as they are once they are installed."""
    return {
        name: {**manifest, "metadata": {**manifest["metadata"], "namespace": "imprint"}}
        for name, manifest in objects.items()
    }


def test_the_policy_check_fails_nothing_but_what_has_a_reason(tmp_path):
    digest = "image.digest=sha256:" + "0" * 64
    objects = in_a_namespace(programs.template(*EVERYTHING, "--set", digest))
    assert policy_faults(objects, tmp_path) == set(ACCEPTED)


def test_the_policy_check_notices_rights(everything, tmp_path):
    objects = in_a_namespace(copy.deepcopy(everything))
    spec = manifests.pod(objects["Deployment", "imprint-router"])
    spec["containers"][0]["securityContext"]["privileged"] = True
    assert ("CKV_K8S_16", "Deployment") in policy_faults(objects, tmp_path)


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def example(shape: Mapping[str, Any]) -> object:
    """A value that the schema of a setting accepts."""
    if "enum" in shape:
        return shape["enum"][0]
    is_bounded = {"maximum", "exclusiveMaximum"} & shape.keys()
    examples = {"integer": 1 if is_bounded else 10485760, "number": 0.5, "boolean": True, "string": "text"}
    return examples[shape["type"]]


def test_each_process_gets_every_variable_that_its_container_gets():
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    settings = {name: example(shape) for name, shape in schema["settings"]["properties"].items()}
    secrets = {name: {"name": "all", "key": name} for name in schema["secrets"]["properties"]}
    made = programs.template(
        "--set-json", f"settings={json.dumps(settings)}", "--set-json", f"secrets={json.dumps(secrets)}"
    )
    pods = manifests.processes(made)
    services = compose()["services"]
    for name in ("api", "router", "worker-io", "worker-cpu", "clock", "migrate"):
        environment = manifests.environment(pods[name])
        assert environment.keys() == services[name]["environment"].keys(), name
        assert environment["IMPRINT_REQUEST_BYTES"] == "10485760", "not 1.048576e+07"
        assert environment["IMPRINT_POLL_SECONDS"] == "0.5"
        assert environment["IMPRINT_FOUR_EYES"] == "true"
    assert manifests.environment(pods["test"]) == {}


@pytest.mark.parametrize("helm", HELMS)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["settings.IMPRINT_API_PROCESES=2"], ["settings", "IMPRINT_API_PROCESES"]),
        (["settings.IMPRINT_LEASE_SECONDS=soon"], ["IMPRINT_LEASE_SECONDS", "number"]),
        (["settings.IMPRINT_LLM_API_KEY=sk-1"], ["settings", "IMPRINT_LLM_API_KEY"]),
        (["secrets.IMPRINT_BROKER_URL.key="], ["secrets", "IMPRINT_BROKER_URL"]),
        (["secrets.IMPRINT_RECEIPT_KEY=null"], ["secrets", "IMPRINT_RECEIPT_KEY"]),
        (["processes.clock.replicas=0"], ["processes", "clock", "replicas"]),
        (["processes.cron.replicas=1"], ["processes", "cron"]),
        (["autoscaling.workers.worker-io.minReplicas=0"], ["worker-io", "minReplicas"]),
        (["ingress.enabled=true"], ["ingress", "host"]),
        (["gateway.enabled=true"], ["gateway", "parentRefs"]),
        (["image.digest=latest"], ["image", "digest"]),
    ],
)
def test_wrong_values_are_refused_with_their_place(helm, options, words):
    setting = [part for option in options for part in ("--set", option)]
    said = programs.refusal(str(BIN / helm), "template", "imprint", str(CHART), *setting)
    assert all(word in said for word in words), said


@pytest.mark.parametrize("helm", HELMS)
def test_the_package_has_the_alerts_and_not_a_link_to_them(helm, tmp_path):
    programs.run(str(BIN / helm), "package", str(CHART), "--destination", str(tmp_path))
    (archive,) = tmp_path.glob("imprint-*.tgz")
    with tarfile.open(archive) as package:
        member = package.getmember("imprint/alerts.yml")
        assert member.isfile()
        content = package.extractfile(member)
        assert content is not None
        assert content.read() == (ROOT / "deploy/prometheus/alerts.yml").read_bytes()


def test_a_chart_without_its_alerts_says_so(tmp_path):
    """As it is where symbolic links are files with a path."""
    copied = Path(shutil.copytree(CHART, tmp_path / "imprint"))
    (copied / "alerts.yml").write_text("../../prometheus/alerts.yml")
    said = programs.refusal(
        str(BIN / "helm-4"), "template", "imprint", str(copied), "--set", "monitoring.prometheusRule=true"
    )
    assert "use a packaged chart" in said


def test_the_manual_installs_the_chart():
    page = (ROOT / "docs/kubernetes.md").read_text()
    (command,) = re.findall(r"^helm install imprint deploy/helm/imprint (.*)$", page, re.MULTILINE)
    made = programs.template(*command.split())
    images = {spec["containers"][0]["image"] for spec in manifests.processes(made).values()}
    assert images == {"registry.example.com/imprint-service:0.1.0"}


def test_the_patch_of_the_manual_reaches_every_process(tmp_path):
    page = (ROOT / "docs/kubernetes.md").read_text()
    (patch,) = re.findall(r"^```yaml\n(patches:\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    copied = Path(shutil.copytree(ROOT / "deploy/kustomize", tmp_path / "kustomize"))
    (copied / "kustomization.yaml").write_text(f"resources: [overlays/small]\n{patch}")
    made = manifests.objects(programs.run(str(BIN / "kubectl-37"), "kustomize", str(copied)))
    levels = [manifests.environment(spec)["IMPRINT_LOG_LEVEL"] for spec in manifests.processes(made).values()]
    assert levels == ["debug"] * 6


def test_long_names_stay_names():
    made = programs.template(*EVERYTHING, release="a-release-of-a-team-whose-name-has-fifty-letters-in")
    for _, name in made:
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name), name
    spec = made["ScaledObject", next(name for kind, name in made if kind == "ScaledObject")]["spec"]
    assert ("Deployment", spec["scaleTargetRef"]["name"]) in made


def test_the_hook_comes_before_what_it_migrates_for(everything):
    job = everything["Job", "imprint-migrate"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert "serviceAccountName" not in manifests.pod(job), "the chart's does not exist before the first install"


def test_a_list_of_nobody_admits_nobody():
    lists = ("prometheus", "clients", "outside.ports", "outside.to")
    for name in lists:
        made = programs.template("--set-json", f"networkPolicy.{name}=[]")
        assert "ingress" not in made["NetworkPolicy", "imprint-metrics"]["spec"] or name != "prometheus"
        assert "egress" not in made["NetworkPolicy", "imprint-outside"]["spec"] or not name.startswith("outside")
        (rule,) = made["NetworkPolicy", "imprint-clients"]["spec"]["ingress"]
        assert rule["from"]
        assert len(rule["from"]) == (1 if name == "clients" else 2), "and the pod of the test"


def test_scaled_processes_leave_their_number_to_who_scales_them(everything):
    fixed = {name for (kind, name), manifest in everything.items() if "replicas" in manifest.get("spec", {})}
    assert fixed == {"imprint-router", "imprint-clock"}


def test_notes_say_what_to_do_next():
    """Helm 4 alone shows them without a cluster."""
    options = ["--namespace", "mem", "--dry-run=client", "--set", "fullnameOverride=memory"]
    said = programs.run(str(BIN / "helm-4"), "install", "imprint", str(CHART), *options)
    notes = said.split("NOTES:")[1]
    assert "kubectl -n mem exec deployment/memory-api -- imprint keys create" in notes
    assert "http://memory-api.mem:8070" in notes
