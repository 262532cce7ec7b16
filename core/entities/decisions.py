"""Decisions by hand: two names are one person, or are not, or which name is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.entities import reading, written
from core.entities.resolution import Decision, Entity
from core.errors import Invalid, NotFound, Problem
from core.events.publishing import Author
from core.language import introductions
from core.storage.db import Tx

MOST: Final = 500
"""Decisions of a user."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """Whose people are decided about, and by whom."""

    tenant_id: str
    user_id: str
    author: Author

    def merge(self, tx: Tx, names: Sequence[str]) -> Entity:
        """Make the bearers of these names one entity. A decision that two of them are not is taken back."""
        forms = written.different({f"/names/{index}": name for index, name in enumerate(names)})
        # To the fullest name: a part of it, and a role, may be another person's as well.
        fullest = max(forms, key=lambda form: (not introductions.is_role(form), len(form.split()), len(form)))
        for other in forms:
            if other != fullest:
                self._put(tx, fullest, other, same=True)
        return self._entity(tx, fullest)

    def separate(self, tx: Tx, name: str, others: Sequence[str]) -> Entity:
        """Make the bearer of a name another one than that of these names, and return them."""
        pointers = {f"/others/{index}": other for index, other in enumerate(others)}
        form, *apart = written.different({"/name": name, **pointers})
        for other in apart:
            self._put(tx, form, other, same=False)
        return reading.directory(tx, self.user_id).find(form) or Entity.known_as(form)

    def show_as(self, tx: Tx, name: str, chosen_name: str) -> Entity:
        """Show the bearer of a name under another one, which becomes one of theirs."""
        form, chosen = written.forms({"/name": name, "/shown_name": chosen_name})
        if introductions.is_role(chosen):
            raise Invalid([Problem("/shown_name", "is a role; give a name")])
        names = self._entity(tx, form).names
        tx.execute(_TAKE_BACK, {"user": self.user_id, "forms": names, "others": [""] * len(names)})
        if form != chosen:
            self._put(tx, form, chosen, same=True)
        self._put(tx, chosen, "", same=True)
        return self._entity(tx, chosen)

    def take_back(self, tx: Tx, name: str, other: str) -> None:
        """Take the decision about two names back. NotFound: there is none."""
        forms = written.different({"/name": name, "/other": other}) if other else [*written.forms({"/name": name}), ""]
        values = {"user": self.user_id, "forms": forms, "others": list(reversed(forms))}
        if not tx.execute(_TAKE_BACK, values).rowcount:
            raise NotFound("Nothing has been decided about these names.")

    def _put(self, tx: Tx, form: str, other: str, *, same: bool) -> None:
        if tx.execute(_COUNT, {"user": self.user_id, "form": form, "other": other}).scalar_one() >= MOST:
            raise Invalid([Problem("/user_id", f"has {MOST} decisions about names already; take some back first")])
        first, second = sorted((form, other)) if other else (form, "")
        author = json.dumps(self.author.as_json(), ensure_ascii=False)
        values = {"tenant": self.tenant_id, "user": self.user_id, "form": first, "other": second}
        tx.execute(_PUT, {**values, "same": same, "author": author})

    def _entity(self, tx: Tx, form: str) -> Entity:
        entity = reading.directory(tx, self.user_id).find(form)
        if entity is None:
            raise NotFound("Nobody is known under this name.")
        return entity


def restore(tx: Tx, tenant_id: str, user_id: str, decision: Decision) -> bool:
    """Store a decision of an archive unless there is one about the same names; return whether it was stored."""
    stated = {"form": decision.form, "other": decision.other, "same": decision.same, "at": decision.at}
    values = {"tenant": tenant_id, "user": user_id, **stated}
    return tx.execute(_RESTORE, values).rowcount == 1


def of_user(tx: Tx, user_id: str) -> Sequence[Any]:
    """Return the decisions about the people of a user, the oldest first."""
    return tx.execute(_ALL, {"user": user_id}).all()


_COUNT = text("""
    SELECT count(*) FROM naming_decisions
    WHERE user_id = :user AND (form, other) NOT IN ((:form, :other), (:other, :form))
""")

_ALL = text("SELECT form, other, same, author, at FROM naming_decisions WHERE user_id = :user ORDER BY at, form, other")

_PUT = text("""
    INSERT INTO naming_decisions (tenant_id, user_id, form, other, same, author)
    VALUES (:tenant, :user, :form, :other, :same, cast(:author AS jsonb))
    ON CONFLICT (tenant_id, user_id, form, other)
    DO UPDATE SET same = excluded.same, author = excluded.author, at = clock_timestamp()
""")

_RESTORE = text("""
    INSERT INTO naming_decisions (tenant_id, user_id, form, other, same, at)
    VALUES (:tenant, :user, :form, :other, :same, :at) ON CONFLICT DO NOTHING
""")

_TAKE_BACK = text("""
    DELETE FROM naming_decisions WHERE user_id = :user AND (form, other) IN (
        SELECT * FROM unnest(cast(:forms AS text[]), cast(:others AS text[])))
""")
