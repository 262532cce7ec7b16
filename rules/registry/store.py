"""Rules in the database: each save is a version, each edit an event."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from sqlalchemy import text
from uuid_utils import uuid7

from core.errors import Conflict, Invalid, NotFound
from core.events import log
from core.events.log import Announcement
from core.storage import bounded_rows
from core.storage.db import Tx
from core.types import Json
from rules.document import formatting
from rules.document.schema import Rule, examine, parse
from rules.document.targets import TARGETS
from rules.engine import cost
from rules.registry import defaults, limits
from rules.registry.limits import Allowed

SAFE: Final = Allowed()
"""Limits that every installation allows."""

DEFAULTS_AUTHOR: Final = "imprint"
"""Author of the versions that the service saves."""

Change = Literal["created", "changed", "deleted", "rolled back"]


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule in force: its document as saved, and its version."""

    name: str
    version: int
    document: Json


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A saved version of a rule; `document` is None if it is a deletion.

    `diff`: from the previous version, in the canonical form of `rules.document.formatting`.
    """

    version: int
    document: Json | None
    author: str
    comment: str | None
    at: datetime
    diff: str


@dataclass(frozen=True, slots=True)
class RuleEdit:
    """An edit of a rule: author, reason and the new document. `if_version`: only if that is still the one in force."""

    tenant_id: str
    author: str
    comment: str | None = None
    if_version: int | None = None


def in_force(tx: Tx) -> list[StoredRule]:
    """Return all rules of the tenant, by name."""
    rows = tx.execute(text("SELECT name, version, document FROM rules WHERE deleted_at IS NULL ORDER BY name"))
    return [StoredRule(row.name, row.version, row.document) for row in rows]


def readable(tx: Tx) -> list[tuple[Rule, int]]:
    """Return the rules in force, with their versions, that this version of the service can read.

    Routers ignore the others as well.
    """
    rules = []
    for stored in in_force(tx):
        with suppress(Invalid):
            rules.append((parse(stored.document, TARGETS), stored.version))
    return rules


def get(tx: Tx, name: str) -> StoredRule:
    """Return a rule in force."""
    return get_all(tx, [name])[0]


def get_all(tx: Tx, names: Sequence[str]) -> list[StoredRule]:
    """Return the named rules in force, in the order of the names, in one statement; NotFound names missing ones."""
    select = text("SELECT name, version, document FROM rules WHERE name = ANY(:names) AND deleted_at IS NULL")
    rules_by_name = {
        row.name: StoredRule(row.name, row.version, row.document) for row in tx.execute(select, {"names": [*names]})
    }
    missing = [name for name in names if name not in rules_by_name]
    if missing:
        raise NotFound(f"There is no rule {', '.join(map(repr, missing))}; `GET /v1/rules` lists those in force.")
    return [rules_by_name[name] for name in names]


def versions(tx: Tx, name: str, *, before: int | None = None, limit: int = 50) -> list[StoredVersion]:
    """Return the versions of a rule, newest first; with `before` only those older than that version."""
    return page_of_versions(tx, name, before=before, limit=limit)[0]


def page_of_versions(
    tx: Tx, name: str, *, before: int | None = None, limit: int = 50
) -> tuple[list[StoredVersion], int | None]:
    """Return as many of the same as a page has room for, and the `before` of the next page; None: there is none."""
    rows, is_cut = bounded_rows.read(tx, _VERSIONS, {"name": name, "before": before, "limit": limit})
    history = [StoredVersion(r.version, r.document, r.author, r.comment, r.at, _diff(name, r)) for r in rows]
    return history, history[-1].version if is_cut or len(history) == limit else None


def document_of(tx: Tx, tenant_id: str, name: str, version: int) -> Json | None:
    """Return a rule's document in one of its versions; None: that version was its deletion, or never existed."""
    return tx.execute(_DOCUMENT, {"tenant": tenant_id, "name": name, "version": version}).scalar_one_or_none()


def save(
    tx: Tx,
    tenant_id: str,
    document: Json,
    *,
    author: str,
    comment: str | None = None,
    if_version: int | None = None,
    allowed: Allowed = SAFE,
) -> StoredRule:
    """Check a rule and put it in force; saving the current document again creates no new version.

    Invalid: the document is not a rule, or does something not allowed. Conflict: `if_version` is not the version in
    force, or the tenant has as many rules as it may have.
    """
    rule = check(document, allowed)
    edit = RuleEdit(tenant_id, author, comment, if_version)
    return _replace(tx, rule, document, edit, allowed, None)


