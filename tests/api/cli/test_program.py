"""The program itself: what it lists, what it loads, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from sqlalchemy import text

from api.cli.program import COMMANDS
from bench import commands
from core.config import Settings
from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import TENANT
from tests.works import Works
from workers.routing import router

WITHOUT_A_SERVER = [
    *(["up"], ["search", "x", "--user", "a"], ["context", "--user", "a"], ["documents", "list"]),
    *(["rules", "list"], ["memory", "list"], ["session", "list"], ["user", "profile", "a"], ["mirror", "where"]),
    *(["approvals", "list"], ["dead", "list"], ["costs"], ["status"], ["doctor"], ["serve"], ["db", "upgrade"]),
    *(["keys", "list"], ["config", "check"], ["config", "show"], ["backup", "x"], ["restore", "x"]),
]
"""Commands that read the settings before they ask anybody."""

OVERVIEW = """
import contextlib, sys
sys.argv = ["imprint", "--help"]
from api.cli import main
with contextlib.suppress(SystemExit):
    main.main()
heavy = {"sqlalchemy", "fastapi", "openai", "numpy", "httpx", "celery"} & sys.modules.keys()
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""


def test_the_overview_names_every_command_and_loads_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", OVERVIEW], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, (_, line) in COMMANDS.items():
        assert f" {name} " in done.stdout
        assert line.split(",", maxsplit=1)[0].split(";")[0][:40] in done.stdout


HTTP_ONLY = (
    *("publish", "search", "context", "documents", "events", "rules", "memory", "session", "user", "tenant"),
    *("approvals", "dead", "costs", "status"),
)


@pytest.mark.parametrize("name", HTTP_ONLY)
def test_a_command_that_only_talks_http_imports_no_database_and_no_server(name: str) -> None:
    module = COMMANDS[name][0].partition(":")[0]
    heavy = {"sqlalchemy", "psycopg", "numpy", "celery", "kombu", "fastapi", "openai", "cryptography"}
    code = f"import sys, {module}; sys.exit(' '.join({heavy} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there_and_says_how_it_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Imprint(monkeypatch, capsys)(name, "--help")
    assert said.code == 0
    assert f"imprint {name}" in said.out


def test_a_command_that_is_not_there_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Imprint(monkeypatch, capsys)("serach")
    assert said.code == 2
    assert "Did you mean 'search'" in said.err


def test_it_says_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = Imprint(monkeypatch, capsys)("--version")
    assert (said.code, said.out) == (0, f"imprint {metadata.version('imprint-service')}\n")


@pytest.mark.parametrize("words", WITHOUT_A_SERVER)
def test_a_wrong_setting_is_one_sentence_for_every_command(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IMPRINT_CATCH_UP", "sometimes")
    said = Imprint(monkeypatch, capsys)(*words)
    sentence = "IMPRINT_CATCH_UP in the environment is 'sometimes', but should be 'skip', 'once' or 'all'."
    assert said.code == 1
    assert sentence in said.out + said.err
    assert "Traceback" not in said.out + said.err
    if words[0] not in {"doctor", "config"}:
        assert said.err == f"Error: {sentence}\n"


@pytest.mark.parametrize("process", ["router", "worker", "clock"])
def test_a_wrong_setting_is_one_sentence_for_every_process(process: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workers", process],
        env={**os.environ, "IMPRINT_LEASE_SECONDS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "IMPRINT_LEASE_SECONDS in the environment is '0', but should be greater than 0.\n"


@pytest.mark.parametrize(("setting", "kind"), [("EXTRACTOR", "extractors"), ("EMBEDDING", "embedders")])
@pytest.mark.parametrize("words", [["up"], ["serve"], ["config", "check"]])
def test_what_nobody_brings_is_refused_before_anything_starts(
    setting: str,
    kind: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("IMPRINT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(f"IMPRINT_{setting}", "loca")
    monkeypatch.setenv("IMPRINT_METRICS_PORT", "0")
    said = Imprint(monkeypatch, capsys)(*words)
    assert said.code == 1
    assert f"No package here brings {kind} 'loca'." in said.out + said.err
    assert words == ["up"] or not (tmp_path / "home" / "postgres").exists()  # `up` asks its database process first.


def test_a_misspelt_setting_is_warned_of_and_the_command_goes_on(
    imprint: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPRINT_HTP_PORT", "1")
    said = imprint("rules", "list")
    assert said.code == 0
    assert "IMPRINT_HTP_PORT in the environment is no setting; did you mean IMPRINT_HTTP_PORT?" in said.err
    assert imprint("rules", "list", "--json").json["items"]


LISTS = [
    *(
        ["memory", "list"],
        ["memory", "decisions"],
        ["rules", "list"],
        ["rules", "history", "decay"],
        ["rules", "stats"],
    ),
    *(["dead", "list"], ["approvals", "list"], ["documents", "list"], ["session", "list"], ["config", "show"]),
    *(["keys", "list", "--tenant", TENANT], ["costs"]),
]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_every_list_has_one_shape(
    words: list[str], imprint: Imprint, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.database_url
    monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    if words[:2] == ["rules", "history"]:
        words = [*words[:2], imprint("rules", "list", "--json").json["items"][0]["name"]]
    assert isinstance(imprint(*words, "--json").json["items"], list)


def test_a_rule_takes_one_line_of_eighty_columns(imprint: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = imprint("rules", "list").out.splitlines()
    names = [item["name"] for item in imprint("rules", "list", "--json").json["items"]]
    assert [line.split()[0] for line in lines] == names
    assert max(map(len, lines)) <= 80
    assert not any("{" in line for line in lines)


def test_a_rule_is_shown_as_json_that_can_be_applied_again(imprint: Imprint, tmp_path: Path) -> None:
    name = imprint("rules", "list", "--json").json["items"][0]["name"]
    file = tmp_path / f"{name}.json"
    file.write_text(imprint("rules", "show", name).out)
    assert json.loads(file.read_text())["name"] == name
    assert "Nothing to change" in imprint("rules", "apply", str(file)).out


def test_what_does_not_settle_is_named_with_its_reason(imprint: Imprint, app: Database, works: Works) -> None:
    sent = imprint(
        "publish", "--session", "s1", "--user", "ada", "--content", "I live in Turin.", "--settle", "--timeout", "0.3"
    )
    assert sent.code == 1
    assert "Not settled after 0.3 s" in sent.err
    assert "router" in sent.err
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE dispatches SET status = 'retrying', error = 'The model is away.', wake_at = now() + '1 h'")
        )
    again = imprint(
        "publish", "--session", "s1", "--user", "ada", "--content", "I like tea.", "--settle", "--timeout", "0.3"
    )
    assert "is retrying" in again.err
    assert "The model is away." in again.err


LEAVES = [words for words, _ in commands.leaves()]


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_help_has_an_example_that_is_a_command(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = Imprint(monkeypatch, capsys)(*words, "--help")
    assert said.code == 0
    assert "Example" in said.out
    assert f"imprint {' '.join(words)}" in said.out.partition("Example")[2]


WITHOUT_JSON = {"up", "serve", "router", "worker", "clock", "mcp", "hook", "completion"}
"""Processes, protocols of others, and a script for a shell."""


@pytest.mark.parametrize("words", [words for words in LEAVES if words[0] not in WITHOUT_JSON], ids=" ".join)
def test_every_command_answers_in_json_where_it_is_asked_to(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert "--json" in Imprint(monkeypatch, capsys)(*words, "--help").out


def test_the_page_of_all_commands_is_that_of_these_commands() -> None:
    written = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
    assert written == commands.page(), "Run `python -m bench.commands > docs/cli.md`."
