"""A rule on one line: when it acts, and what it does."""

from __future__ import annotations

from api.cli.tables import Column
from core.types import Json

COLUMNS = (
    *(Column("rule", style="bold"), Column(""), Column("mode", style="dim")),
    Column("when and what", flexible=True),
)


PURPOSES = (Column("rule", style="bold"), Column("mode", style="dim"), Column("purpose", flexible=True))


def of_item(item: Json) -> list[str]:
    """Return the cells of a rule as the API lists it."""
    return [item["name"], f"v{item['version']}", _mode(item["rule"]), when_and_what(item["rule"])]


def of_default(document: Json) -> list[str]:
    """Return the cells of a default rule: the first sentence of its description says what it is for."""
    return [document["name"], _mode(document), description(document).partition(". ")[0].removesuffix(".")]


def description(document: Json) -> str:
    """Return the description of a rule; of one without, when it acts and what it does."""
    return str(document.get("description") or when_and_what(document))


def when_and_what(rule: Json) -> str:
    """Return `types or schedule → agents`."""
    return (
        f"{_when(rule)} → {', '.join(str(action.get('target') or action['action_type']) for action in rule['actions'])}"
    )


def _mode(rule: Json) -> str:
    return str(rule.get("action_mode", "auto")) if rule.get("enabled", True) else "disabled"


def _when(rule: Json) -> str:
    event_type = rule.get("event_type")
    if isinstance(event_type, list):
        return event_type[0] if len(event_type) == 1 else f"{len(event_type)} types"
    if event_type:
        return str(event_type)
    schedule = rule["schedule"]
    each = f" for each {schedule['for_each']}" if schedule.get("for_each") else ""
    return (f"cron {schedule['cron']}" if "cron" in schedule else f"every {schedule.get('every_seconds')} s") + each