def rollback(
    tx: Tx,
    tenant_id: str,
    name: str,
    version: int,
    *,
    author: str,
    comment: str | None = None,
    if_version: int | None = None,
    allowed: Allowed = SAFE,
) -> StoredRule:
    """Put an earlier version in force again, as a new version; also for a deleted rule.

    NotFound: there is no such version, or it was a deletion. Invalid and Conflict: as for a save, because a document
    that was valid when it was saved may no longer be.
    """
    document = document_of(tx, tenant_id, name, version)
    if document is None:
        raise NotFound(
            f"Version {version} of {name!r} does not exist or is its deletion; `/versions` lists the versions."
        )
    rule = check(document, allowed)
    remark = comment or f"back to version {version}"
    return _replace(tx, rule, document, RuleEdit(tenant_id, author, remark, if_version), allowed, "rolled back")


def check(document: object, allowed: Allowed = SAFE) -> Rule:
    """Return the rule in a document if it may be put in force. Invalid: lists every problem."""
    rule, problems = examine(document, TARGETS)
    problems += limits.refusals(rule, allowed) if rule is not None else []
    if problems or rule is None:
        raise Invalid(problems)
    return rule


def delete(
    tx: Tx, tenant_id: str, name: str, *, author: str, comment: str | None = None, if_version: int | None = None
) -> None:
    """Delete a rule; its versions stay."""
    tx.execute(_ONE_AT_A_TIME, {"tenant": tenant_id})
    row = tx.execute(_LOCKED, {"name": name}).one_or_none()
    version = 0 if row is None or row.deleted_at is not None else row.version
    if not version:
        get(tx, name)
    _require_version(version, if_version)
    _put(tx, name, None, 0, RuleEdit(tenant_id, author, comment, if_version), "deleted")


def install_defaults(tx: Tx, tenant_id: str) -> list[str]:
    """Put new default rules in force, and return the names of those that the tenant never had.

    A rule that nobody edited follows its default; edited ones stay as they are, and deleted ones stay deleted.
    """
    tx.execute(_ONE_AT_A_TIME, {"tenant": tenant_id})
    had = {row.name: row for row in tx.execute(_UNEDITED, {"author": DEFAULTS_AUTHOR})}
    fresh = [document for document in defaults.load() if document["name"] not in had]
    stale = [
        document
        for document in defaults.load()
        if (row := had.get(document["name"])) and row.unedited and not formatting.same(row.document, document)
    ]
    for document in [*fresh, *stale]:
        rule = check(document)
        edit = RuleEdit(tenant_id, DEFAULTS_AUTHOR, "default rule")
        _put(tx, rule.name, document, cost.upper_bound(rule).units, edit, "changed" if document in stale else None)
    return [str(document["name"]) for document in fresh]


def _replace(
    tx: Tx, rule: Rule, document: Json, edit: RuleEdit, allowed: Allowed, change: Literal["rolled back"] | None
) -> StoredRule:
    name, units = rule.name, cost.upper_bound(rule).units
    tx.execute(_ONE_AT_A_TIME, {"tenant": edit.tenant_id})
    row = tx.execute(_LOCKED, {"name": name}).one_or_none()
    is_there = row is not None and row.deleted_at is None
    _require_version(row.version if row and is_there else 0, edit.if_version)
    if row and is_there and formatting.same(row.document, document):
        return StoredRule(name, row.version, document)
    _require_room(tx, rule, units, allowed)
    version = _put(tx, name, document, units, edit, change or ("changed" if is_there else "created"))
    return StoredRule(name, version, document)


def _require_version(actual: int, expected: int | None) -> None:
    if expected is not None and expected != actual:
        raise Conflict(f"You edited version {expected}, but version {actual} is in force. Read it again.")


