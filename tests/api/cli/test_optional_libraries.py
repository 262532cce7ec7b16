"""Libraries that others import where they find them are not imported by the fork server, and can be afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.stack import forking
from tests.api.cli.importing import told

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")


def test_libraries_that_nobody_needs_are_not_imported_and_can_be(root: Path) -> None:
    program = """
take_in(SHARED)
print(sorted({*OPTIONAL, "typer"} & set(sys.modules)), all(__import__(name) for name in OPTIONAL))
"""
    assert told(root, program) == "[] True"


def test_a_process_of_a_worker_still_ends_with_its_parent(root: Path) -> None:
    """Celery asks for this signal; billiard hides what goes wrong, so that it might be missing unnoticed."""
    program = """
take_in(SHARED)
from billiard import util
from celery import platforms
platforms.set_pdeathsig("SIGKILL")
print(util.get_pdeathsig() == signal.SIGKILL)
"""
    assert told(root, program) == "True"
