"""The rules in force in one process: reloaded within one poll of any edit, never partially."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import text

from core.errors import Invalid
from core.storage.db import Tx
from core.storage.multiquery import BoundStatement
from core.storage.vector_spaces import EmbeddingModel
from core.types import Json
from rules.document.schema import Rule, parse
from rules.document.targets import TARGETS
from rules.engine.ruleset import Ruleset
from rules.registry import store

log = structlog.get_logger()

NOBODY = Ruleset([])
"""The rule set of a tenant without rules."""


class LiveRules:
    """The rule sets of all tenants, as of the last refresh.

    `sets`: by tenant, a new mapping after each edit; `as_of`: when the rules were read, by the clock of the database;
    `compares_meanings`: whether any rule has a condition with `means`.
    """

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s
        self._looked_at = float("-inf")
        self._stand: tuple[int, int] | None = None
        self._heard: tuple[int, int] | None = None
        self._stands: dict[str, tuple[int, int]] = {}
        self._without_rules: set[str] = set()
        self.sets: Mapping[str, Ruleset] = {}
        self._high_risk: frozenset[str] = frozenset()
        self.compares_meanings = False
        self._embeddings: Mapping[str, EmbeddingModel] = {}
        self.as_of: datetime | None = None

    def of(self, tenant_id: str) -> Ruleset:
        """Return the rules in force for a tenant, as of the last refresh."""
        return self.sets.get(tenant_id, NOBODY)

    def allows_high_risk(self, tenant_id: str) -> bool:
        """Return whether a tenant's high-risk rules run without approval, as of the last refresh."""
        return tenant_id in self._high_risk

    def embedding(self, tenant_id: str) -> EmbeddingModel | None:
        """Return the embedding model of a tenant, as of the last refresh; None: that of the installation."""
        return self._embeddings.get(tenant_id)

    def rule(self, tx: Tx, tenant_id: str, name: str, version: int) -> Rule | None:
        """Return a version of a rule; None if the rule has been deleted or disabled since."""
        current = self.of(tenant_id).get(name)
        if current is None or not current[0].enabled:
            return None
        if current[1] == version:
            return current[0]
        document = store.document_of(tx, tenant_id, name, version)
        return None if document is None else _readable(document, tenant_id, name)

    @property
    def is_due(self) -> bool:
        """Return whether it is time to look for edits again."""
        return time.monotonic() - self._looked_at >= self._poll_s

    def unseen(self, tenants: Iterable[str]) -> set[str]:
        """Return the tenants whose rules have never been looked for: they may be younger than the last refresh."""
        return set(tenants) - self._stands.keys() - self._without_rules

    def expect(self, tenants: Iterable[str]) -> None:
        """Make the next refresh due; tenants that have no rules then are seen, too."""
        self._looked_at = float("-inf")
        self._without_rules |= set(tenants)

    def refresh(self, tx: Tx) -> None:
        """Look for edits, at most once a poll, and read the rules of the tenants that have some."""
        if self.is_due and not self._hear(tx.execute(_STAND).one()):
            self._read(tx)

    @property
    def asking(self) -> list[BoundStatement]:
        """Statements to run together with others, for `edited`; none before it is time to look for edits again."""
        return [(_STAND, {})] if self.is_due else []

    def edited(self, answers: Sequence[Sequence[Any]]) -> bool:
        """Return by the answers to `asking` whether rules were edited: then the next refresh reads them."""
        return any(not self._hear(stand) for (stand,) in answers)

    def _hear(self, stand: Sequence[Any]) -> bool:
        """Take the row that `_STAND` has found; return False where rules were edited."""
        # The sums change with every save even where two of them commit in another order than they were numbered.
        rules, revisions, high_risk, embeddings, self.as_of = stand
        self._high_risk = frozenset(high_risk)
        self._embeddings = {tenant: EmbeddingModel(*model) for tenant, model in (embeddings or {}).items()}
        self._heard = rules, revisions
        if self._heard == self._stand:
            self._looked_at = time.monotonic()
            return True
        return False

    def _read(self, tx: Tx) -> None:
        stands = {row.tenant_id: (row.rules, row.revisions) for row in tx.execute(_STANDS)}
        edited = sorted(tenant for tenant, stand in stands.items() if self._stands.get(tenant) != stand)
        self.sets = {**self.sets, **_rulesets(tx, edited)}
        self._stands = stands
        self.compares_meanings = any(rules.compares_meanings for rules in self.sets.values())
        self._stand, self._looked_at = self._heard, time.monotonic()
        log.info("rules.loaded", tenants=len(edited))


def _rulesets(tx: Tx, tenants: Sequence[str]) -> dict[str, Ruleset]:
    """Return the rules of these tenants, read in one statement and so consistent."""
    rules_by_tenant: defaultdict[str, list[tuple[Rule, int]]] = defaultdict(list)
    for row in tx.execute(_IN_FORCE, {"tenants": list(tenants)}):
        rule = _readable(row.document, row.tenant_id, row.name)
        if rule is not None:
            rules_by_tenant[row.tenant_id].append((rule, row.version))
    return {tenant: Ruleset(rules_by_tenant[tenant]) for tenant in tenants}


def _readable(document: Json, tenant_id: str, name: str) -> Rule | None:
    """Return a rule as saved; None (logged) if another version of the service saved it."""
    try:
        return parse(document, TARGETS)
    except Invalid as error:
        # The traceback would say less than the pointers do.
        log.error("rules.unreadable", tenant=tenant_id, rule=name, error=str(error))  # noqa: TRY400
        return None


_STAND = text("""
    SELECT count(*), coalesce(sum(revision), 0)::bigint, array(SELECT id FROM tenants WHERE allows_high_risk),
           (SELECT json_object_agg(tenant_id, value -> 'model') FROM tenant_settings WHERE name = 'embedding'),
           statement_timestamp()
    FROM rules
""")

_STANDS = text("SELECT tenant_id, count(*) AS rules, sum(revision)::bigint AS revisions FROM rules GROUP BY tenant_id")

_IN_FORCE = text("""
    SELECT tenant_id, name, version, document FROM rules WHERE deleted_at IS NULL AND tenant_id = ANY(:tenants)
""")
"""Rules of the given tenants; a tenant whose rules were all deleted is absent."""
