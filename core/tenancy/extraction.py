"""Choices of a tenant: which statements that extraction finds are kept, and how certain an ending must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.tenancy import settings_rows
from core.types import Json

SETTING: Final = "extraction"
"""Name of the row in `tenant_settings`."""


@dataclass(frozen=True, slots=True)
class ExtractionChoice:
    """Least importance of an extracted statement that is kept, and least certainty of an ending.

    An ending below it becomes a conflict, which people decide. 0: no limit.
    """

    min_importance: float = 0.0
    min_certainty: float = 0.0


def read(tx: Tx, tenant_id: str) -> ExtractionChoice:
    """Return the choice of a tenant."""
    (answer,) = run_together(tx, asking(tenant_id))
    return of_answer(answer)


def asking(tenant_id: str) -> BoundStatement:
    """Return the statement that `of_answer` reads the answer of, to be run together with others."""
    return settings_rows.asking(tenant_id, SETTING)


def of_answer(answer: Sequence[Any]) -> ExtractionChoice:
    """Return the choice from the answer to `asking`."""
    stored = answer[0].value if answer else {}
    return ExtractionChoice(**{field.name: stored.get(field.name, 0.0) for field in fields(ExtractionChoice)})


def view(tx: Tx, tenant_id: str) -> Json:
    """Return the choice as `GET /v1/tenant/extraction` shows it."""
    return asdict(read(tx, tenant_id))


def put(tx: Tx, tenant_id: str, chosen: ExtractionChoice) -> None:
    """Store the choice of a tenant."""
    settings_rows.write(tx, tenant_id, SETTING, asdict(chosen))
