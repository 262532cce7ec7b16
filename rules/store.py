"""Rules in the database: each save a version, each router with the set in force, never half of an edit."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import structlog
from sqlalchemy import text

from core.db import Tx
from core.errors import Conflict, Invalid, NotFound
from core.types import Json
from rules import defaults, standing
from rules.ruleset import Ruleset
from rules.schema import Rule, parse
from rules.targets import TARGETS

log = structlog.get_logger()

NOBODY = Ruleset([])
"""What decides for a tenant that has no rules."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A rule in force: its document as it was given, and which version that is."""

    name: str
    version: int
    document: Json


@dataclass(frozen=True, slots=True)
class Version:
    """One saved state of a rule; `document` is None where it was deleted."""

    version: int
    document: Json | None
    author: str
    comment: str | None
    at: datetime


def in_force(tx: Tx) -> list[Stored]:
    """All rules of the tenant, by name."""
    rows = tx.execute(text("SELECT name, version, document FROM rules WHERE deleted_at IS NULL ORDER BY name"))
    return [Stored(row.name, row.version, row.document) for row in rows]


def get(tx: Tx, name: str) -> Stored:
    """One rule in force."""
    select = text("SELECT name, version, document FROM rules WHERE name = :name AND deleted_at IS NULL")
    row = tx.execute(select, {"name": name}).one_or_none()
    if row is None:
        raise NotFound(f"There is no rule {name!r}; `GET /v1/rules` lists those in force.")
    return Stored(row.name, row.version, row.document)


def versions(tx: Tx, name: str) -> list[Version]:
    """Every saved state of a rule, newest first."""
    select = text("SELECT * FROM rule_versions WHERE name = :name ORDER BY version DESC")
    return [Version(r.version, r.document, r.author, r.comment, r.at) for r in tx.execute(select, {"name": name})]


def document_of(tx: Tx, tenant_id: str, name: str, version: int) -> Json | None:
    """What a rule said in one of its versions; None: that version was its deletion, or never was."""
    return tx.execute(_DOCUMENT, {"tenant": tenant_id, "name": name, "version": version}).scalar_one_or_none()


def save(
    tx: Tx,
    tenant_id: str,
    document: Json,
    *,
    author: str,
    comment: str | None = None,
    if_version: int | None = None,
) -> Stored:
    """Check a rule and put it in force; saving what is in force already makes no new version.

    Invalid: the document is no rule. Conflict: `if_version` is not the version in force.
    """
    rule = checked(document)
    row = tx.execute(_LOCKED, {"name": rule.name}).one_or_none()
    _require_version(row.version if row and row.deleted_at is None else 0, if_version)
    if row is not None and row.deleted_at is None and row.document == document:
        return Stored(rule.name, row.version, document)
    version = _put(tx, tenant_id, rule.name, document, author, comment)
    return Stored(rule.name, version, document)


def checked(document: object) -> Rule:
    """The rule that a document describes, if it can be put in force; Invalid names all that speaks against it."""
    rule = parse(document, TARGETS)
    problems = list(standing.refusals(rule, cast(Json, document)))
    if problems:
        raise Invalid(problems)
    return rule


def delete(tx: Tx, tenant_id: str, name: str, *, author: str, if_version: int | None = None) -> None:
    """Take a rule out of force; its versions stay."""
    _require_version(get(tx, name).version, if_version)
    _put(tx, tenant_id, name, None, author, "deleted")


def install_defaults(tx: Tx, tenant_id: str) -> None:
    """The rules a new tenant begins with."""
    for document in defaults.load():
        save(tx, tenant_id, document, author="imprint", comment="default rule")


class Book:
    """The rule sets of all tenants as one process knows them, read again when any rule has changed."""

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s
        self._checked = float("-inf")
        self._fingerprint: tuple[int, int] | None = None
        self._sets: dict[str, Ruleset] = {}

    def of(self, tenant_id: str) -> Ruleset:
        """The rules in force for a tenant, as of the last refresh."""
        return self._sets.get(tenant_id, NOBODY)

    def refresh(self, tx: Tx) -> None:
        """Look for edits, at most once a poll; all tenants are read in one statement, so in one state."""
        if time.monotonic() - self._checked < self._poll_s:
            return
        self._checked = time.monotonic()
        # The sum changes with every save even where two of them commit in another order than they were numbered.
        fingerprint = tx.execute(_FINGERPRINT).one()
        if tuple(fingerprint) != self._fingerprint:
            self._sets = self._read(tx)
            self._fingerprint = (fingerprint[0], fingerprint[1])
            log.info("rules.loaded", tenants=len(self._sets))

    def _read(self, tx: Tx) -> dict[str, Ruleset]:
        by_tenant: defaultdict[str, list[tuple[Rule, int]]] = defaultdict(list)
        for row in tx.execute(_ALL):
            try:
                by_tenant[row.tenant_id].append((parse(row.document, TARGETS), row.version))
            except Invalid as error:
                # Saved by another version of the service: the others stay in force.
                log.error(  # noqa: TRY400 - the traceback would say less than the pointers do
                    "rules.unreadable", tenant=row.tenant_id, rule=row.name, error=str(error)
                )
        return {tenant_id: Ruleset(rules) for tenant_id, rules in by_tenant.items()}


def _require_version(actual: int, wanted: int | None) -> None:
    if wanted is not None and wanted != actual:
        raise Conflict(f"You edited version {wanted}, but version {actual} is in force. Read it again.")


def _put(tx: Tx, tenant_id: str, name: str, document: Json | None, author: str, comment: str | None) -> int:
    encoded = None if document is None else json.dumps(document, ensure_ascii=False)
    values = {"tenant": tenant_id, "name": name, "document": encoded}
    version = int(tx.execute(_SAVE, values).scalar_one())
    tx.execute(_VERSION, values | {"version": version, "author": author, "comment": comment})
    return version


_DOCUMENT = text("SELECT document FROM rule_versions WHERE tenant_id = :tenant AND name = :name AND version = :version")

_LOCKED = text("SELECT version, document, deleted_at FROM rules WHERE name = :name FOR UPDATE")

_SAVE = text("""
    INSERT INTO rules AS r (tenant_id, name, version, document, deleted_at)
    VALUES (:tenant, :name, 1, coalesce(cast(:document AS jsonb), '{}'),
            CASE WHEN cast(:document AS text) IS NULL THEN now() END)
    ON CONFLICT (tenant_id, name) DO UPDATE SET
        version = r.version + 1, revision = nextval('rule_revision'), deleted_at = excluded.deleted_at,
        document = CASE WHEN excluded.deleted_at IS NULL THEN excluded.document ELSE r.document END
    RETURNING version
""")

_VERSION = text("""
    INSERT INTO rule_versions (tenant_id, name, version, document, author, comment)
    VALUES (:tenant, :name, :version, cast(:document AS jsonb), :author, :comment)
""")

_FINGERPRINT = text("SELECT count(*), coalesce(sum(revision), 0)::bigint FROM rules")

_ALL = text("SELECT tenant_id, name, version, document FROM rules WHERE deleted_at IS NULL")
