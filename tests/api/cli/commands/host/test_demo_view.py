from __future__ import annotations

import io

from rich.console import Console

from api.cli.commands.host.demo_view import DemoView
from core.types import Json

STATS: Json = {"events": {}, "decisions": [], "dispatches": [], "memories": []}


def test_a_long_wait_is_told_in_few_lines() -> None:
    out = io.StringIO()
    view = DemoView(Console(file=out), answers=True)
    for tenths in range(2_000):
        view.progress(94, STATS, tenths / 10)
    lines = out.getvalue().splitlines()
    assert 8 <= len(lines) <= 14
