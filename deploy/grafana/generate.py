"""`python -m deploy.grafana.generate`: writes the dashboards of `deploy/grafana/table.py` as Grafana reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from deploy.grafana.model import Dashboard, Lines, Stat
from deploy.grafana.table import DASHBOARDS

FOLDER: Final = Path(__file__).parent / "dashboards"
SOURCE: Final = {"type": "prometheus", "uid": "imprint-prometheus"}
COLUMNS: Final = 24
PROCESSES: Final = 'up{job=~"imprint-.+"}'
ALERTS: Final = 'ALERTS{alertname=~"Imprint.+",alertstate="firing"}'


def main() -> None:
    """Write every dashboard."""
    for dashboard in DASHBOARDS:
        (FOLDER / f"{dashboard.name}.json").write_text(text(dashboard), encoding="utf-8")


def text(dashboard: Dashboard) -> str:
    """Return a dashboard's file."""
    return json.dumps(_dashboard(dashboard), indent=2, ensure_ascii=False) + "\n"


def _dashboard(dashboard: Dashboard) -> dict[str, Any]:
    return {
        "uid": f"imprint-{dashboard.name}",
        "title": f"Imprint: {dashboard.title}",
        "description": dashboard.description,
        "tags": ["imprint"],
        "editable": True,
        "graphTooltip": 1,
        "schemaVersion": 41,
        "refresh": "10s",
        "timezone": "browser",
        "time": {"from": "now-1h", "to": "now"},
        "links": [_LINK],
        "annotations": {"list": [_ANNOTATION]},
        "templating": {"list": [*_PROCESS_VARIABLES, *map(_typed, dashboard.numbers, dashboard.numbers.values())]},
        "panels": list(_panels(dashboard.entries)),
    }


_LINK: Final = {
    "title": "Imprint",
    "type": "dashboards",
    "icon": "external link",
    "tooltip": "The other dashboards, for the same time and processes",
    "url": "",
    "tags": ["imprint"],
    "asDropdown": False,
    "targetBlank": False,
    "includeVars": True,
    "keepTime": True,
}

_ANNOTATION: Final = {
    "name": "Alerts",
    "datasource": SOURCE,
    "enable": True,
    "iconColor": "red",
    "target": {"refId": "Alerts", "expr": ALERTS},
    "titleFormat": "{{alertname}}",
    "textFormat": "{{severity}} {{job}} {{queue}}",
}


def _chosen(name: str, label: str, query: str) -> dict[str, Any]:
    """A variable whose values are those of a label; several may be chosen, at first all."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"refId": name, "query": query},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


_PROCESS_VARIABLES: Final = (
    _chosen("job", "Process", f"label_values({PROCESSES}, job)"),
    _chosen("instance", "Instance", f'label_values({PROCESSES[:-1]},job=~"$job"}}, instance)'),
)


def _typed(name: str, label: str) -> dict[str, Any]:
    return {"name": name, "label": label, "type": "textbox", "query": "0", "current": {"text": "0", "value": "0"}}


def _panels(entries: Sequence[str | Lines | Stat]) -> Iterator[dict[str, Any]]:
    """Headings and panels in reading order, each with its id and its place in the grid."""
    x = y = height = 0
    for number, entry in enumerate(entries, start=1):
        width = COLUMNS if isinstance(entry, str) else entry.width
        if x + width > COLUMNS:
            x, y, height = 0, y + height, 0
        height = max(height, 1 if isinstance(entry, str) else entry.height)
        place = {"h": 1 if isinstance(entry, str) else entry.height, "w": width, "x": x, "y": y}
        yield _heading(number, entry, place) if isinstance(entry, str) else _panel(number, entry, place)
        x += width


def _heading(number: int, title: str, place: dict[str, int]) -> dict[str, Any]:
    return {"id": number, "type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": place}


def _panel(number: int, panel: Lines | Stat, place: dict[str, int]) -> dict[str, Any]:
    is_stat = isinstance(panel, Stat)
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _NUMBERS if is_stat else _LINES,
        "targets": [
            {
                "refId": ref_id,
                "datasource": SOURCE,
                "editorMode": "code",
                "range": not is_stat,
                "instant": is_stat,
                "expr": expr,
                "legendFormat": legend,
            }
            for ref_id, (legend, expr) in zip(ascii_uppercase, panel.queries.items(), strict=False)
        ],
    }


def _defaults(panel: Lines | Stat) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": _steps(panel)}}
    if not panel.low:
        defaults["min"] = 0
    if panel.highest is not None:
        defaults["max"] = panel.highest
    if isinstance(panel, Stat):
        return {**defaults, "color": {"mode": "thresholds"}}
    return {**defaults, "color": {"mode": "palette-classic"}, "custom": _custom(panel)}


def _steps(panel: Lines | Stat) -> list[dict[str, Any]]:
    """Colours from a value upwards; the first begins below all values."""
    limits = [(colour, value) for colour, value in (("yellow", panel.warn), ("red", panel.bad)) if value is not None]
    colours = ["green", *(colour for colour, _ in limits)]
    values = [value for _, value in limits]
    if panel.low:
        colours.reverse()
        values.reverse()
    return [{"color": colour, "value": value} for colour, value in zip(colours, [None, *values], strict=True)]


def _custom(panel: Lines) -> dict[str, Any]:
    has_limit = panel.warn is not None or panel.bad is not None
    return {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 10 if panel.stacked else 0,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        "thresholdsStyle": {"mode": "dashed" if has_limit else "off"},
    }


_NUMBERS: Final = {
    "colorMode": "background",
    "graphMode": "none",
    "justifyMode": "auto",
    "orientation": "auto",
    "percentChangeColorMode": "standard",
    "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    "showPercentChange": False,
    "textMode": "value_and_name",
    "wideLayout": True,
}

_LINES: Final = {
    "legend": {"displayMode": "table", "placement": "bottom", "showLegend": True, "calcs": ["lastNotNull", "max"]},
    "tooltip": {"mode": "multi", "sort": "desc"},
}


if __name__ == "__main__":
    main()
