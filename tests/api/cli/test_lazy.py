from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import typer
from typer.testing import CliRunner

from api.cli import lazy
from api.cli.lazy import CommandTable, LazyGroup

TABLE: CommandTable = {
    "hello": ("lazy_hello:hello", "Greet somebody."),
    "many": ("lazy_many:commands", "Several commands."),
    "broken": ("lazy_broken:nothing", "Never works."),
}

MODULES = {
    "lazy_hello": "def hello(name: str) -> None:\n    print('Hello,', name)\n",
    "lazy_many": "import typer\ncommands = typer.Typer()\n@commands.command()\ndef one() -> None:\n    print('one')\n",
    "lazy_broken": "raise RuntimeError('it was imported')\n",
}


class Group(LazyGroup):
    table: ClassVar[CommandTable] = TABLE


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[typer.Typer]:
    """A program whose commands are in modules that nobody has imported."""
    for name, code in MODULES.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    app = typer.Typer(cls=Group)
    lazy.add_placeholders(app)
    yield app
    for name in MODULES:
        sys.modules.pop(name, None)


def called(app: typer.Typer, *words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_the_overview_shows_every_command_and_imports_none(app: typer.Typer) -> None:
    shown = called(app, "--help")
    assert shown.exit_code == 0
    assert all(line in shown.output for _, line in TABLE.values())
    assert not MODULES.keys() & sys.modules.keys()


def test_a_command_is_loaded_when_it_is_called_and_no_other_is(app: typer.Typer) -> None:
    assert called(app, "hello", "Ada").output == "Hello, Ada\n"
    assert MODULES.keys() & sys.modules.keys() == {"lazy_hello"}


def test_the_help_of_a_command_without_a_docstring_is_its_line_in_the_overview(app: typer.Typer) -> None:
    assert "Greet somebody." in called(app, "hello", "--help").output


def test_a_group_of_one_command_still_wants_its_name(app: typer.Typer) -> None:
    assert called(app, "many", "one").output == "one\n"
    assert called(app, "many").exit_code != 0


def test_an_unknown_command_imports_nothing(app: typer.Typer) -> None:
    assert called(app, "bye").exit_code == 2
    assert not MODULES.keys() & sys.modules.keys()


def test_what_fails_at_its_import_fails_only_when_it_is_called(app: typer.Typer) -> None:
    assert "it was imported" in str(called(app, "broken").exception)
