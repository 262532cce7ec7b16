"""Dead letters by their cause, failed attempts with their times, and retries with other parameters."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
