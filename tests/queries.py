"""What dashboard and alerts ask of Prometheus, taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import promql_parser
import yaml
from prometheus_client.metrics import MetricWrapperBase

from core import exposition, metrics

SUFFIX = {"counter": "_total", "histogram": "_bucket", "gauge": ""}
SCRAPED = {"job", "instance", "namespace"}


@dataclass(frozen=True, slots=True)
class Query:
    """One question, where it stands, and the labels that its legend names."""

    place: str
    text: str
    shown: frozenset[str] = frozenset()


def of_dashboard(root: Path) -> list[Query]:
    """Every query of every panel; Grafana's own variable gets a value."""
    panels = json.loads((root / "deploy/grafana/dashboards/imprint.json").read_text())["panels"]
    return [
        Query(
            panel["title"],
            target["expr"].replace("$__rate_interval", "1m"),
            frozenset(re.findall(r"{{(\w+)}}", target["legendFormat"])),
        )
        for panel in panels
        for target in panel.get("targets", [])
    ]


def alert_rules(root: Path) -> list[dict[str, object]]:
    groups = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def of_alerts(root: Path) -> list[Query]:
    """The condition of every alert."""
    return [Query(str(rule["alert"]), str(rule["expr"])) for rule in alert_rules(root)]


def nodes(query: str, kind: type) -> list[object]:
    """The parts of a query of one kind; ValueError if it is not PromQL."""
    found: list[object] = []
    promql_parser.walk(promql_parser.parse(query), lambda node: found.append(node) if isinstance(node, kind) else None)
    return found


def selectors(query: str) -> list[promql_parser.VectorSelector]:
    """What a query reads."""
    return nodes(query, promql_parser.VectorSelector)


def groupings(query: str) -> set[str]:
    """The labels that the query's sums keep apart."""
    sums = nodes(query, promql_parser.AggregateExpr)
    return {label for part in sums if part.modifier for label in part.modifier.labels}


def declared() -> Mapping[str, set[str]]:
    """Every metric, by the name that a query asks for, with its labels."""
    found: dict[str, set[str]] = {}
    for metric in constants().values():
        family, labels = metric.describe()[0], set(metric._labelnames)
        found[family.name + SUFFIX[family.type]] = labels | ({"le"} if family.type == "histogram" else set())
        if family.type == "histogram":
            found[f"{family.name}_count"] = labels
    return found


def derived() -> Mapping[str, set[str]]:
    """The metrics that are shown under Celery's names as well, by the name that a query asks for."""
    found: dict[str, set[str]] = {}
    for name, (source, where) in exposition.CELERY.items():
        labels = {exposition.LABELS[label] for label in source._labelnames if label not in where} | {"hostname"}
        family = source.describe()[0]
        found[name + SUFFIX[family.type]] = labels | ({"le"} if family.type == "histogram" else set())
        if family.type == "histogram":
            found |= {f"{name}_count": labels, f"{name}_sum": labels}
    return found


def constants() -> Mapping[str, MetricWrapperBase]:
    """Every metric, by the name it has in the code."""
    return {name: value for name, value in vars(metrics).items() if isinstance(value, MetricWrapperBase)}
