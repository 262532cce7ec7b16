"""The plan of the house: which way imports run, how long functions are, and that what there is stands in the manual."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer
from fastapi.routing import APIRoute
from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase
from starlette.routing import Match

from api.app import ROUTERS
from api.cli import lazy, program
from bench import event_types, rooms
from bench import metrics as metrics_table
from bench import settings as settings_table
from core import metrics
from core.events import parsing
from core.events.descriptions import DESCRIPTIONS
from core.events.reserved import EMITTED
from rules.document import schema
from rules.document.targets import TARGETS
from rules.expressions.operators import OPERATORS
from rules.expressions.paths import EVENT_FIELDS, LOOKED_UP
from rules.flow import flow_rows
from rules.flow.stages import STAGES
from tests.house.sources import FUNCTIONS, functions, sources
from workers.agents import table

LONGEST = 60


def test_imports_run_one_way(root: Path) -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


WITHOUT_A_TEST_OF_ITS_OWN = {
    "core/language/*/tables/*": "words and patterns; the readers that use them are tested",
    "core/language/*/slots": "patterns; the extractor reads labelled sentences by them",
    "core/language/common_words": "words",
    "core/language/*/*": "words and patterns; the readers that use them are tested",
    "core/language/language": "types without behaviour",
    "core/language/parts": "types without behaviour",
    "core/language/lexicon": "words; the comparison of statements that uses them is tested",
    "core/screening/injection_phrases": "patterns; the screen that uses them is tested",
    "core/storage/tables": "columns; the schema that is made of them is tested",
    "core/settings/secret_names": "two constants",
    "core/types": "types without behaviour",
    "core/memory/changes": "types without behaviour",
    "api/http/routes": "a list; every route is tested",
    "api/http/*/answers": "types; each answer in a test is compared with them (tests/declared.py)",
    "api/compat/answers": "types; each answer in a test is compared with them (tests/declared.py)",
    "api/cli/serve": "entry point, run by the tests of the stack",
    "imprint/plugins": "re-exports; the example package is tested against them",
    "api/stack/launch": "entry point, run by the tests of the stack",
    "workers/__main__": "entry point, run by the tests of the stack",
    "workers/app": "wiring of Celery",
    "workers/beat": "wiring of Celery",
    "workers/wiring": "wiring",
}
"""Modules that need no test of their name, with the reason."""

SHARE_WITH_A_TEST = 90
"""Percent of all other modules that have one. Raise it with every module that gets its test."""


def test_modules_have_a_test_at_their_place(root: Path) -> None:
    """`core/memory/writer.py` is tested by `tests/core/memory/test_writer.py`."""
    modules = [Path(path) for path, _, _ in sources(root) if "migrations" not in path]
    named = [path for path in modules if path.name != "__init__.py" and not is_exempt(path)]
    without = [path for path in named if not (root / "tests" / path.with_name(f"test_{path.name}")).exists()]
    share = 100 * (len(named) - len(without)) // len(named)
    assert share >= SHARE_WITH_A_TEST, "\n".join(map(str, without))


def is_exempt(module: Path) -> bool:
    return any(fnmatch(str(module.with_suffix("")), pattern) for pattern in WITHOUT_A_TEST_OF_ITS_OWN)


def test_every_exemption_is_for_a_module_that_has_no_test(root: Path) -> None:
    modules = [Path(path) for path, _, _ in sources(root)]
    without = [one for one in modules if not (root / "tests" / one.with_name(f"test_{one.name}")).exists()]
    names = [str(one.with_suffix("")) for one in without]
    assert [one for one in WITHOUT_A_TEST_OF_ITS_OWN if not any(fnmatch(name, one) for name in names)] == []


def test_no_test_imports_from_a_module_of_tests(root: Path) -> None:
    """Builders that several tests share are in modules of their own, such as `tests/factories.py`."""
    imports = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
    assert imports.search("from tests.core.memory.test_writer import a_candidate")
    found = [path for path in (root / "tests").rglob("*.py") if imports.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(root)) for path in found] == []


def test_no_function_is_long_without_a_reason_beside_it(root: Path) -> None:
    long = []
    for path, written, tree in sources(root):
        lines = written.splitlines()
        for node in functions(tree):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST and "#" not in lines[node.lineno - 1]:
                long.append(f"{path}:{node.lineno} {node.name}: {length} lines")
    assert long == []


def test_nothing_is_imported_inside_a_function(root: Path) -> None:
    hidden = [
        f"{path}:{inner.lineno}"
        for path, _, tree in sources(root)
        for node in functions(tree)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


def test_no_module_has_a_name_that_says_nothing(root: Path) -> None:
    empty = {"utils", "util", "helpers", "helper", "manager", "managers", "misc", "common", "base"}
    assert [path for path, _, _ in sources(root) if Path(path).stem in empty] == []


def test_nothing_is_left_to_do(root: Path) -> None:
    marks = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b|\bNotImplementedError\b")
    assert [path for path, written, _ in sources(root) if marks.search(written)] == []


def test_the_table_of_rooms_is_that_of_the_folders(root: Path) -> None:
    packages = ("api", "workers", "rules", "core")
    folders = {
        f"{file.parents[1].name}/{file.parent.name}" for name in packages for file in root.glob(f"{name}/*/__init__.py")
    }
    assert set(rooms.FIRST) == folders
    written = (root / "docs" / "rooms.md").read_text(encoding="utf-8")
    assert written == rooms.page(), "Run `python -m bench.rooms > docs/rooms.md`."


def test_every_public_module_says_what_it_is(root: Path) -> None:
    assert [path for path, _, tree in sources(root) if ast.get_docstring(tree) is None] == []


def test_the_table_of_settings_is_the_class(root: Path) -> None:
    written = (root / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == settings_table.table(), "Run `python -m bench.settings > docs/settings.md`."


def test_no_setting_is_read_around_the_class(root: Path) -> None:
    """Variables of the environment that begin with IMPRINT_ are read by Settings alone."""
    read = re.compile(r"""(?:getenv\(|environ(?:\.get)?[\[(])\s*["']IMPRINT_""")
    assert [path for path, written, _ in sources(root) if read.search(written)] == []


def test_every_setting_is_used(root: Path) -> None:
    written = "\n".join(text for path, text, _ in sources(root) if path != "core/config.py")
    unused = [name for name in settings_table.Settings.model_fields if not re.search(rf"\.{name}\b", written)]
    assert unused == []


def names_of_metrics() -> list[str]:
    found = [value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase)]
    described: list[Metric] = [one for value in found for one in value.describe()]
    return [one.name + ("_total" if one.type == "counter" else "") for one in described]


def test_the_table_of_metrics_is_the_module(root: Path) -> None:
    written = (root / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert written == metrics_table.page(), "Run `python -m bench.metrics > docs/metrics.md`."


@pytest.mark.parametrize("name", names_of_metrics())
def test_every_metric_is_in_the_manual(name: str) -> None:
    assert f"| `{name}`" in metrics_table.page()


def emitted(root: Path) -> set[str]:
    """The types of event that the code names where it emits one."""
    found = {kind for follows in TARGETS.values() for kind in follows} | set(EMITTED)
    for _, _, tree in sources(root):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in {"Emission", "Announcement", "about"}:
                found |= {a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found


def table_rows(root: Path) -> dict[str, str]:
    """The lines of the tables of events and agents by what stands first; those of clients for what they publish too."""
    pages = [(root / "docs" / name).read_text(encoding="utf-8") for name in ("event-types.md", "events.md")]
    lines = "".join(pages).splitlines()
    return {found[1]: line for line in lines if (found := re.match(r"\| `([a-z_.]+)` \|", line))}


def test_the_table_of_event_types_is_that_of_their_descriptions(root: Path) -> None:
    written = (root / "docs" / "event-types.md").read_text(encoding="utf-8")
    assert written == event_types.page(), "Run `python -m bench.event_types > docs/event-types.md`."


@pytest.mark.parametrize("name", EMITTED)
def test_every_field_of_an_event_is_in_its_description(name: str) -> None:
    assert [field for field in EMITTED[name] if f"`{field}`" not in DESCRIPTIONS[name].payload] == []


def test_every_event_and_agent_is_in_the_manual_and_nothing_else(root: Path) -> None:
    there = {*parsing.PAYLOADS, *emitted(root), *table.AGENTS}
    assert set(table_rows(root)) == there
    assert "dispatch.dead" in emitted(root)


@pytest.mark.parametrize("name", parsing.PAYLOADS)
def test_every_checked_field_of_a_payload_is_in_the_manual(root: Path, name: str) -> None:
    row = table_rows(root)[name]
    fields = parsing.PAYLOADS[name].model_fields
    assert [field for field in fields if f"`{field}`" not in row] == []
    needed = row.split(" | ")[1]
    assert [field for field, is_ in fields.items() if is_.is_required() and f"`{field}`" not in needed] == []


@pytest.mark.parametrize("name", table.AGENTS)
def test_what_follows_from_an_agent_is_in_the_manual(root: Path, name: str) -> None:
    row = table_rows(root)[name]
    assert f"| {table.AGENTS[name].queue}" in row
    assert "the same" in row or [kind for kind in TARGETS.get(name, ()) if f"`{kind}`" not in row] == []


@pytest.fixture
def rules_page(root: Path) -> str:
    """The manual of the rules."""
    return (root / "docs" / "rules.md").read_text(encoding="utf-8")


FIELDS = sorted({name for part in schema.FIELDS.values() for name in part})


@pytest.mark.parametrize("name", [*OPERATORS, *LOOKED_UP, *EVENT_FIELDS, *FIELDS])
def test_every_operator_and_field_of_a_rule_is_in_its_manual(rules_page: str, name: str) -> None:
    assert re.search(rf'[`"]{re.escape(name)}[`"]', rules_page) or re.search(
        rf"[{{ ]{re.escape(name)}[,}}]", rules_page
    )


def reasons(root: Path) -> set[str]:
    """What the rules say holds a rule back, and what the stages of its flow say."""
    tree = ast.parse((root / "rules" / "engine" / "ruleset.py").read_text(encoding="utf-8"))
    given = [one for one in functions(tree) if one.name in {"holds", "_idle"}]
    returned = [node for one in given for node in ast.walk(one) if isinstance(node, ast.Return) and node.value]
    said = {
        part.value
        for node in returned
        for part in ([node.value.body] if isinstance(node.value, ast.IfExp) else [node.value])
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    return {*said, *STAGES, flow_rows.GONE}


def test_every_reason_of_a_decision_is_in_the_manual_and_nothing_else(root: Path, rules_page: str) -> None:
    rows = re.findall(r"^\| `(?:held|gathered)` \| (.+?) \|", rules_page, re.MULTILINE)
    assert set(re.findall(r"`([a-z]+)`", " ".join(rows))) == reasons(root)
    assert len(reasons(root)) > len(STAGES) + 3


def test_every_setting_that_the_manual_names_is_one(rules_page: str) -> None:
    named = {name.lower() for name in re.findall(r"IMPRINT_([A-Z_]+)", rules_page)}
    assert named <= set(settings_table.Settings.model_fields)


DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "README.md",
    *(str(path.relative_to(DOCS.parent)) for path in sorted([*DOCS.glob("*.md"), *DOCS.glob("runbooks/*.md")])),
)


def code(page: str) -> str:
    """The lines of a page's blocks of code in which people type, those that go on in the next line joined to it."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return "".join(block for kind, block in found if kind in {"", "sh"}).replace("\\\n", " ")


AN_ID = "01a201d5-e5cb-7040-9e09-b43e1d5743a6"
"""Stands for the ids that a page leaves out; a command takes whole ones only."""


def command_lines(page: str) -> list[str]:
    """The `imprint …` lines of a page: in its blocks of code, and within its sentences."""
    typed = re.findall(r"^imprint [a-z].*", code(page), re.MULTILINE)
    typed += re.findall(r"(?<!`)`(imprint [a-z][^`]*)`", page)
    return [re.sub(r"\bID\b|\b01a2…", AN_ID, line) for line in typed]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_of_a_page_can_be_typed(root: Path, page: str) -> None:
    wrong = [f"{line}: {said}" for line in command_lines((root / page).read_text("utf-8")) if (said := refusal(line))]
    assert wrong == []


def refusal(line: str) -> str | None:
    """What the command says against a line, without carrying it out; its bare name is always right."""
    _, name, *rest = shlex.split(line, comments=True)
    if name not in program.COMMANDS:
        return "no such command"
    command = lazy._command(*program.COMMANDS[name])
    if rest and hasattr(command, "commands"):
        name, *rest = rest
        if name not in command.commands:
            return "no such command"
        _, command, _ = command.resolve_command(command.context_class(command), [name])
    if not rest:
        return None
    try:
        command.make_context(name, rest)
    except typer.TyperException as error:
        return str(error)
    return None


def requests_of(page: str) -> set[tuple[str, str]]:
    """Method and path of every request that a page shows: with curl, or as `GET /v1/…`."""
    found = set(re.findall(r"\b(GET|POST|PUT|PATCH|DELETE) +(/v1/[^\s`?]*)", page))
    for line, path in re.findall(r"^(curl .*?localhost:8070(/v1/[^\s'?]*).*)", code(page), re.MULTILINE):
        method = re.search(r"-X (\w+)", line)
        found.add((method[1] if method else "POST" if " -d " in line else "GET", path))
    return found


def is_served(method: str, path: str) -> bool:
    asked = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return any(route.matches(asked)[0] is Match.FULL for route in routes)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_every_request_that_a_page_shows_is_served(root: Path, page: str) -> None:
    asked = requests_of((root / page).read_text(encoding="utf-8"))
    assert [one for one in sorted(asked) if not is_served(*one)] == []
    assert not is_served("POST", "/v1/rules/a/nothing")


def anchors(page: str) -> set[str]:
    """The addresses of a page's headings, as they are made on the web."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_within_the_project_leads_somewhere(root: Path, page: str) -> None:
    here = root / page
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", here.read_text(encoding="utf-8"))
    lost = []
    for path, anchor in links:
        there = here.parent / path if path else here
        if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
            lost.append(f"{path}#{anchor}")
    assert lost == []


NAMED = re.compile(r"\[`(?P<name>[A-Za-z_]+)`\]\(\.\./(?P<path>[\w/]+\.py)\)")


@pytest.mark.parametrize("page", ["architecture", "contributing"])
def test_a_function_that_a_page_links_is_defined_in_that_file(root: Path, page: str) -> None:
    written = (root / "docs" / f"{page}.md").read_text(encoding="utf-8")
    missing = []
    for link in NAMED.finditer(written):
        tree = ast.parse((root / link["path"]).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS | ast.ClassDef)}
        defined |= {
            name.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for name in node.targets
            if isinstance(name, ast.Name)
        }
        if link["name"] not in defined | {Path(link["path"]).stem}:
            missing.append(f"{link['name']} in {link['path']}")
    assert missing == []


def test_the_picture_of_the_rooms_is_that_of_the_imports(root: Path) -> None:
    command = [sys.executable, str(root / "docs" / "pictures" / "rooms.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
