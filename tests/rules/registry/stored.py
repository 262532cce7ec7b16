"""Rules of a tenant, stored and in force."""

from __future__ import annotations

from core.storage.db import Database
from core.types import Json
from rules.registry import defaults, store
from rules.registry.live_rules import LiveRules
from tests.samples import TENANT


def save(app: Database, document: Json, if_version: int | None = None) -> int:
    with app.tenant(TENANT) as tx:
        return store.save(tx, TENANT, document, author="test", if_version=if_version).version


def names(book: LiveRules, tenant: str = TENANT) -> set[str]:
    return {rule.name for rule, _ in book.of(tenant).rules}


DEFAULTS = {str(document["name"]) for document in defaults.load()}


def refresh(book: LiveRules, queue: Database) -> None:
    with queue.queue() as tx:
        book.refresh(tx)
