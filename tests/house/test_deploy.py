"""What is deployed fits together: image, compose file, Prometheus, alerts, dashboard, and the code they speak of."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

from api.cli.main import COMMANDS
from core.config import Settings
from tests import queries

PROCESSES = {"api", "router", "worker-io", "worker-cpu", "clock"}
PROMTOOL = shutil.which("promtool")


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "deploy/Dockerfile").read_text()


def pins(path: Path) -> dict[str, set[str]]:
    """Hashes by requirement, environment marker included."""
    found: dict[str, set[str]] = {}
    for block in re.split(r"\n(?=\w)", path.read_text()):
        if "==" in block:
            found[block.split(" \\")[0].strip()] = set(re.findall(r"sha256:\w{64}", block))
    return found


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~ ]", requirement)[0].lower() for requirement in requirements}


def test_the_compose_file_is_valid_by_the_compose_specification(compose):
    jsonschema.validate(compose, get_builtin_schema("vendor.compose-spec"))


def test_the_compose_file_runs_all_there_is(compose):
    others = {"postgres", "redis", "migrate", "prometheus", "grafana"}
    assert set(compose["services"]) == PROCESSES | others


def test_each_process_runs_a_command_that_exists_in_the_one_image(compose):
    services = [compose["services"][name] for name in PROCESSES | {"migrate"}]
    assert {service["image"] for service in services} == {"imprint-server:0.1.0"}
    for service in services:
        program, command, *_ = service["command"]
        assert program == "imprint"
        assert command in COMMANDS


def test_no_process_starts_before_the_database_is_migrated(compose):
    for name in PROCESSES:
        assert compose["services"][name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert compose["services"]["migrate"]["restart"] == "no"


def test_only_the_migration_knows_the_owner_of_the_database(compose):
    services = compose["services"]
    assert {n for n, s in services.items() if "IMPRINT_DATABASE_URL" in s.get("environment", {})} == {"migrate"}
    knowing = {n for n, s in services.items() if "IMPRINT_POSTGRES_PASSWORD" in json.dumps(s)}
    assert knowing == {"postgres", "migrate"}


def test_every_password_must_come_from_outside(root, compose):
    for service in compose["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if "PASSWORD" in name or "AUTH" in name:
                assert re.fullmatch(r"\$\{IMPRINT_\w+:\?\}", value)
            if value and "://" in value and "@" in value:
                assert re.search(r"://\w*:\$\{IMPRINT_\w+_PASSWORD:\?\}@", value)
    assert "KEY: " not in (root / "docker-compose.yml").read_text()


def test_nothing_is_published_but_on_this_host(compose):
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_whatever_keeps_data_keeps_it_in_a_volume(compose):
    assert {name for name, s in compose["services"].items() if "volumes" in s} == set(compose["volumes"])
    for name in compose["volumes"]:
        assert any(mount.startswith(f"{name}:") for mount in compose["services"][name]["volumes"])


def test_every_service_that_stays_says_whether_it_is_well(compose):
    assert {name for name, s in compose["services"].items() if "healthcheck" not in s} == {"migrate"}


def test_workers_count_on_a_disk_of_their_own_in_memory(compose):
    for name in ("worker-io", "worker-cpu"):
        service = compose["services"][name]
        folder = service["environment"]["PROMETHEUS_MULTIPROC_DIR"]
        assert any(mount.startswith(f"{folder}:") for mount in service["tmpfs"])
    for name in PROCESSES - {"worker-io", "worker-cpu"}:
        assert "PROMETHEUS_MULTIPROC_DIR" not in compose["services"][name]["environment"]


def test_every_setting_named_is_one(compose, dockerfile):
    known = {f"IMPRINT_{name.upper()}" for name in Settings.model_fields}
    told = {name for name in PROCESSES | {"migrate"} for name in compose["services"][name]["environment"]}
    told |= set(re.findall(r"\b(IMPRINT_\w+)=", dockerfile))
    assert {name for name in told if name.startswith("IMPRINT_")} <= known


def test_the_image_holds_every_package_and_nothing_that_the_context_lacks(root, dockerfile):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    copied = {
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE)
        for source in line.split()[:-1]
    }
    ignored = (root / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= copied
    assert copied == allowed
    assert all((root / source).exists() for source in copied)
    assert not any(fnmatch(source, pattern) for source in copied for pattern in ("tests*", "bench*", ".env*"))


def test_the_image_runs_as_nobody_in_particular_and_carries_no_build_tools(dockerfile):
    first, last = re.split(r"^FROM .*$", dockerfile, flags=re.MULTILINE)[1:]
    assert "pip install" in first
    assert "pip install" not in last
    assert "apt-get" not in dockerfile
    assert re.search(r"^USER (?!0\b|root\b)\w+$", last, re.MULTILINE)
    assert "--no-deps --require-hashes -r requirements.lock" in first


def test_the_image_installs_what_was_tested_and_none_of_its_tools(root):
    image, tested = pins(root / "deploy/requirements.lock"), pins(root / "requirements.lock")
    loose = {name.split(" ;")[0]: hashes for name, hashes in tested.items()}
    assert all(loose[name.split(" ;")[0]] == hashes for name, hashes in image.items())
    project = tomllib.loads((root / "pyproject.toml").read_text())
    installed = names(list(image))
    assert names(project["project"]["dependencies"]) <= installed
    assert names(project["dependency-groups"]["model"]) <= installed
    left_out = [*project["project"]["optional-dependencies"]["local"], "pytest", "mypy", "ruff", "hypothesis"]
    assert not names(left_out) & installed


def test_prometheus_looks_at_every_process_where_it_listens(root):
    config = yaml.safe_load((root / "deploy/prometheus/prometheus.yml").read_text())
    found = {job["job_name"]: job["dns_sd_configs"][0] for job in config["scrape_configs"]}
    assert {name: [sd["names"], sd["port"]] for name, sd in found.items()} == {
        f"imprint-{name}": [[name], Settings.model_fields["metrics_port"].default] for name in PROCESSES
    }


def test_grafana_finds_the_dashboard_and_its_source(root, compose):
    folder = root / "deploy/grafana"
    source = yaml.safe_load((folder / "provisioning/datasources/prometheus.yml").read_text())["datasources"][0]
    provider = yaml.safe_load((folder / "provisioning/dashboards/imprint.yml").read_text())["providers"][0]
    dashboard = json.loads((folder / "dashboards/imprint.json").read_text())
    used = {panel["datasource"]["uid"] for panel in dashboard["panels"] if "datasource" in panel}
    mounts = [mount.split(":") for mount in compose["services"]["grafana"]["volumes"]]
    assert used == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"
    assert ["./deploy/grafana/dashboards", provider["options"]["path"], "ro"] in mounts
    assert ["./deploy/grafana/provisioning", "/etc/grafana/provisioning", "ro"] in mounts


def test_panels_stand_beside_each_other_and_have_a_sentence(root):
    dashboard = json.loads((root / "deploy/grafana/dashboards/imprint.json").read_text())
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["description"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_every_query_asks_for_metrics_and_labels_that_are_declared(root):
    known = queries.declared() | {"up": set()}
    for query in [*queries.of_dashboard(root), *queries.of_alerts(root)]:
        read = queries.selectors(query.text)
        assert read, query
        labels = set(queries.SCRAPED)
        for selector in read:
            assert selector.name in known, query
            own = known[selector.name] | queries.SCRAPED
            assert {matcher.name for matcher in selector.matchers.matchers} <= own, query
            labels |= own
        assert queries.groupings(query.text) <= labels, query
        assert query.shown <= queries.groupings(query.text), query


def test_every_metric_is_on_the_dashboard_and_in_the_manual(root):
    asked = {s.name for query in queries.of_dashboard(root) for s in queries.selectors(query.text)}
    manual = (root / "docs/operations.md").read_text()
    for name in queries.declared():
        family = re.sub(r"_(bucket|count)$", "", name)
        assert {family, f"{family}_bucket", f"{family}_count"} & asked, name
        assert f"`{family}`" in manual


def test_every_metric_is_counted_somewhere(root):
    code = "\n".join(
        path.read_text() for part in ("api", "workers", "rules", "core") for path in (root / part).rglob("*.py")
    )
    for constant in queries.constants():
        assert re.search(rf"metrics\.{constant}\b", code), constant


def test_there_are_six_alerts_and_each_says_what_to_do(root):
    rules = queries.alert_rules(root)
    manual = (root / "docs/operations.md").read_text()
    assert len(rules) == 6
    for rule in rules:
        assert set(rule["annotations"]) == {"summary", "action"}
        assert rule["for"]
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert f"`{rule['alert']}`" in manual


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed; `make monitoring` brings it")
@pytest.mark.parametrize(
    "words",
    [("check", "config", "prometheus.yml"), ("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")],
)
def test_promtool_agrees(root, words):
    done = subprocess.run(
        [PROMTOOL, *words], cwd=root / "deploy/prometheus", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
