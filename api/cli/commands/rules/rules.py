"""`imprint rules`: show, test and import rules."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.syntax import Syntax
from rich.tree import Tree

from api.cli import completion, condition_view, confirming, file_input, lazy, tables
from api.cli.client import (
    AsJson,
    Client,
    Refused,
    call,
    finish_if_json,
    moment,
    open_client,
    read,
    show_json,
)
from api.cli.commands.rules import rule_lines
from api.cli.commands.rules.backtest import backtest
from api.cli.tables import Column
from api.terminal import err, escape, json_escaped, out, say
from core.errors import ImprintError
from core.types import Json
from rules.document import formatting
from rules.problems import escape_step

commands = lazy.group(
    "The rules in force: show and change them.",
    {
        "defaults": (
            "api.cli.commands.rules.default_rules:list_defaults",
            "Show the rules that a new tenant has, or describe one.",
        )
    },
)
lazy.add_placeholders(commands)
commands.command("backtest")(backtest)

Place = Annotated[Path, typer.Argument(help="A file with a rule or a list of them, or a folder of such files.")]
Name = Annotated[str, typer.Argument(help="Name as printed by `imprint rules list`.", autocompletion=completion.rules)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Prune = Annotated[bool, typer.Option("--prune", help="Delete rules that no file contains.")]
Comment = Annotated[str | None, typer.Option("--comment", "-m", help="Reason, stored in the rule's history.")]
Event = Annotated[str | None, typer.Option("--event", "-e", help="A file with an event as JSON; - for standard input.")]


class NotRules(ImprintError, kind="Refused"):
    """The files cannot be put in force as they are; nothing was changed."""


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


@commands.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the rules in force, one per line.

    Example: imprint rules list
    """
    with open_client() as client:
        items = list(client.items("/v1/rules"))
    finish_if_json(as_json, {"items": items, "next": None})
    tables.rows(rule_lines.COLUMNS, map(rule_lines.of_item, items))


@commands.command("show")
def show(name: Name, as_json: AsJson = False) -> None:
    """Print a rule in force in canonical form: JSON that can be saved and applied again.

    Example: imprint rules show forget_nightly
    """
    item = finish_if_json(as_json, read(f"/v1/rules/{quote(name, safe='')}"))
    err.print(f"[dim]{escape(item['name'])}, version {item['version']}[/]", highlight=False)
    written = json_escaped(formatting.canonical_text(item["rule"]))
    colours = Syntax("", "json", background_color="default")
    # Wrapped by the terminal and not here: a line that is broken is no JSON any more.
    out.print(colours.highlight(written), soft_wrap=True, end="")


@commands.command("export")
def export(
    place: Annotated[Path, typer.Argument(help="The folder; created if missing.")], as_json: AsJson = False
) -> None:
    """Write all rules in force to a folder, one file each; other files there are left alone.

    Example: imprint rules export ./rules
    """
    files = read("/v1/rules/export")["files"]
    place.mkdir(parents=True, exist_ok=True)
    for name, written in files.items():
        (place / name).write_text(written, encoding="utf-8", newline="\n")
    finish_if_json(as_json, {"path": str(place), "files": sorted(files)})
    err.print(f"Wrote {len(files)} rules to {place}.", highlight=False)


@commands.command("apply")
def apply(
    place: Place, yes: Yes = False, prune: Prune = False, comment: Comment = None, as_json: AsJson = False
) -> None:
    """Put the rules in files in force, all or none: shows the changes, asks, and saves. Other rules are left alone.

    With --json and without --yes it prints the plan and changes nothing.

    Example: imprint rules apply ./rules --comment "quieter nights"
    """
    files = _files(place)
    request = {"files": {name: written for name, (_, written) in files.items()}, "prune": prune, "comment": comment}
    with open_client() as client:
        answer = _import(client, files, request | {"dry_run": True})
        todo = [step for step in answer["plan"] if step["does"] != "keep"]
        if not as_json:
            _show_plan(answer["plan"])
        if todo and not yes and not as_json:
            _ask(f"Put this in force ({len(todo)} {_rules(len(todo))})?")
        if todo and (yes or not as_json):
            versions = {step["name"]: step["version"] for step in answer["plan"]}
            answer = _import(client, files, request | {"expect": versions})
    if as_json:
        show_json(answer)
    elif todo:
        _show_applied(todo, answer["applied"])


