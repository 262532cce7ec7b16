"""What the compose file starts does what the service promises, confined as the file says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from tests.containers import engine
from tests.containers.conftest import build, running
from tests.containers.engine import Podman
from tests.containers.stack import SERVICES, Stack
from tests.containers.talker import Talker
from tests.patience import wait_until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1800)]

PROCESSES = ("api", "router", "worker-io", "worker-cpu", "clock")
SERVERS = ("postgres", "redis")
IMAGE = "localhost/imprint-service:0.1.0"
MEGABYTE = 1_000_000
LARGEST_IMAGE = 650 * MEGABYTE
MEMORY_UNITS = {"m": 2**20, "g": 2**30}
NO_ROUTE = "00000000"
"""The destination of a default route in /proc/net/route."""


@pytest.fixture(scope="module")
def stack(podman: Podman) -> Iterator[Stack]:
    """Everything that always runs, once it is ready."""
    begin = time.monotonic()
    with running(Stack(podman, "imprint-stack")) as stack:
        stack.wait_until_ready()
        print(f"\nready {time.monotonic() - begin:.0f} s after `up`")
        yield stack


@pytest.fixture(scope="module")
def talker(stack: Stack) -> Iterator[Talker]:
    with closing(Talker(stack)) as talker:
        yield talker


def test_the_image_is_small_and_runs_as_nobody_without_network_or_writable_root(podman: Podman) -> None:
    own, base = (json.loads(podman("image", "inspect", image))[0] for image in (IMAGE, engine.BASE))
    assert own["Size"] - base["Size"] <= LARGEST_IMAGE
    assert own["Config"]["User"] == "10001"
    confined = ["--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    assert podman("run", "--rm", *confined, IMAGE, "imprint", "--version").strip() == "imprint 0.1.0"


def test_the_image_has_no_installer_and_nothing_of_the_host(podman: Podman) -> None:
    listed = podman("run", "--rm", "--network=none", IMAGE, "find", "/opt", "/src", "/etc/pip.conf", check=False)
    paths = {line for line in listed.splitlines() if line.startswith("/")}
    assert "/opt/imprint/bin/imprint" in paths
    assert not {path for path in paths if path.startswith("/src") or path.endswith(("/site-packages/pip", ".env"))}
    made = podman("history", "--no-trunc", "--format", "{{.CreatedBy}}", IMAGE)
    assert "pip.conf" not in made


def test_every_service_passes_its_own_health_check(stack: Stack) -> None:
    stack.wait_until_healthy([*SERVERS, *PROCESSES])
    state = stack.inspected("migrate")["State"]
    assert (state["Status"], state["ExitCode"]) == ("exited", 0)


def test_the_doctor_finds_nothing_wrong_in_the_container_of_the_api(stack: Stack, talker: Talker) -> None:
    wait_until(lambda: is_well(stack, talker.key), every=1)


def is_well(stack: Stack, key: str) -> bool:
    """Return whether the doctor finds nothing wrong; only processes may still be on their way."""
    command = ("env", f"IMPRINT_API_KEY={key}", "imprint", "doctor", "--json")
    told = json.loads(stack.inside("api", *command, check=False))
    failed = {check["name"] for check in told["checks"] if check["state"] == "fail"}
    assert failed <= {"processes", "api"}, told
    return not failed


@pytest.mark.parametrize("service", [*SERVERS, *PROCESSES])
def test_each_container_has_the_limits_of_the_file(stack: Stack, service: str) -> None:
    told, runs = SERVICES[service], stack.inspected(service)
    limits = runs["HostConfig"]
    assert limits["Memory"] == int(told["mem_limit"][:-1]) * MEMORY_UNITS[told["mem_limit"][-1]]
    assert limits["PidsLimit"] == told["pids_limit"]
    assert limits["CpuQuota"] / limits["CpuPeriod"] == told["cpus"]
    assert limits["ReadonlyRootfs"] == told.get("read_only", False)
    kept = {f"CAP_{name}" for name in told.get("cap_add", [])}
    assert set(runs["EffectiveCaps"] or []) == kept


@pytest.mark.parametrize("service", PROCESSES)
def test_each_process_is_a_nobody_who_can_write_only_where_the_file_says(stack: Stack, service: str) -> None:
    status = dict(line.split(":", 1) for line in stack.inside(service, "cat", "/proc/1/status").splitlines())
    assert set(status["Uid"].split()) == {"10001"}
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    writable = {mount.partition(":")[0] for mount in SERVICES[service]["tmpfs"]}
    for folder in ("/", "/opt/imprint", "/var/lib/imprint", "/etc", *writable):
        told = stack.inside(service, "touch", f"{folder}/mark", check=False)
        assert (not told) == (folder in writable), f"{service} {folder}: {told}"


def test_a_server_reaches_nothing_outside_and_a_process_does(stack: Stack) -> None:
    for service in SERVERS:
        assert NO_ROUTE not in destinations(stack, service)
    assert NO_ROUTE in destinations(stack, "api")


def destinations(stack: Stack, service: str) -> list[str]:
    return [line.split()[1] for line in stack.inside(service, "cat", "/proc/net/route").splitlines()[1:]]


def test_a_process_whose_database_is_away_is_alive_and_not_ready(stack: Stack) -> None:
    """Or an orchestrator would kill every process because one server restarts."""
    stack.podman("stop", stack.container("postgres"))
    try:
        wait_until(lambda: stack.status("/readyz") == httpx.codes.SERVICE_UNAVAILABLE, every=0.5)
        assert {service: stack.is_healthy(service) for service in PROCESSES} == dict.fromkeys(PROCESSES, True)
    finally:
        stack.podman("start", stack.container("postgres"))
    stack.wait_until_ready()


def test_a_talk_is_remembered_and_found_by_its_meaning(talker: Talker) -> None:
    talker.tell("s1", "I live in Lisbon.", "I am allergic to peanuts.", "My door code is 4711.")
    assert "Lisbon" in talker.search("Where is the home of Ada?")[0]
    assert "peanuts" in talker.search("¿Qué no puede comer?")[0]


def test_a_receipt_signed_by_a_worker_is_genuine(talker: Talker) -> None:
    talker.tell("s2", "Please forget my door code.")
    (forgotten,) = talker.call("GET", "/v1/events", params={"type": "memory.forgotten"})["items"]
    receipt = talker.call("GET", f"/v1/receipts/{forgotten['payload']['receipt_id']}")
    assert receipt["receipt"]["scope"] == "request"
    assert talker.is_genuine(receipt)
    assert not [text for text in talker.search("door code") if "4711" in text]


def test_receipts_of_a_bulk_job_are_genuine(talker: Talker) -> None:
    talker.tell("s3", "I play chess.", "I work at Siemens.", user="bob")
    rows = talker.memories("bob")
    assert len(rows) >= 2
    jobs = "/v1/memories/bulk/jobs"
    body = {"action": "erase", "filter": {"user_id": "bob"}, "preview": False, "confirm": len(rows)}
    job = talker.call("POST", jobs, json=body)["id"]
    wait_until(lambda: talker.call("GET", f"{jobs}/{job}")["status"] == "done")
    carried_out = talker.call("GET", f"{jobs}/{job}/rows")["items"]
    assert {row["outcome"] for row in carried_out} == {"done"}
    for row in carried_out:
        assert talker.is_genuine(talker.call("GET", f"/v1/receipts/{row['receipt_id']}"))
    assert talker.memories("bob") == []


def test_a_receipt_signed_by_the_api_is_genuine_and_a_changed_one_is_not(talker: Talker) -> None:
    talker.tell("s4", "I collect stamps.", user="eve")
    receipt = talker.call("DELETE", "/v1/users/eve")
    assert talker.is_genuine(receipt)
    assert not talker.is_genuine({**receipt, "receipt": {**receipt["receipt"], "tombstones": 99}})
    assert talker.memories("eve") == []


@pytest.mark.parametrize("service", [*SERVERS, *PROCESSES])
def test_a_restarted_service_goes_on_with_what_there_was(stack: Stack, talker: Talker, service: str) -> None:
    stack.podman("restart", stack.container(service))
    stack.wait_until_healthy([service])
    stack.wait_until_ready()
    talker.tell(f"after-{service}", "I have a cat called Tabby.", user=service)
    assert any("cat" in text for text in talker.search("Which pet?", user=service))
    assert "Lisbon" in talker.search("Where is the home of Ada?")[0]


def test_a_new_image_rolls_over_the_running_one(podman: Podman, stack: Stack, talker: Talker) -> None:
    before = {service: stack.inspected(service)["Image"] for service in PROCESSES}
    stack.settings["IMPRINT_IMAGE_TAG"] = "next"
    build(stack, "--label=org.opencontainers.image.version=next")
    stack.up()
    stack.wait_until_ready()
    stack.wait_until_healthy(PROCESSES)
    after = {service: stack.inspected(service)["Image"] for service in PROCESSES}
    assert len({*before.values()}) == len({*after.values()}) == 1
    assert not {*before.values()} & {*after.values()}
    talker.tell("after-upgrade", "I moved to Porto.")
    assert "Porto" in talker.search("Where is the home of Ada?")[0]
