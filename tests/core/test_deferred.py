from __future__ import annotations

import subprocess
import sys

import pytest

from core import deferred


def test_an_object_is_imported_by_the_name_of_its_place() -> None:
    assert deferred.load("core.deferred:load") is deferred.load
    with pytest.raises(AttributeError):
        deferred.load("core.deferred:nothing")


@pytest.mark.parametrize("entry", ["api.app", "workers.processes"])
def test_a_process_without_a_model_does_not_import_the_client_of_one(entry: str) -> None:
    code = f"import sys, {entry}; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=100).returncode == 0
