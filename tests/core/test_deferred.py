from __future__ import annotations

import subprocess
import sys

import pytest

from core import deferred


def test_an_object_is_imported_by_the_name_of_its_place() -> None:
    assert deferred.load("core.deferred:load") is deferred.load
    with pytest.raises(AttributeError):
        deferred.load("core.deferred:nothing")


def test_processes_without_a_model_do_not_import_the_client_of_one() -> None:
    code = "import sys, api.app, workers.processes; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=100).returncode == 0
