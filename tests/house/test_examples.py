"""The example package is installed as a user installs it, and each of its plugins is used where the service uses it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.storage.db import Database
from tests.samples import accept, said

EXAMPLE = Path("docs", "examples", "imprint-example")


@pytest.fixture(scope="session")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built and installed package; nothing is fetched for it."""
    folder = tmp_path_factory.mktemp("installed")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *offline,
        "--target",
        str(folder),
        str(root / EXAMPLE),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return folder


def use(installed: Path, root: Path, code: str, **environment: str) -> Any:
    """What a process of its own prints as JSON, with the package on its path."""
    paths = os.pathsep.join([str(installed), str(root)])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def connected(settings: Settings) -> dict[str, str]:
    """The servers of this run of tests, as environment."""
    assert settings.database_url is not None
    return {
        "IMPRINT_DATABASE_URL": settings.database_url.get_secret_value(),
        "IMPRINT_HOME": str(settings.home),
        "IMPRINT_EMBEDDING": "hash",
    }


def test_the_package_imports_one_module_of_the_service(root: Path) -> None:
    imported = {
        node.module
        for path in (root / EXAMPLE / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None
    }
    assert "imprint.plugins" in imported
    assert not {name.partition(".")[0] for name in imported} & {"api", "core", "rules", "workers"}


def test_everything_that_the_package_claims_can_be_had(installed: Path, root: Path) -> None:
    code = """
import json
from core import plugins
import workers.agents.table
print(json.dumps({group: [str(plugins.load(group, name)) and name for name in plugins.names(group)]
                  for group in plugins.OWN}))
"""
    assert use(installed, root, code) == {
        "imprint.extractors": ["orders"],
        "imprint.retrievers": ["handbook"],
        "imprint.agents": ["order_counter"],
        "imprint.notifiers": ["spool"],
        "imprint.embedders": ["letters"],
    }


def test_the_extractor_reads_orders_and_all_else(installed: Path, root: Path) -> None:
    code = """
import json
from datetime import UTC, datetime
from core.config import Settings
from core.extraction import configured_extractor
from core.extraction.protocol import Window
from core.types import Message
def message(place, role, text):
    return Message("s1", f"m{place}", place, f"e{place}", "Ada", role, text, datetime(2026, 5, 20, tzinfo=UTC))
before = [message(1, "assistant", "Your order B-7001 came.")]
fresh = [message(2, "assistant", "Is it A-9999?"), message(3, "user", "It was A-1042. I live in Lisbon.")]
extractor = configured_extractor.load_extractor(Settings(), None)
reading = extractor.read(Window(before, fresh), print)
print(json.dumps([[c.content, c.evidence[0].message_id] for c in reading.candidates]))
"""
    assert use(installed, root, code, IMPRINT_EXTRACTOR="orders") == [
        ["Ada lives in Lisbon.", "m3"],
        ["Ada has spoken of order A-1042.", "m3"],
    ]


def test_the_retriever_answers_from_its_file(installed: Path, root: Path, tmp_path: Path) -> None:
    texts = {"returns.md#3": "Parcels can be returned within 30 days.", "hours.md": "The shop opens at nine."}
    (tmp_path / "handbook.json").write_text(json.dumps(texts))
    code = """
import json
from core.context import retrievers
from core.config import Settings
from core.context.retrievers import RetrieverQuery
question = RetrieverQuery("acme", "ada", None, "Can parcels be returned?", 3)
found = retrievers.ask(retrievers.open_all(Settings()), question)
print(json.dumps([[name, one.source, one.text, one.score] for name, one in found]))
"""
    found = use(installed, root, code, IMPRINT_EXAMPLE_HANDBOOK=str(tmp_path / "handbook.json"))
    assert found == [["handbook", "returns.md#3", texts["returns.md#3"], 1.0]]


def test_the_agent_runs_by_a_rule_and_tells_by_an_event_what_it_counted(
    installed: Path, root: Path, settings: Settings, app: Database
) -> None:
    accept(app, said("Where is A-1042?"), said("A-1042 and A-1043 are on their way.", role="assistant"))
    code = """
import json
from sqlalchemy import text
from core.storage import db
from core.config import Settings
from rules.registry import store
from tests.samples import TENANT, accept, ended
from tests.works import at_work
rule = {"name": "count_orders", "event_type": "session.ended",
        "actions": [{"action_type": "run_agent", "target": "order_counter"}]}
settings = Settings()
app = db.connect(db.app_url(settings), 1)
with app.tenant(TENANT) as tx:
    store.save(tx, TENANT, rule, author="ann")
accept(app, ended())
with at_work(settings) as works:
    works.settle()
with app.tenant(TENANT) as tx:
    counted = "SELECT payload FROM events WHERE event_type = 'orders.counted'"
    print(json.dumps(tx.execute(text(counted)).scalars().all()))
app.close()
"""
    told = [{"session_id": "s1", "orders": ["A-1042", "A-1043"]}]
    assert use(installed, root, code, **connected(settings)) == told


def test_the_notifier_carries_what_goes_to_its_scheme_once(
    installed: Path, root: Path, settings: Settings, tmp_path: Path
) -> None:
    spool = tmp_path / "desk.jsonl"
    code = """
import json
from dataclasses import replace
from core.config import Settings
from core.tenancy.tenants import DEFAULT
from tests.factories import a_job, tools
from workers.agents import notify as notifying
kit, job = tools(Settings()), a_job(channel="desk", template="A parcel is lost. 包裹丢了。", subject="Parcel")
job = replace(job, tenant_id=DEFAULT)
outcomes = [notifying.notify(kit, job) for _ in range(2)]
with kit.db.tenant(job.tenant_id) as tx:
    print(json.dumps([outcome.pending.write(tx, job.author) for outcome in outcomes]))
"""
    channels = json.dumps({"desk": f"spool:{spool}"})
    answers = use(installed, root, code, IMPRINT_NOTIFY_CHANNELS=channels, **connected(settings))
    assert answers == [{"channel": "desk", "delivered": 1}] * 2
    (line,) = [json.loads(one) for one in spool.read_text(encoding="utf-8").splitlines()]
    assert (line["subject"], line["text"]) == ("Parcel", "A parcel is lost. 包裹丢了。")


def test_a_scheme_that_nobody_carries_is_set_aside_with_those_that_there_are(
    installed: Path, root: Path, settings: Settings
) -> None:
    code = """
import json
from dataclasses import replace
from core.config import Settings
from core.errors import Never
from core.tenancy.tenants import DEFAULT
from tests.factories import a_job, tools
from workers.agents import notify as notifying
try:
    notifying.notify(tools(Settings()), replace(a_job(channel="ann", template="Hello"), tenant_id=DEFAULT))
except Never as error:
    print(json.dumps(str(error)))
"""
    channels = '{"ann": "sms:+351912345678"}'
    refusal = use(installed, root, code, IMPRINT_NOTIFY_CHANNELS=channels, **connected(settings))
    assert refusal == "No package here brings notifiers 'sms'. There are: http, https, log, mailto, spool."


def test_the_embedder_brings_what_is_written_alike_near_each_other(installed: Path, root: Path) -> None:
    code = """
import json
from core.inference import configured_embedder, embedding_model
from core.config import Settings
chosen = Settings()
one, alike, other, chinese = configured_embedder.embedder(chosen).embed(["parcels", "a parcel", "weather", "包裹丢了"])
print(json.dumps([embedding_model.identity(chosen), bool(one @ alike > one @ other), float(chinese @ chinese)]))
"""
    (name, alike, length) = use(installed, root, code, IMPRINT_EMBEDDING="letters")
    assert (name, alike) == (["letters-1", 256], True)
    assert length == pytest.approx(1, abs=1e-5)
