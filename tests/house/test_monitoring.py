"""Dashboards, alerts and runbooks fit together, and speak of metrics that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import runbooks as alerts_table
from deploy.grafana import generate
from deploy.grafana.table import DASHBOARDS
from tests import label_values, queries

PROMTOOL = shutil.which("promtool")
RUNBOOK_WORDS = 150
OF_PROMETHEUS = {
    "up": set(),
    "process_start_time_seconds": set(),
    "ALERTS": {"alertname", "alertstate"},
}
"""Series that are not declared in core/metrics.py, with their labels."""


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.name)
def test_the_files_of_dashboards_are_those_of_the_table(root, dashboard):
    written = (root / f"deploy/grafana/dashboards/{dashboard.name}.json").read_text(encoding="utf-8")
    assert written == generate.text(dashboard), "Run `python -m deploy.grafana.generate`."


def test_there_is_no_other_dashboard(root):
    assert set(queries.dashboards(root)) == {dashboard.name for dashboard in DASHBOARDS}


def test_grafana_finds_the_dashboards_and_their_source(root):
    folder = root / "deploy/grafana"
    grafana = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]["grafana"]
    source = yaml.safe_load((folder / "provisioning/datasources/prometheus.yml").read_text())["datasources"][0]
    provider = yaml.safe_load((folder / "provisioning/dashboards/imprint.yml").read_text())["providers"][0]
    used = {uid for dashboard in queries.dashboards(root).values() for uid in sources_of(dashboard)}
    mounts = [mount.split(":") for mount in grafana["volumes"]]
    path = provider["options"]["path"]
    assert used == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"
    assert ["./deploy/grafana/dashboards", path, "ro"] in mounts
    assert ["./deploy/grafana/provisioning", "/etc/grafana/provisioning", "ro"] in mounts
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == f"{path}/overview.json"


def sources_of(part: Any) -> set[str]:
    """The sources of data that a dashboard names anywhere."""
    if isinstance(part, list):
        return {uid for item in part for uid in sources_of(item)}
    if not isinstance(part, dict):
        return set()
    own = {part["datasource"]["uid"]} if "datasource" in part else set()
    return own | {uid for item in part.values() for uid in sources_of(item)}


def test_panels_stand_beside_each_other_and_have_unit_legend_and_meaning(root):
    for name, dashboard in queries.dashboards(root).items():
        taken: set[tuple[int, int]] = set()
        for panel in dashboard["panels"]:
            cells = cells_of(panel["gridPos"])
            assert not cells & taken, f"{name}: {panel['title']}"
            taken |= cells
            if panel["type"] != "row":
                shown, _, bad = panel["description"].partition("Bad: ")
                assert shown, f"{name}: {panel['title']}"
                assert bad.endswith("."), f"{name}: {panel['title']} does not say what a bad value looks like"
                assert panel["fieldConfig"]["defaults"]["unit"]
                assert panel["targets"]
                assert all(target["legendFormat"] for target in panel["targets"])
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def cells_of(place: dict[str, int]) -> set[tuple[int, int]]:
    assert place["x"] + place["w"] <= generate.COLUMNS
    return {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}


def test_every_query_asks_for_metrics_and_labels_that_exist(root):
    known = queries.declared() | OF_PROMETHEUS | {name: {"slo"} for name in queries.recorded(root)}
    for query in [*queries.of_dashboards(root), *queries.of_rules(root)]:
        read = queries.selectors(query.text)
        labels = set(queries.SCRAPED)
        for selector in read:
            assert selector.name in known, query
            own = known[selector.name] | queries.SCRAPED
            assert {matcher.name for matcher in selector.matchers.matchers} <= own, query
            labels |= own
        grouped = queries.groupings(query.text)
        assert grouped <= labels, query
        assert query.shown <= (grouped or labels), query


def test_every_value_that_a_query_asks_for_is_one_that_its_label_can_have(root):
    known = {metric.describe()[0].name: metric for metric in queries.constants().values()}
    for query in [*queries.of_dashboards(root), *queries.of_rules(root)]:
        for selector in queries.selectors(query.text):
            family = re.sub(r"_(total|bucket|count|sum)$", "", selector.name)
            for matcher in selector.matchers.matchers if family in known else ():
                for value in values_of(matcher.value):
                    if matcher.name == "le":
                        assert float(value) in known[family]._upper_bounds, query
                    elif matcher.name not in queries.SCRAPED:
                        assert label_values.is_known(family, matcher.name, value), query


def values_of(pattern: str) -> list[str]:
    """The values among the alternatives of a pattern; `.` and `*` make it a pattern of many."""
    return [
        value for value in pattern.split("|") if not re.search(r"[.*+(]", value) or re.fullmatch(r"[\d.]+\d", value)
    ]


def test_every_metric_is_on_a_dashboard(root):
    asked = {s.name for query in queries.of_dashboards(root) for s in queries.selectors(query.text)}
    for name in queries.declared():
        family = re.sub(r"_(bucket|count|sum)$", "", name)
        assert {family, f"{family}_bucket", f"{family}_count"} & asked, name


def test_every_record_is_read(root):
    read = {s.name for q in [*queries.of_dashboards(root), *queries.of_rules(root)] for s in queries.selectors(q.text)}
    assert queries.recorded(root) - read == set()


def test_every_metric_is_counted_somewhere(root):
    code = "\n".join(
        path.read_text() for part in ("api", "workers", "rules", "core") for path in (root / part).rglob("*.py")
    )
    for constant in queries.constants():
        assert re.search(rf"metrics\.{constant}\b", code), constant


def test_every_alert_has_a_runbook_and_every_runbook_an_alert(root):
    alerts = {rule["alert"] for rule in queries.alert_rules(root)}
    runbooks = {path.stem for path in (root / "docs/runbooks").glob("*.md")}
    assert alerts == runbooks
    assert len(alerts) >= 12


def test_the_table_of_alerts_is_that_of_rules_and_runbooks(root):
    written = (root / "docs/alerts.md").read_text()
    assert written == alerts_table.page(), "Run `python -m bench.runbooks > docs/alerts.md`."
    assert all(f"| [`{rule['alert']}`]" in written for rule in queries.alert_rules(root))


def test_every_alert_says_how_grave_it_is_and_where_its_runbook_stands(root):
    for rule in queries.alert_rules(root):
        name = rule["alert"]
        assert set(rule["annotations"]) == {"summary", "runbook"}
        assert rule["annotations"]["runbook"] == f"docs/runbooks/{name}.md"
        assert rule["for"]
        assert rule["labels"]["severity"] in {"warning", "critical"}


SECTIONS = ["## Meaning", "## Check", "## Do", "## Over"]


def runbooks() -> list[Path]:
    return sorted((Path(__file__).parents[2] / "docs/runbooks").glob("*.md"))


@pytest.mark.parametrize("path", runbooks(), ids=lambda path: path.stem)
def test_a_runbook_is_short_and_says_meaning_check_remedy_and_end(path):
    written = path.read_text(encoding="utf-8")
    assert written.startswith(f"# {path.stem}\n")
    assert re.findall(r"^## .+$", written, re.MULTILINE) == SECTIONS
    assert len(written.split()) <= RUNBOOK_WORDS


def test_every_alert_is_tested_to_fire_and_not_to(root):
    names = {rule["alert"] for rule in queries.alert_rules(root)}
    fires, is_silent = set(), set()
    for path in (root / "deploy/prometheus").glob("*_test.yml"):
        for test in yaml.safe_load(path.read_text())["tests"]:
            for case in test["alert_rule_test"]:
                (fires if case.get("exp_alerts") else is_silent).add(case["alertname"])
    assert fires == is_silent == names


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed; `make monitoring` brings it")
@pytest.mark.parametrize(
    "words",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml", "alerts_days_test.yml"),
    ],
    ids=" ".join,
)
def test_promtool_agrees(root, words):
    done = subprocess.run(
        [PROMTOOL, *words], cwd=root / "deploy/prometheus", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
