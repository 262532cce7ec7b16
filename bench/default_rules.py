"""`python -m bench.default_rules > docs/default-rules.md`: the rules that a new tenant starts with."""

from __future__ import annotations

import json
from typing import Final

from bench import arguments
from core.types import Json
from rules.registry import defaults

HEAD: Final = """# Default rules

What a new tenant's events lead to, until somebody edits these rules: `imprint rules show NAME` shows one as JSON, and
[rules.md](rules.md) says how to change it. An upgrade gives every tenant the default rules that it never had; one that
was edited or deleted stays so. This page is made from `rules/defaults/` by
`python -m bench.default_rules > docs/default-rules.md`.

| rule | when | if | then | why |
| --- | --- | --- | --- | --- |
"""

LONGEST: Final = 60
"""Characters of a value or list that the table shows; the rule itself has all of it."""

WHY: Final = {
    "consolidate_on_session_end": "Learns from a whole session when it ends. From three messages on, what is worth "
    "keeping is extracted, judged against what is known, and saved. A `session.ended` without `message_count` gets "
    "that of its session when it is accepted."
}
"""Rules whose file has no description: this one is the example of the contract, word for word."""


def page() -> str:
    """The whole page: a table of all rules, then each with its description."""
    rules = defaults.load()
    texts = [f"\n## {rule['name']}\n\n{_why(rule)}\n" for rule in rules]
    return HEAD + "".join(_row(rule) for rule in rules) + "".join(texts)


def _row(rule: Json) -> str:
    cells = (f"[{rule['name']}](#{rule['name']})", _when(rule), _if(rule), _then(rule), _first_sentence(_why(rule)))
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


def _why(rule: Json) -> str:
    return str(rule.get("description") or WHY[rule["name"]])


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _when(rule: Json) -> str:
    if "schedule" in rule:
        schedule = rule["schedule"]
        when = f"cron `{schedule['cron']}`" if "cron" in schedule else f"every {schedule['every_seconds']} s"
        each = f", for each {schedule['for_each']}" if schedule.get("for_each") else ""
        return (
            when + each + "".join(f", counts {_count(name, count)}" for name, count in rule.get("counts", {}).items())
        )
    types = rule["event_type"] if isinstance(rule["event_type"], list) else [rule["event_type"]]
    return ", ".join(f"`{event_type}`" for event_type in types)


def _count(name: str, count: Json) -> str:
    narrowed = (f"{key.replace('_', ' ')} {value}" for key, value in count.items() if key != "of")
    return f"`{name}` ({', '.join([count['of'], *narrowed])})"


def _if(rule: Json) -> str:
    parts = [_condition(rule["conditions"])] if "conditions" in rule else []
    parts += [f"{name}: {_flow(flow)}" for name, flow in rule.get("flow", {}).items()]
    return "; ".join(parts) or "always"


def _condition(node: Json) -> str:
    if "op" in node:
        if node["op"] == "matches":
            return f"`{node['field']} matches …`"
        value = f" {_short(json.dumps(node['value'], ensure_ascii=False))}" if "value" in node else ""
        return f"`{node['field']} {node['op']}{value}`"
    joints = {"all": " and ", "any": " or ", "none": " or "}
    parts = []
    for key, joint in joints.items():
        if key in node:
            joined = joint.join(_nested(child) for child in node[key])
            parts.append(f"not ({joined})" if key == "none" else joined)
    return " and ".join(parts)


def _nested(node: Json) -> str:
    return _condition(node) if "op" in node else f"({_condition(node)})"


def _flow(flow: Json) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_short(_plain(value))}" for name, value in flow.items())


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _then(rule: Json) -> str:
    return ", ".join(
        f"`{action['target']}`" if action["action_type"] == "run_agent" else action["action_type"]
        for action in rule["actions"]
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def main() -> None:
    arguments.parser(__doc__).parse_args()
    print(page(), end="")


if __name__ == "__main__":
    main()