def _require_room(tx: Tx, rule: Rule, units: int, allowed: Allowed) -> None:
    """Raise Conflict if the tenant would have more or more expensive rules than it may."""
    others = tx.execute(_OTHERS, {"name": rule.name}).one()
    if rule.counts is not None and others.alarms >= allowed.alarms:
        raise Conflict(
            f"This tenant has {others.alarms} alarms in force, and {allowed.alarms} are allowed. Delete one (an alarm "
            f"for each source or user replaces several), or raise IMPRINT_ALARMS_PER_TENANT."
        )
    if others.rules >= allowed.rules:
        raise Conflict(
            f"This tenant has {others.rules} rules in force, and {allowed.rules} are allowed. Delete one (a list in "
            f"`event_type`, or `in` with a list, often replaces several rules), or raise IMPRINT_RULES_PER_TENANT."
        )
    total = others.cost + units
    if total > allowed.total:
        raise Conflict(
            f"With this rule, one event could cost this tenant {total:,} comparisons, and {allowed.total:,} are "
            f"allowed. Simplify or delete rules (`POST /v1/rules/validate` shows what each costs), or raise "
            f"IMPRINT_RULES_COST."
        )


def _put(tx: Tx, name: str, document: Json | None, units: int, edit: RuleEdit, change: Change | None) -> int:
    encoded = None if document is None else json.dumps(document, ensure_ascii=False)
    values = {"tenant": edit.tenant_id, "name": name, "document": encoded, "cost": units}
    version = int(tx.execute(_SAVE, values).scalar_one())
    tx.execute(_VERSION, values | {"version": version, "author": edit.author, "comment": edit.comment})
    if change is not None:
        _announce(tx, name, version, edit, change)
    return version


def _announce(tx: Tx, name: str, version: int, edit: RuleEdit, change: Change) -> None:
    payload = {"rule": name, "version": version, "author": edit.author, "comment": edit.comment, "change": change}
    announcement = Announcement(str(uuid7()), "rule.changed", datetime.now(UTC), payload, subject=f"rule:{name}")
    log.announce(tx, edit.tenant_id, [announcement])


def _diff(name: str, row: Any) -> str:
    return formatting.diff(row.previous, row.document, f"{name} v{row.version - 1}", f"{name} v{row.version}")


_DOCUMENT = text("SELECT document FROM rule_versions WHERE tenant_id = :tenant AND name = :name AND version = :version")

_VERSIONS = text("""
    SELECT v.*, p.document AS previous FROM rule_versions v
    LEFT JOIN rule_versions p ON p.tenant_id = v.tenant_id AND p.name = v.name AND p.version = v.version - 1
    WHERE v.name = :name AND (cast(:before AS integer) IS NULL OR v.version < :before)
    ORDER BY v.version DESC LIMIT :limit
""")
"""Each version with the previous one; versions have no gaps."""

_LOCKED = text("SELECT version, document, deleted_at FROM rules WHERE name = :name FOR UPDATE")

_SAVE = text("""
    INSERT INTO rules AS r (tenant_id, name, version, document, cost, deleted_at)
    VALUES (:tenant, :name, 1, coalesce(cast(:document AS jsonb), '{}'), :cost,
            CASE WHEN cast(:document AS text) IS NULL THEN now() END)
    ON CONFLICT (tenant_id, name) DO UPDATE SET
        version = r.version + 1, revision = nextval('rule_revision'), deleted_at = excluded.deleted_at,
        cost = excluded.cost,
        document = CASE WHEN excluded.deleted_at IS NULL THEN excluded.document ELSE r.document END
    RETURNING version
""")

_UNEDITED = text("""
    SELECT r.name, r.document, r.deleted_at IS NULL AND NOT EXISTS (
        SELECT FROM rule_versions v WHERE v.name = r.name AND v.author <> :author) AS unedited
    FROM rules r
""")
"""All rules of a tenant, and whether nobody but the service has saved them."""

_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('rules/' || :tenant, 0))")
"""Serializes the edits of a tenant: each edit checks the total cost of all rules, and two concurrent upgrades install
the default rules once.
"""

_OTHERS = text("""
    SELECT count(*) AS rules, count(*) FILTER (WHERE document ? 'counts') AS alarms,
           coalesce(sum(cost), 0)::bigint AS cost
    FROM rules
    WHERE deleted_at IS NULL AND name <> :name
""")

_VERSION = text("""
    INSERT INTO rule_versions (tenant_id, name, version, document, author, comment, at)
    VALUES (:tenant, :name, :version, cast(:document AS jsonb), :author, :comment, clock_timestamp())
""")
"""The time is that of the statement, not of the transaction, which may have waited for another edit: by it a trace
tells which version a router knew.
"""
