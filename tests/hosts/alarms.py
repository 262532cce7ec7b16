"""A real Prometheus on the operator's host, with the project's alerts in a tenth of their time."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from tests.hosts.cluster import METRICS_PORTS, PROCESSES, Cluster
from tests.patience import PATIENCE_SECONDS, wait_until

PROGRAM = shutil.which("prometheus")
FASTER: Final = 10
"""An alert that waits for five minutes waits for half a minute here; its thresholds are as they are."""

BURN_SECONDS: Final = (30 + 5) * 60 / FASTER
"""Longest of the two windows, with that of the rates in it, over which a burnt budget that pages is counted."""

PORT: Final = 9090
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
STEP_SECONDS: Final = 30
"""Step of the objectives' group, by which its alerts turn sums of rates into requests."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Its alerts, as it answers itself."""

    def firing(self) -> set[str]:
        """Answer the names of those that fire, without warnings of a budget: they count days, which are hours here."""
        alerts = httpx.get(f"http://127.0.0.1:{PORT}/api/v1/alerts").json()["data"]["alerts"]
        labels = [alert["labels"] for alert in alerts if alert["state"] == "firing"]
        return {
            label["alertname"]
            for label in labels
            if not (label["alertname"].endswith("Budget") and label["severity"] == "warning")
        }

    def wait_until_none_fires(self) -> None:
        """Wait until no alert fires; a failure names those that do.

        Without further requests, an outage is seen in the burnt budget for as long as that is counted over.
        """
        end = time.monotonic() + BURN_SECONDS + PATIENCE_SECONDS
        while firing := self.firing():
            assert time.monotonic() < end, f"still firing: {sorted(firing)}"
            time.sleep(0.5)

    def watches(self, targets: int) -> bool:
        with contextlib.suppress(httpx.TransportError):
            answer = httpx.get(f"http://127.0.0.1:{PORT}/api/v1/query", params={"query": "up == 1"})
            return answer.is_success and len(answer.json()["data"]["result"]) == targets
        return False


@contextlib.contextmanager
def prometheus(cluster: Cluster, root: Path, folder: Path) -> Iterator[Prometheus]:
    """Watch every process of a cluster."""
    assert PROGRAM
    config = folder / "prometheus.yml"
    (folder / "alerts.yml").write_text(yaml.safe_dump(_alerts(root)))
    config.write_text(yaml.safe_dump(_configuration(cluster)))
    options = [
        f"--config.file={config}",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{PORT}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, *options], stdout=log, stderr=log)
    try:
        watching = Prometheus()
        wait_until(lambda: watching.watches(sum(map(len, PROCESSES.values()))), every=0.5)
        yield watching
    finally:
        process.terminate()
        process.wait(20)


def _alerts(root: Path) -> Any:
    alerts = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text())
    for group in alerts["groups"]:
        if "interval" in group:
            group["interval"] = re.sub(r"\d+[smh]", _faster, group["interval"])
        for rule in group["rules"]:
            expression = re.sub(r"(?<=\[)\d+[smhd](?=\])", _faster, rule["expr"])
            rule["expr"] = expression.replace(f"* {STEP_SECONDS} ", f"* {STEP_SECONDS // FASTER} ")
            if "for" in rule:
                rule["for"] = re.sub(r"\d+[smh]", _faster, rule["for"])
    return alerts


def _faster(written: re.Match[str]) -> str:
    return f"{int(written[0][:-1]) * UNITS[written[0][-1]] * 1000 // FASTER}ms"


def _configuration(cluster: Cluster) -> Any:
    jobs = [
        {
            "job_name": f"imprint-{name}",
            "static_configs": [
                {
                    "targets": [
                        f"{cluster.network.addresses[host]}:{port}"
                        for host, names in PROCESSES.items()
                        if name in names
                    ]
                }
            ],
        }
        for name, port in METRICS_PORTS.items()
    ]
    often = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    return {"global": often, "rule_files": ["alerts.yml"], "scrape_configs": jobs}
