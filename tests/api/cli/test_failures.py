"""Every class of refusal: one sentence that names the way out, no class name, no traceback; JSON with --json."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli import failures, ids
from core.config import Settings
from core.storage import short_ids
from core.storage.db import Database
from tests.commands import Imprint, Said
from tests.doors import key_of
from tests.ports import free_port
from tests.samples import TENANT
from tests.servers import Handler, serving

UNKNOWN = "01a201d5-e5cb-7040-9e09-b43e1d5743a6"
CLASS_NAME = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|Traceback|Error\(|<class")
"""CamelCase: no sentence for people holds one, but names of products."""

PRODUCTS = ("PostgreSQL",)


def assert_helpful(said: Said, way_out: str) -> None:
    """It failed, says so in plain words on standard error, and names the next step."""
    shown = " ".join(said.err.replace("│", " ").split())
    assert said.code in {1, 2}
    assert way_out in shown, shown
    for product in PRODUCTS:
        shown = shown.replace(product, "")
    assert not CLASS_NAME.search(shown), shown


MISSING = [
    (["memory", "show", UNKNOWN], "`imprint memory list` prints ids"),
    (["memory", "show", "1d5743a6"], "`imprint memory list` prints ids"),
    (["memory", "why", "1d5743a6"], "`imprint memory list` prints ids"),
    (["memory", "undo", "--change", "1d5743a6"], "`imprint memory decisions` prints ids"),
    (["memory", "unforget", "1d5743a6"], "`imprint memory forgettings` prints ids"),
    (["memory", "rebuild", "--drop", "1d5743a6"], "`imprint memory rebuild --list` prints ids"),
    (["documents", "show", UNKNOWN], "`imprint documents list` prints ids"),
    (["dead", "show", "1d5743a6"], "`imprint dead list`"),
    (["approvals", "approve", "1d5743a6"], "`imprint approvals list`"),
    (["user", "receipt", "1d5743a6"], "`imprint user erase`"),
    (["events", "trace", "nothing"], "`imprint events tail` shows"),
    (["events", "trace", "4711"], "`imprint events tail`"),
    (["session", "show", "nowhere"], "`imprint session list` prints ids"),
    (["rules", "show", "nothing"], "`imprint rules list` lists"),
    (["rules", "defaults", "nothing"], "`imprint rules defaults` lists"),
    (["prompts", "show", "nothing"], "There are: "),
    (["user", "erase", "nobody", "--yes"], "Check the name"),
]


@pytest.mark.parametrize(("words", "way_out"), MISSING, ids=lambda value: " ".join(value)[:40])
def test_what_is_not_there(words: list[str], way_out: str, imprint: Imprint) -> None:
    assert_helpful(imprint(*words), way_out)
    with_json = imprint(*words, "--json")
    assert (with_json.out, way_out in json.loads(with_json.err)["error"]["detail"]) == ("", True)


WRONG = [
    (["memory", "show", "abc"], "last four or more characters"),
    (["memory", "edit", UNKNOWN], "Say what to change: --content"),
    (["memory", "list", "--category", "tea"], "is not one of"),
    (["memory", "list", "--after", "x"], "send the `next` of the previous page"),
    (["memory", "add", "", "--user", "ada"], "at least 1 character"),
    (["memory", "forget"], "Missing argument"),
    (["search", "tea"], "--user, --group"),
    (["context", "--user", "ada", "--model", "nothing"], "Give a limit in tokens"),
    (["publish", "--type", "message.added", "--payload", "{"], "--payload is not JSON"),
    (["publish", "--content", "x"], "needs --session and --user"),
    (["costs", "--by", "tea"], "is not one of rule"),
    (["costs", "--from", "yesterday"], "valid datetime"),
    (["dead", "replay"], "or give --all"),
    (["import", "nowhere.json", "--user", "ada"], "There is no file or folder nowhere.json"),
    (["import", "nowhere.json", "--user", "ada", "--only", "tea"], "use one of imprint"),
    (["bench", "tea"], "parts are accept"),
    (["completion", "tcsh"], "is not one of 'bash', 'zsh', 'fish'"),
    (["serach"], "Did you mean 'search'"),
    (["memory", "lst"], "Did you mean 'list'"),
]


@pytest.mark.parametrize(("words", "way_out"), WRONG, ids=lambda value: " ".join(value)[:40])
def test_what_was_called_wrongly(words: list[str], way_out: str, imprint: Imprint) -> None:
    assert_helpful(imprint(*words), way_out)


FILES = [
    ("{", ["rules", "apply", "FILE"], "not JSON"),
    ('{"name": "x", "evnt_type": "a"}', ["rules", "apply", "FILE"], "unknown field `evnt_type`"),
    ("{", ["rules", "test", "notify_important", "--event", "FILE"], "is not JSON"),
    ("{", ["rules", "backtest", "FILE"], "is not JSON"),
    ("{\n{", ["publish", "FILE"], "line 1: neither JSON nor NDJSON"),
    ('{"event_type": "message.added"}', ["publish", "FILE"], "/0/"),
    ("tea", ["user", "verify-receipt", "FILE"], "must be JSON with `receipt` and `signature`"),
    (b"\xff\xfe", ["documents", "add", "FILE"], "is not UTF-8 text"),
    (b"\xff\xfe", ["rules", "apply", "FILE"], "is not UTF-8 text"),
    (b"\xff\xfe", ["publish", "FILE"], "is not UTF-8"),
    ("", ["prompts", "set", "judge", "FOLDER"], "name a text file"),
    ("", ["publish", "FOLDER/gone"], "cannot be read"),
    ("", ["documents", "add", "FOLDER"], "cannot be read"),
    ("", ["rules", "apply", "FOLDER/gone"], "There is no file or folder"),
    ("", ["user", "export", "ada", "-o", "FOLDER/gone/x.zip"], "Check the path"),
    ("x", ["user", "export", "ada", "-o", "FILE"], "name another file with `-o`"),
    ("x", ["rules", "export", "FILE"], "Check the path"),
    ("x", ["backup", "FOLDER"], "IMPRINT_DATABASE_URL names a PostgreSQL of your own"),
]


@pytest.mark.parametrize(("content", "words", "way_out"), FILES, ids=lambda value: str(value)[:40])
def test_what_a_file_lacks(
    content: str | bytes,
    words: list[str],
    way_out: str,
    imprint: Imprint,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if words[0] == "backup":
        assert settings.database_url
        monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
    file = tmp_path / "given.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    named = [word.replace("FILE", str(file)).replace("FOLDER", str(tmp_path)) for word in words]
    assert_helpful(imprint(*named), way_out)


ENVIRONMENT = [
    ({"IMPRINT_API_KEY": "nobody's"}, ["memory", "list"], "`imprint keys create` creates one"),
    ({"IMPRINT_API_KEY": "kéy"}, ["memory", "list"], "copy it again (IMPRINT_API_KEY)"),
    ({"IMPRINT_URL": "localhost:1"}, ["memory", "list"], "IMPRINT_URL begins with http://"),
    ({"IMPRINT_URL": "http://127.0.0.1:9"}, ["memory", "list"], "Start it with `imprint up`"),
    ({"IMPRINT_URL": "http://127.0.0.1:9"}, ["events", "trace", "7"], "Start it with `imprint up`"),
    ({"IMPRINT_CATCH_UP": "sometimes"}, ["memory", "list"], "should be 'skip', 'once' or 'all'"),
    ({"IMPRINT_DATABASE_URL": "postgresql://x:y@127.0.0.1:9/z"}, ["keys", "list"], "Check IMPRINT_DATABASE_URL"),
    ({"IMPRINT_DATABASE_URL": "nonsense"}, ["keys", "list"], "IMPRINT_DATABASE_URL"),
    ({"IMPRINT_EXTRACTOR": "tea"}, ["up"], "No package here brings extractors 'tea'"),
]


@pytest.mark.parametrize(("variables", "words", "way_out"), ENVIRONMENT, ids=lambda value: str(value)[:50])
def test_what_the_environment_says_wrongly(
    variables: dict[str, str], words: list[str], way_out: str, imprint: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert_helpful(imprint(*words), way_out)


def test_a_key_without_the_scope(imprint: Imprint, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_API_KEY", key_of(settings, TENANT, ("read",)))
    assert_helpful(imprint("memory", "add", "Ada likes tea.", "--user", "ada"), "`imprint keys create --scopes write`")


def test_without_a_key_and_without_a_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("IMPRINT_HOME", str(tmp_path))
    assert_helpful(Imprint(monkeypatch, capsys)("memory", "list"), "set IMPRINT_API_KEY")
    assert_helpful(Imprint(monkeypatch, capsys)("keys", "list"), "start the embedded one with `imprint up`")


def test_ends_that_several_ids_have_are_listed_in_full(imprint: Imprint, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.exec_driver_sql(
            "INSERT INTO documents (tenant_id, id, title, media_type, content, sha256) "
            f"SELECT '{TENANT}', (prefix || 'b43e1d5743a6')::uuid, 't', 'text/plain', 'c', 'x' "
            "FROM unnest(ARRAY['01a201d5-e5cb-7040-9e09-', '01a201d5-e5cb-7041-9e09-']) AS p (prefix)"
        )
    said = imprint("documents", "show", "1d5743a6")
    assert_helpful(said, "give more characters")
    assert UNKNOWN in said.err
    assert imprint("documents", "show", "7040-9e09-b43e1d5743a6").code == 0


@pytest.mark.parametrize("words", [["user", "erase", "ada"], ["session", "delete", "s1"]])
def test_nothing_is_erased_without_a_yes(words: list[str], imprint: Imprint, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.exec_driver_sql(
            "INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at) "
            f"VALUES ('{TENANT}', 's1', 'ada', now(), now())"
        )
    said = imprint(*words)
    assert_helpful(said, "give `--yes`")


class Stranger(Handler):
    """Some other service on the port."""

    def do_GET(self) -> None:
        self.send_response(502)
        self.end_headers()
        self.wfile.write(b"<html>Bad gateway</html>")


@pytest.fixture
def stranger() -> Iterator[str]:
    with serving(Stranger) as url:
        yield url


def test_an_answer_that_is_not_of_this_service(
    stranger: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IMPRINT_URL", stranger)
    monkeypatch.setenv("IMPRINT_API_KEY", "k")
    assert_helpful(Imprint(monkeypatch, capsys)("memory", "list"), "Is it Imprint? Check IMPRINT_URL")


def test_a_port_that_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("IMPRINT_HOME", str(tmp_path))
        monkeypatch.setenv("IMPRINT_HTTP_PORT", str(taken.getsockname()[1]))
        monkeypatch.setenv("IMPRINT_METRICS_PORT", "0")
        assert_helpful(Imprint(monkeypatch, capsys)("up"), "IMPRINT_HTTP_PORT")


def test_ctrl_c_is_no_traceback(imprint: Imprint) -> None:
    assert imprint
    command = [sys.executable, "-m", "api.cli.main", "publish", "--session", "s1", "--user", "ada", "--content", "Hi."]
    with subprocess.Popen(
        [*command, "--settle", "--timeout", "60"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    ) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):  # It waits: there is no router here.
            waiting.wait(4)
        waiting.send_signal(signal.SIGINT)
        assert waiting.stderr
        shown = waiting.stderr.read()
        assert waiting.wait(30) in {1, 130}
    assert "Traceback" not in shown


def test_what_nobody_foresaw_is_a_sentence_and_its_place_is_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    said = failures.sentence(ZeroDivisionError("division by zero"))
    assert said is not None
    assert "division by zero" in said
    assert "IMPRINT_LOG_LEVEL=debug" in said
    monkeypatch.setenv("IMPRINT_LOG_LEVEL", "debug")
    assert failures.sentence(ZeroDivisionError("division by zero")) is None


def test_every_kind_of_id_that_the_service_resolves_is_known_here() -> None:
    assert set(short_ids.KINDS) == set(ids.Kind.__args__)  # type: ignore[attr-defined]
    assert set(short_ids.KINDS) <= ids._LISTS.keys()
    assert (short_ids.SHORTEST, ids.SHORT) == (ids.LEAST, 8)


def test_a_port_nobody_listens_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("IMPRINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("IMPRINT_API_KEY", "k")
    said = Imprint(monkeypatch, capsys)("status", "--json")
    assert "imprint up" in json.loads(said.err)["error"]["detail"]
