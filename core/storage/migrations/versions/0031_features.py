"""Features of a memory's words for the judge are stored beside the words, and removed with them."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    # Of memories that exist it follows from their texts, as before, when a process meets them.
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
