"""No stored text moves the cursor, sets the title, writes the clipboard or reorders what is read on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.terminal import as_json, visible
from core.config import Settings
from core.storage.db import Database
from rules.registry import store
from rules.registry.limits import Allowed
from tests.commands import Imprint, served
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, ended, event, said
from tests.works import Works

HOSTILE = (
    "\x1b]0;pwned\x07\x1b[2J\x1b]8;;http://evil.example\x1b\\click\x9b31m\x9d52;c;aGk=\x07\u202egnp.exe\u2066\r\x08\x7f"
)
NAME = "n\x9b31m\u202egnp.exe"
"""Names may hold no C0."""

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
RICH = re.compile(r"\x1b\[[0-9;]*m|\r?\x1b\[2K|\x1b\[1A|\x1b\[\?25[lh]|\r(?=\n|\x1b\[)")
"""What rich writes itself (colours, and the lines of a bar in progress), and nothing else may."""


ACTION = {"action_type": "notify", "channel": "log", "template": f"Total: {HOSTILE} {{{{payload.total}}}}"}


@pytest.fixture
def imprint(
    settings: Settings,
    app: Database,
    works: Works,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Imprint]:
    """The commands, with hostile text wherever a caller may put it."""
    described = {"name": "shown", "description": f"cheese {HOSTILE}", "event_type": "order.placed", "actions": [ACTION]}
    held = {**described, "name": "held", "action_mode": "approve"}
    with app.tenant(TENANT) as tx:
        for one in (described, held):
            store.save(tx, TENANT, a_document(**one), author=f"key:{HOSTILE}", allowed=Allowed())
    accept(app, said(f"I like cheese {HOSTILE} very much.", speaker="Ada"), ended(message_count=3))
    accept(app, event(payload={"total": HOSTILE, "user_id": "ada", "content": HOSTILE}, id="hostile", subject=NAME))
    works.settle()
    assert settings.database_url
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        monkeypatch.setenv("IMPRINT_DATABASE_URL", settings.database_url.get_secret_value())
        monkeypatch.setenv("COLUMNS", "200")
        yield Imprint(monkeypatch, capsys)


@pytest.fixture
def reading(imprint: Imprint) -> list[list[str]]:
    """Every command that shows stored text."""
    given = ("documents", "add", "-", "--user", "ada", "--title", f"T{NAME}", "--json")
    document = imprint(*given, stdin=f"# Cheese {HOSTILE}\n\nAll about cheese. {HOSTILE}").json["items"][0]["id"]
    made = imprint("memory", "add", f"Ada likes cheese {HOSTILE} best.", "--user", "ada", "--json").json
    memory = made["memory"]["id"]
    imprint("keys", "create", "--tenant", TENANT, "--name", f"K{NAME}")
    return [
        ["search", "cheese", "--user", "ada", "--explain"],
        ["search", "cheese", "--user", "ada", "--group-by", "session"],
        ["context", "cheese", "--user", "ada", "--why"],
        ["context", "cheese", "--user", "ada", "--session", "s1", "--format", "messages"],
        ["documents", "list"],
        ["documents", "show", document],
        ["documents", "show", document, "--passages"],
        ["events", "trace", "hostile"],
        ["memory", "list", "--user", "ada"],
        ["memory", "show", memory],
        ["memory", "history", memory],
        ["memory", "why", memory],
        ["memory", "related", memory],
        ["memory", "decisions"],
        ["memory", "stats"],
        ["user", "profile", "ada", "--fresh"],
        ["session", "list"],
        ["session", "show", "s1"],
        ["rules", "list"],
        ["rules", "show", "shown"],
        ["rules", "history", "shown"],
        ["rules", "stats"],
        ["rules", "backtest", "shown"],
        ["approvals", "list"],
        ["dead", "list"],
        ["costs"],
        ["keys", "list", "--tenant", TENANT],
    ]


def test_no_command_hands_stored_controls_on_to_a_pipe(imprint: Imprint, reading: list[list[str]]) -> None:
    seen = 0
    for words in reading:
        answer = imprint(*words)
        assert answer.code == 0, (words, answer.err)
        assert not OBEYED.search(answer.out + answer.err), words
        seen += "␛]0;pwned␇" in answer.out
    assert seen >= SHOWING, "what is hidden is shown, not left out"


def test_no_command_hands_stored_controls_on_to_a_terminal(reading: list[list[str]]) -> None:
    seen = 0
    for shown in on_terminals(reading):
        assert not OBEYED.search(RICH.sub("", shown)), shown
        seen += "␛]0;pwned␇" in shown
    assert seen >= SHOWING


def test_json_says_the_same_without_them(imprint: Imprint) -> None:
    answer = imprint("session", "show", "s1", "--json")
    assert not OBEYED.search(answer.out)
    assert answer.json["messages"]["items"][0]["content"] == f"I like cheese {HOSTILE} very much."


def test_a_rule_is_printed_so_that_it_can_be_copied(imprint: Imprint) -> None:
    shown = imprint("rules", "show", "shown").out
    assert not OBEYED.search(shown)
    assert json.loads(shown)["description"] == f"cheese {HOSTILE}"


def test_an_error_that_quotes_what_was_sent_is_harmless(imprint: Imprint) -> None:
    for words in (["session", "show", f"s{HOSTILE}"], ["rules", "show", f"r{HOSTILE}"], ["user", "profile", HOSTILE]):
        answer = imprint(*words)
        assert answer.code == 1
        assert not OBEYED.search(answer.err), words


@given(st.text())
def test_any_text_is_harmless_and_any_json_says_the_same(text: str) -> None:
    assert not OBEYED.search(visible(text))
    assert not OBEYED.search(as_json({"a": text}))
    assert json.loads(as_json({"a": text})) == {"a": text}


def test_every_command_writes_through_the_one_printer(root: Path) -> None:
    written = r"sys\.stdout\.write\((?!as_json|get_completion_script|json\.dumps\(asdict)"
    around = re.compile(rf"rich\.markup import escape|\bConsole\(|\bprint\((?!.*file=)|{written}")
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for part in ("api/cli", "api/stack")
        for path in (root / part).glob("*.py")
        for line in path.read_text().splitlines()
        if around.search(re.sub(r"(out|err|console|_out|_err|said)\.print\(|SafeConsole\(", "", line))
    ]
    assert found == []


SHOWING = 12
"""Commands of which it is certain that they show the hostile text itself."""

RUNNER = """
import json, sys
from api.cli import main
for words in json.load(open(sys.argv[1])):
    sys.argv = ["imprint", *words]
    try:
        main.main()
    except SystemExit as ended:
        print(f"\\n=== ended {ended.code}", flush=True)
"""


def on_terminals(commands: list[list[str]]) -> Iterator[str]:
    """What each command writes to a terminal."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as told:
        json.dump(commands, told)
        told.flush()
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color"}
        command = [sys.executable, "-c", RUNNER, told.name]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        written = bytearray()
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # The last of them has closed it.
                break
            if not part:
                break
            written += part
        os.close(ours)
        assert process.wait(60) == 0, written.decode(errors="replace")
    parts = re.split(r"\r\n=== ended (\d+)\r\n", written.decode())
    assert parts[1::2] == ["0"] * len(commands), written.decode()
    return iter(parts[:-1:2])
