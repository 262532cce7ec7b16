"""What the fork server of a stack imports, in a process like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.stack import forking
from tests.api.cli.importing import told

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")


def test_the_libraries_imported_ahead_read_no_setting_of_a_home(root: Path) -> None:
    """Of our own modules, `core.metrics` has its folder from the environment when it is imported."""
    program = """
take_in(SHARED[: SHARED.index(HOME)])
print(sorted({"prometheus_client", "core.config", "core.metrics", "rules", "workers"} & set(sys.modules)))
"""
    assert told(root, program) == "[]"


def test_the_server_keeps_no_thread_and_loads_no_model(root: Path) -> None:
    """A fork copies one thread alone: a lock that another one held would be held for good."""
    program = """
take_in(SHARED)
print(len(os.listdir("/proc/self/task")), sorted({"onnxruntime", "openai", "tokenizers"} & set(sys.modules)))
"""
    assert told(root, program) == "1 []"
