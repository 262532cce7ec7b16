"""The record of erasures of a whole installation, and its repetition on a restored one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from api.cli import database, preparation
from core.config import Settings
from core.erasure import ledger
from core.errors import Misconfigured


def lines(settings: Settings, since: datetime) -> Iterator[str]:
    """Yield the lines of what was erased since a day before this time, in all tenants."""
    names = database.tenant_names(settings)
    with database.of_tenants(settings) as pool:
        yield from ledger.record(pool, names, since)


def repeat(settings: Settings, record: Iterable[str], *, in_use: bool = False) -> Counter[str]:
    """Migrate the database and repeat the erasures of a record (`ledger.repeat`)."""
    preparation.upgrade(settings)
    with database.of_tenants(settings) as pool:
        return ledger.repeat(pool, settings, record, in_use=in_use)


def repeat_file(settings: Settings, file: Path, *, in_use: bool = False) -> Counter[str]:
    """Repeat the erasures of a record in a file (`ledger.repeat`). Misconfigured: it cannot be read."""
    try:
        with file.open(encoding="utf-8") as record:
            return repeat(settings, record, in_use=in_use)
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}.") from error
