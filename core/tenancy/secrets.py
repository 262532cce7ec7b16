"""Secrets of a tenant, by name: they can be written and used, and are never shown.

They are stored encrypted (`core.tenancy.vault`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from sqlalchemy import text

from core.errors import Conflict, Invalid, NotFound, Problem
from core.settings.secret_names import MASK
from core.storage.db import Tx
from core.tenancy.vault import Vault
from core.types import Json

Kind = Literal["header", "channel", "signing"]
"""Purpose of a secret: a webhook header, the address of a channel, or signing."""

SECRETS: Final = 100
"""Most secrets of one kind in one tenant: whoever needs more stores something else here."""

CHARACTERS: Final = 4_096
"""Longest secret, characters: most servers accept no longer header."""

PRINTABLE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""Values that a header may have, without spaces at the ends (RFC 9110 §5.5)."""


@dataclass(frozen=True, slots=True)
class TenantSecret:
    """A secret without its value.

    `hint`: of a channel its scheme and host; of a header the hosts to which it may be sent, with spaces between them.
    """

    name: str
    hint: str | None
    created_at: datetime
    updated_at: datetime
    updated_by: str

    @property
    def hosts(self) -> list[str] | None:
        """The only hosts to which a header's secret may be sent; None: all that the tenant allows."""
        return self.hint.split() if self.hint else None

    def as_json(self) -> Json:
        """Return name, hosts and history of a header's secret, with dots in place of the value."""
        return {
            "name": self.name,
            "value": MASK,
            "hosts": self.hosts,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "updated_by": self.updated_by,
        }


def all_of(tx: Tx, kind: Kind) -> list[TenantSecret]:
    """Return the secrets of a kind, by name."""
    return [TenantSecret(*row) for row in tx.execute(_LIST, {"kind": kind})]


def get(tx: Tx, kind: Kind, name: str) -> TenantSecret:
    """Return one secret without its value; NotFound if there is none of that name."""
    secret = next((secret for secret in all_of(tx, kind) if secret.name == name), None)
    if secret is None:
        raise _unknown(name)
    return secret


def put(
    tx: Tx, vault: Vault, tenant_id: str, kind: Kind, name: str, value: str, *, by: str, hint: str | None = None
) -> TenantSecret:
    """Store a secret, replacing an earlier one of its name, whose hint stays unless another one is given.

    Invalid: it could not be sent in a header.
    """
    if len(value) > CHARACTERS or not PRINTABLE.fullmatch(value):
        detail = f"must be 1 to {CHARACTERS} printable ASCII characters, without spaces at its ends"
        raise Invalid([Problem("/value", detail)])
    tx.execute(_ONE_AT_A_TIME, {"tenant": tenant_id})
    others = tx.execute(_OTHERS, {"kind": kind, "name": name}).scalar_one()
    if others >= SECRETS:
        raise Conflict(f"This tenant has {others} secrets of this kind, and {SECRETS} are allowed. Delete one.")
    sealed = vault.seal(value, _place(tenant_id, kind, name))
    row = {"tenant": tenant_id, "kind": kind, "name": name, "sealed": sealed, "hint": hint, "by": by}
    return TenantSecret(*tx.execute(_PUT, row).one())


def delete(tx: Tx, kind: Kind, name: str) -> None:
    """Delete a secret; NotFound: there is none of that name."""
    if tx.execute(_DELETE, {"kind": kind, "name": name}).rowcount == 0:
        raise _unknown(name)


def keep_only(tx: Tx, kind: Kind, names: Collection[str]) -> None:
    """Delete the secrets of a kind that have none of these names."""
    tx.execute(_KEEP_ONLY, {"kind": kind, "names": list(names)})


def reveal(tx: Tx, vault: Callable[[], Vault], tenant_id: str, kind: Kind, names: Sequence[str]) -> Mapping[str, str]:
    """Return the values of these secrets by name, to be sent and never shown; unknown names are left out.

    `vault` loads the key, which is needed only if there is something to decrypt.
    """
    rows = tx.execute(_SEALED, {"kind": kind, "names": list(names)}).all()
    opened = vault() if rows else None
    return {row.name: opened.open(bytes(row.sealed), _place(tenant_id, kind, row.name)) for row in rows if opened}


def reseal(tx: Tx, vault: Vault, tenant_id: str) -> int:
    """Encrypt all secrets of the tenant with the first key, so that the others can be dropped; return how many."""
    rows = tx.execute(_ALL).all()
    for row in rows:
        location = _place(tenant_id, row.kind, row.name)
        sealed = vault.seal(vault.open(bytes(row.sealed), location), location)
        tx.execute(_RESEAL, {"kind": row.kind, "name": row.name, "sealed": sealed})
    return len(rows)


def _place(tenant_id: str, kind: str, name: str) -> str:
    """Return the place to which a secret is bound. No part contains a slash, so that no two places are equal."""
    return f"{tenant_id}/{kind}/{name}"


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no secret {name!r} in this tenant; `GET /v1/tenant/secrets` lists the existing ones.")


_SHOWN: Final = "name, hint, created_at, updated_at, updated_by"

_LIST = text(f"SELECT {_SHOWN} FROM secrets WHERE kind = :kind ORDER BY name")

_PUT = text(f"""
    INSERT INTO secrets AS s (tenant_id, kind, name, sealed, hint, updated_by)
    VALUES (:tenant, :kind, :name, :sealed, :hint, :by)
    ON CONFLICT (tenant_id, kind, name) DO UPDATE SET
        sealed = excluded.sealed, hint = coalesce(excluded.hint, s.hint), updated_at = clock_timestamp(),
        updated_by = excluded.updated_by
    RETURNING {_SHOWN}
""")

_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('secrets/' || :tenant, 0))")
"""The writers of a tenant's secrets, one after the other: each counts those of the others."""

_OTHERS = text("SELECT count(*) FROM secrets WHERE kind = :kind AND name <> :name")

_DELETE = text("DELETE FROM secrets WHERE kind = :kind AND name = :name")

_KEEP_ONLY = text("DELETE FROM secrets WHERE kind = :kind AND NOT name = ANY(:names)")

_SEALED = text("SELECT name, sealed FROM secrets WHERE kind = :kind AND name = ANY(:names)")

_ALL = text("SELECT kind, name, sealed FROM secrets ORDER BY kind, name FOR UPDATE")

_RESEAL = text("UPDATE secrets SET sealed = :sealed WHERE kind = :kind AND name = :name")
