"""The rules in force: read them, and put files in force after a look at what would change."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from api.cli.client import AsJson, Client, Refused, connected, err, out, read, show_json
from core.errors import ImprintError
from core.types import Json

commands = typer.Typer(help="The rules in force: read them, change them.", no_args_is_help=True, add_completion=False)

_RANK = {
    name: place
    for place, name in enumerate(
        (
            *("name", "description", "tags", "event_type", "schedule", "for_each"),
            *("conditions", "all", "any", "none", "field", "op", "value", "flow"),
            *("actions", "action_type", "target", "params", "action_mode", "risk_level"),
        )
    )
}

Place = Annotated[Path, typer.Argument(help="A file with a rule or an array of them, or a folder of such files.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; for scripts.")]


class NotRules(ImprintError):
    """The files cannot be put in force as they are; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Step:
    """What applying one rule does: from which version (0: there is none) to which document."""

    name: str
    does: Literal["create", "change", "keep"]
    version: int
    before: Json | None
    after: Json

    def diff(self) -> list[str]:
        """The lines that go and come."""
        old, new = (_lines(document) if document else [] for document in (self.before, self.after))
        title = f"{self.name} v{self.version}" if self.version else "/dev/null"
        return list(difflib.unified_diff(old, new, title, self.name, lineterm=""))

    def as_json(self) -> Json:
        return {"name": self.name, "does": self.does, "version": self.version, "diff": self.diff()}


@commands.command("list")
def list_(as_json: AsJson = False) -> None:
    """All rules in force."""
    items = read("/v1/rules")["items"]
    if as_json:
        show_json(items)
        return
    table = Table("rule", "version", "when", "then", "mode")
    table.columns[0].no_wrap = True
    for column in table.columns[2:]:
        column.overflow = "fold"
    for item in items:
        rule = item["rule"]
        mode = rule.get("action_mode", "auto") if rule.get("enabled", True) else "disabled"
        table.add_row(item["name"], str(item["version"]), escape(_when(rule)), escape(_then(rule)), mode)
    out.print(table)


@commands.command("show")
def show(name: str, as_json: AsJson = False) -> None:
    """One rule in force, as it was saved."""
    item = read(f"/v1/rules/{name}")
    if as_json:
        show_json(item)
        return
    out.print(f"[bold]{escape(item['name'])}[/] version {item['version']}", highlight=False)
    out.print(Syntax("\n".join(_lines(item["rule"])), "json", background_color="default", word_wrap=True))


@commands.command("apply")
def apply(place: Place, yes: Yes = False, as_json: AsJson = False) -> None:
    """Put files in force: shows what would change, asks, and saves. Rules that no file names stay as they are.

    With --json and without --yes it answers the plan and changes nothing.
    """
    with connected() as client:
        plan = _plan(client, list(_documents(place)))
        todo = [step for step in plan if step.does != "keep"]
        if not as_json:
            _show_plan(plan)
        if todo and not yes and not as_json:
            _ask(len(todo))
        applied = [_apply(client, step) for step in todo] if yes or not as_json else []
    if as_json:
        show_json({"plan": [step.as_json() for step in plan], "applied": applied})
    elif applied:
        out.print("In force: " + ", ".join(f"{done['name']} v{done['version']}" for done in applied), highlight=False)


def _plan(client: Client, documents: Sequence[tuple[str, Json]]) -> list[Step]:
    """What would change, after every document was found to be a rule; else all that speaks against any of them."""
    faults = [fault for origin, document in documents for fault in _faults(client, origin, document)]
    names = [document.get("name") for _, document in documents]
    faults += [f"{name}: in more than one place" for name in sorted({str(n) for n in names if names.count(n) > 1})]
    if faults:
        raise NotRules("Nothing was changed:\n" + "\n".join(faults))
    in_force = {item["name"]: item for item in client.get("/v1/rules")["items"]}
    return [_step(document, in_force.get(document["name"])) for _, document in documents]


def _faults(client: Client, origin: str, document: Json) -> Iterator[str]:
    try:
        client.post("/v1/rules/validate", document)
    except Refused as refused:
        if not refused.problems:
            raise
        yield from (f"{origin}{problem.pointer}: {problem.detail}" for problem in refused.problems)


def _step(document: Json, stored: Json | None) -> Step:
    if stored is None:
        return Step(document["name"], "create", 0, None, document)
    does: Literal["keep", "change"] = "keep" if stored["rule"] == document else "change"
    return Step(document["name"], does, stored["version"], stored["rule"], document)


def _apply(client: Client, step: Step) -> Json:
    """Save one rule, if what was shown is still what is in force."""
    saved = client.put(f"/v1/rules/{step.name}", step.after, if_version=step.version)
    return {"name": saved["name"], "version": saved["version"]}


def _documents(place: Path) -> Iterator[tuple[str, Json]]:
    """Each rule with the place it was read from."""
    if not place.exists():
        raise NotRules(f"There is no file or folder {place}.")
    files = sorted(place.glob("*.json")) if place.is_dir() else [place]
    if not files:
        raise NotRules(f"There is no .json file in {place}.")
    for file in files:
        found = _read(file)
        if isinstance(found, list):
            yield from ((f"{file}/{at}", _object(f"{file}/{at}", one)) for at, one in enumerate(found))
        else:
            yield str(file), _object(str(file), found)


def _read(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotRules(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise NotRules(f"{file} is not JSON: {error}.") from None


def _object(origin: str, found: object) -> Json:
    if not isinstance(found, dict):
        raise NotRules(f"{origin} is not a rule: a rule is a JSON object.")
    return found


def _show_plan(plan: Sequence[Step]) -> None:
    for step in plan:
        if step.does != "keep":
            out.print(Syntax("\n".join(step.diff()), "diff", background_color="default", word_wrap=True))
    counts = {does: sum(step.does == does for step in plan) for does in ("create", "change", "keep")}
    said = f"{counts['create']} to create, {counts['change']} to change, {counts['keep']} as they are."
    out.print(said, highlight=False)


def _ask(count: int) -> None:
    """Go on only if a person says so."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("Nobody is here to ask: add --yes to apply the plan, or --json to read it.")
    if not typer.confirm(f"Put {count} {'rule' if count == 1 else 'rules'} in force?"):
        err.print("Nothing was changed.")
        raise typer.Exit(1)


def _when(rule: Json) -> str:
    found = rule.get("event_type") or rule.get("schedule")
    return ", ".join(found) if isinstance(found, list) else str(found)


def _then(rule: Json) -> str:
    return ", ".join(str(action.get("target") or action["action_type"]) for action in rule["actions"])


def _lines(document: Json) -> list[str]:
    return json.dumps(_in_order(document), ensure_ascii=False, indent=2).splitlines()


def _in_order(node: Any) -> Any:
    """The same with its fields in the order in which a rule is read; the database keeps none."""
    if isinstance(node, list):
        return [_in_order(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {name: _in_order(node[name]) for name in sorted(node, key=lambda name: (_RANK.get(name, len(_RANK)), name))}
