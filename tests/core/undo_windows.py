"""Requests to forget with an undo window, as tests of several rooms need them."""

from __future__ import annotations

from core.forgetting import undo_window
from core.forgetting.undo_window import UndoableForgetting
from core.storage.db import Database
from rules.registry import defaults, store
from tests.samples import TENANT


def allow_undo(app: Database, seconds: object = 3600, **fields: object) -> None:
    """Have requests carried out at once, or as the fields say, with an undo window."""
    rule = next(one for one in defaults.load() if one["name"] == "forget_on_request")
    rule = rule | {"actions": [rule["actions"][0] | {"params": {"undo_seconds": seconds}}], **fields}
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, rule, author="test")


def open_ones(app: Database) -> list[UndoableForgetting]:
    with app.tenant(TENANT) as tx:
        return undo_window.listed(tx, None, 10)
