"""Choice of a tenant which of the statements that extraction finds are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.tenancy import settings_rows
from core.types import Json

SETTING: Final = "extraction"
"""Name of the row in `tenant_settings`."""


def least_importance(tx: Tx, tenant_id: str) -> float:
    """Return the importance below which extracted statements are not kept; 0: all are."""
    (answer,) = run_together(tx, asking(tenant_id))
    return least_of(answer)


def asking(tenant_id: str) -> BoundStatement:
    """Return the statement that `least_of` reads the answer of, to be run together with others."""
    return settings_rows.asking(tenant_id, SETTING)


def least_of(answer: Sequence[Any]) -> float:
    """Return the least importance from the answer to `asking`."""
    return float(answer[0].value.get("min_importance", 0)) if answer else 0.0


def view(tx: Tx, tenant_id: str) -> Json:
    """Return the setting as `GET /v1/tenant/extraction` shows it."""
    return {"min_importance": least_importance(tx, tenant_id)}


def put(tx: Tx, tenant_id: str, min_importance: float) -> None:
    """Set the importance below which extracted statements are not kept."""
    settings_rows.write(tx, tenant_id, SETTING, {"min_importance": min_importance})
