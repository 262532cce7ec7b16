"""What dashboards, alerts and records ask of Prometheus, taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def dashboards(root: Path) -> dict[str, dict[str, Any]]:
    """Every dashboard by the name of its file."""
    folder = root / "deploy/grafana/dashboards"
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def of_dashboards(root: Path) -> list[Query]:
    """Every query of every panel, and of the marks of alerts; Grafana's variables get the values they begin with."""
    return [
        Query(f"{name}: {title}", at_first(expr), frozenset(re.findall(r"{{(\w+)}}", legend)))
        for name, dashboard in dashboards(root).items()
        for title, expr, legend in _asked(dashboard)
    ]


def _asked(dashboard: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["target"]["expr"], ""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target["legendFormat"]


def at_first(expr: str) -> str:
    """A query as it is before the reader chooses: all processes, no prices."""
    values = {"__rate_interval": "5m", "job": ".*", "instance": ".*", "price_input": "0", "price_output": "0"}
    return re.sub(r"\$(\w+)", lambda match: values[match[1]], expr)


def rules(root: Path) -> list[dict[str, Any]]:
    """Every recording and alerting rule."""
    groups = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alert_rules(root: Path) -> list[dict[str, Any]]:
    return [rule for rule in rules(root) if "alert" in rule]


def recorded(root: Path) -> set[str]:
    """The names of the series that rules record."""
    return {rule["record"] for rule in rules(root) if "record" in rule}


def of_rules(root: Path) -> list[Query]:
    """What every rule asks, alerts with their condition."""
    return [Query(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules(root)]


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
            found |= {f"{family.name}_{part}": labels for part in ("count", "sum")}
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
