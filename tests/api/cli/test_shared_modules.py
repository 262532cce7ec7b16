"""What the fork server of a stack imports, in a process like it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from api.stack import forking
from tests.api.cli.importing import told

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")


def test_what_processes_share_counts_in_the_folder_that_each_of_them_is_given(root: Path, tmp_path: Path) -> None:
    program = f"""
from core import metrics
assert metrics.SHARED_FOLDER not in os.environ
os.environ[metrics.SHARED_FOLDER] = {str(tmp_path)!r}
if not (pid := os.fork()):
    metrics.EVENTS_ROUTED.inc()
    os._exit(0)
os.waitpid(pid, 0)
print({{file.rpartition("_")[2] for file in os.listdir({str(tmp_path)!r})}} == {{f"{{pid}}.db"}})
"""
    assert told(root, program) == "True"


def test_a_wrong_setting_does_not_end_the_server(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_HTTP_PORT", "many")
    assert told(root, "print('all')") == "all"


FACTS = """
import json
from billiard import util
from celery import platforms
facts = {
    "threads": len(os.listdir("/proc/self/task")),
    "models": sorted({"onnxruntime", "openai", "tokenizers"} & set(sys.modules)),
    "hidden": sorted({*HIDDEN, "typer"} & set(sys.modules)),
}
platforms.set_pdeathsig("SIGKILL")
facts["signal"] = util.get_pdeathsig()
facts["importable"] = all(__import__(name) for name in HIDDEN)
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def facts(root: Path) -> Any:
    """What is so in a process that has imported everything."""
    return json.loads(told(root, FACTS))


def test_the_server_keeps_no_thread_and_loads_no_model(facts: Any) -> None:
    """A fork copies one thread alone: a lock that another one held would be held for good."""
    assert (facts["threads"], facts["models"]) == (1, [])


def test_libraries_that_nobody_needs_are_not_imported_and_can_be(facts: Any) -> None:
    assert (facts["hidden"], facts["importable"]) == ([], True)


def test_a_process_of_a_worker_still_ends_with_its_parent(facts: Any) -> None:
    """Celery asks for this signal; billiard hides what goes wrong, so that it might be missing unnoticed."""
    assert facts["signal"] == signal.SIGKILL