@commands.command("test")
def try_out(
    rule: Annotated[str, typer.Argument(help="A rule in force, or a file with one.", autocompletion=completion.rules)],
    event: Event = None,
    as_json: AsJson = False,
) -> None:
    """Test a rule on an event: each condition with its actual value, and the actions.

    Nothing is executed. An alarm is tested on what it counts now, unless there is an event.

    Example: imprint rules test notify_important --event event.json
    """
    on = {} if event is None else {"event": _happened(event)}
    file = Path(rule)
    draft = {"rule": _object(rule, file_input.read_json(file))} if file.is_file() else {"names": [rule]}
    with open_client() as client:
        try:
            answer = client.post("/v1/rules/test", {**draft, **on})
        except Refused as refused:
            raise _with_files(refused, {"/rule": rule, "/event": event or "--event"}, "Nothing was tried:") from None
    result = answer[0] if isinstance(answer, list) else answer
    finish_if_json(as_json, result)
    out.print(_trial_tree(result))
    _show_warnings(result | {"name": result["rule"]})


def _happened(event: str) -> Json:
    happened = _object(event, file_input.read_json(Path(event)))
    return {"source": "imprint rules test", **happened}


@commands.command("run")
def run(
    name: Name,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Run for this user only, if the rule runs for each user.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scheduled rule now; its schedule is unchanged.

    Example: imprint rules run forget_nightly
    """
    emitted: list[Json] = []
    body: Json = {} if user is None else {"user_id": user}
    with open_client() as client:
        while True:
            answer = client.post(f"/v1/rules/{name}/run", body)
            emitted += answer["events"]
            if answer["next"] is None:
                break
            body = {"after": answer["next"]}
    finish_if_json(as_json, answer | {"events": emitted})
    several = f"{len(emitted)} events" if len(emitted) != 1 else "1 event"
    out.print(f"{name} v{answer['version']} runs: {several} emitted.", highlight=False)
    if emitted:
        say(f"imprint events trace {emitted[0]['id']}")


@commands.command("history")
def history(name: Name, limit: int = 20, as_json: AsJson = False) -> None:
    """Show the versions of a rule, newest first: author, time, reason and diff.

    Example: imprint rules history forget_nightly
    """
    answer = finish_if_json(as_json, read(f"/v1/rules/{name}/versions", limit=limit))
    items = answer["items"]
    for item in items:
        comment = f": {item['comment']}" if item["comment"] else ""
        line = f"[bold]v{item['version']}[/] {moment(item['at'])} {escape(item['author_name'])}{escape(comment)}"
        say(line)
        _show_diff(item["diff"])


@commands.command("rollback")
def rollback(name: Name, version: int, yes: Yes = False, comment: Comment = None, as_json: AsJson = False) -> None:
    """Roll back a rule to an earlier version, saved as a new one; shows the difference and asks.

    Example: imprint rules rollback forget_nightly 3
    """
    with open_client() as client:
        newest = client.get(f"/v1/rules/{name}/versions", limit=1)["items"][0]
        versions = client.get(f"/v1/rules/{name}/versions", after=version + 1, limit=1)["items"]
        if not versions or versions[0]["version"] != version or versions[0]["rule"] is None:
            raise NotRules(f"There is no version {version} of {name} to go back to; `imprint rules history {name}`.")
        difference = formatting.diff(
            newest["rule"], versions[0]["rule"], f"{name} v{newest['version']}", f"{name} v{version}"
        )
        if not difference:
            finish_if_json(as_json, newest)
            out.print("Nothing to change.")
            return
        if not as_json:
            _show_diff(difference)
        if not yes:
            _ask(f"Put version {version} of {name} in force again?")
        body = {"version": version, "comment": comment}
        in_force = newest["version"] if newest["rule"] is not None else 0
        saved = client.post(f"/v1/rules/{name}/rollback", body, if_version=in_force)
    finish_if_json(as_json, saved)
    out.print(f"In force: {saved['name']} v{saved['version']}", highlight=False)
    _show_warnings(saved)


@commands.command("stats")
def stats(
    name: Annotated[str | None, typer.Argument(help="One rule; default: all.", autocompletion=completion.rules)] = None,
    as_json: AsJson = False,
) -> None:
    """Show statistics and cost of rules; rules of one group are shown side by side.

    Example: imprint rules stats forget_nightly
    """
    with open_client() as client:
        names = [name] if name else [item["name"] for item in client.items("/v1/rules")]
        rule_stats = [client.get(f"/v1/rules/{rule}/stats") for rule in names]
    finish_if_json(as_json, rule_stats[0] if name else {"items": rule_stats, "next": None})
    if name:
        _show_beside([*rule_stats, *rule_stats[0]["beside"]])
    else:
        _show_overview(rule_stats)


@commands.command("allow-high-risk")
def allow_high_risk(switch: Switch, as_json: AsJson = False) -> None:
    """Allow high-risk rules of this tenant to run without approval (on), or not (off).

    Example: imprint rules allow-high-risk off
    """
    answer = finish_if_json(as_json, call("patch", "/v1/tenant", {"allow_high_risk": switch is Switch.ON}))
    permission = "may run without approval" if answer["allow_high_risk"] else "never run without approval"
    err.print(f"Rules of high risk {permission} in the tenant {answer['id']}.", highlight=False)


Files = Mapping[str, tuple[Path, str]]
"""Files to import: by the name sent to the server, the path and the content."""


def _files(path: Path) -> Files:
    if not path.exists():
        raise NotRules(f"There is no file or folder {path}.")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise NotRules(f"There is no .json file in {path}.")
    return {file.name: (file, file_input.read(file)) for file in files}


def _import(client: Client, files: Files, body: Json) -> Any:
    """Return the server's answer; its errors refer to local files."""
    try:
        return client.post("/v1/rules/import", body)
    except Refused as refused:
        parts = {f"/files/{escape_step(name)}": str(file) for name, (file, _) in files.items()}
        raise _with_files(refused, parts, "Nothing was changed:") from None


def _with_files(refused: Refused, files: Mapping[str, str], heading: str) -> ImprintError:
    """Return the error with file names instead of pointers into the request."""
    if not refused.problems:
        return refused
    lines = []
    for problem in refused.problems:
        part = next((part for part in files if f"{problem.pointer}/".startswith(f"{part}/")), "")
        location = f"{files.get(part, '')}{problem.pointer.removeprefix(part)}"
        lines.append(f"{location or '/'}: {problem.detail}")
    return NotRules("\n".join([heading, *lines]))


def _object(origin: str, value: object) -> Json:
    if not isinstance(value, dict):
        raise NotRules(f"{origin} does not contain a JSON object.")
    return value


def _show_plan(plan: Sequence[Json]) -> None:
    for step in plan:
        if step["does"] != "keep":
            _show_diff(step["diff"])
        _show_warnings(step)
    counts = {does: sum(step["does"] == does for step in plan) for does in ("create", "change", "delete", "keep")}
    if counts["keep"] == len(plan):
        out.print(f"Nothing to change: {len(plan)} {_rules(len(plan))} as they are.", highlight=False)
        return
    summary = ", ".join(f"{count} to {does}" for does, count in counts.items() if does != "keep")
    out.print(f"{summary}, {counts['keep']} as they are.", highlight=False)


def _show_diff(difference: str) -> None:
    if difference:
        out.print(Syntax(difference.rstrip("\n"), "diff", background_color="default", word_wrap=True))


def _show_warnings(answer: Json) -> None:
    for warning in answer.get("warnings", ()):
        warning_line = f"{answer['name']} {warning['pointer'] or '/'}: {warning['detail']}"
        say(f"[yellow]Warning[/] {escape(warning_line)}", err)


def _show_applied(todo: Sequence[Json], applied: Sequence[Json]) -> None:
    if applied:
        out.print("In force: " + ", ".join(f"{done['name']} v{done['version']}" for done in applied), highlight=False)
    deleted = [step["name"] for step in todo if step["does"] == "delete"]
    if deleted:
        out.print("Deleted: " + ", ".join(deleted), highlight=False)


def _trial_tree(trial: Json) -> Tree:
    verdict = "[green]matches[/]" if trial["matched"] else "[red]does not match[/]"
    held = f", held back by [yellow]{trial['held_by']}[/]" if trial["held_by"] else ""
    tree = Tree(f"[bold]{escape(trial['rule'])}[/] {verdict}{held}")
    if trial["tree"] is None:
        tree.add("no conditions: always" if trial["matched"] else "the type of the event is another one")
    else:
        condition_view.add(tree, trial["tree"])
    for flow, key in trial["keys"].items():
        tree.add(f"[dim]{flow} for the key[/] {escape(key or 'of the tenant')}")
    for action in trial["actions"]:
        tree.add(f"[cyan]→[/] {escape(json.dumps(action, ensure_ascii=False))}")
    return tree


def _figures(rule_stats: Json) -> dict[str, str]:
    ended = {
        status: sum(d["count"] for d in rule_stats["dispatches"] if d["status"] == status)
        for status in ("done", "dead")
    }
    mean, p95 = (
        f"{s:.2f}" if s is not None else "–" for s in (rule_stats["run_seconds_mean"], rule_stats["run_seconds_p95"])
    )
    return {
        "matched": str(rule_stats["matched"]),
        "fired": str(rule_stats["fired"]),
        "gathered": str(rule_stats["gathered"]),
        "held": ", ".join(f"{count} {reason}" for reason, count in rule_stats["held"].items()) or "0",
        "done": str(ended["done"]),
        "dead": str(ended["dead"]),
        "seconds, mean": mean,
        "seconds, p95": p95,
        "tokens": str(rule_stats["tokens"]),
        "cost": f"{rule_stats['cost']:.4f}",
        "memories": f"{rule_stats['memories_added']} added, {rule_stats['memories_changed']} changed",
        "users": str(rule_stats["users"]),
        "last acted": moment(rule_stats["last_acted_at"]),
    }


_SHORT = ("matched", "fired", "done", "dead", "tokens", "cost")


def _show_overview(rule_stats: Sequence[Json]) -> None:
    columns = [Column("rule"), *(Column(name, right=True) for name in _SHORT)]
    figures = [(item["rule"], _figures(item)) for item in rule_stats]
    tables.rows(columns, ([rule, *(of[name] for name in _SHORT)] for rule, of in figures), headings=True)


def _show_beside(rule_stats: Sequence[Json]) -> None:
    """Print one column per rule, to compare the figures of two policies."""
    figures = [_figures(item) for item in rule_stats]
    columns = [Column(""), *(Column(item["rule"]) for item in rule_stats)]
    tables.rows(columns, ([name, *(of[name] for of in figures)] for name in figures[0]), headings=True)


def _rules(count: int) -> str:
    return "rule" if count == 1 else "rules"


def _ask(question: str) -> None:
    """Ask a person. Without a terminal the command is incomplete: a script has to say that it means it."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("There is no terminal to ask for confirmation: add --yes.")
    confirming.ask(question, "Nothing was changed.")
