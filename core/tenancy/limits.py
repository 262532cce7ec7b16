"""Reading and setting the limits of a tenant.

Three layers decide a limit: the installation's default (`IMPRINT_TENANT_LIMITS`), what the operator has granted to
the tenant instead (`imprint tenant limits`), and what the tenant itself has chosen (`PUT /v1/tenant/limits`), which can
only be lower than the other two.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from core.errors import Forbidden, Invalid, Problem
from core.settings.limits import TenantLimits
from core.storage.db import Tx
from core.tenancy import settings_rows
from core.types import Json

SETTING: Final = "limits"
"""Name of the row in `tenant_settings`."""


def effective(tx: Tx, tenant_id: str, default: TenantLimits) -> TenantLimits:
    """Return the limits in force for the tenant of this transaction."""
    return _effective(_read(tx, tenant_id), default)


def view(tx: Tx, tenant_id: str, default: TenantLimits) -> Json:
    """Return the limits in force, with what was granted and what was chosen, as `GET /v1/tenant/limits` shows them."""
    stored = _read(tx, tenant_id)
    return {
        "limits": _effective(stored, default).model_dump(),
        "granted": stored.get("granted", {}),
        "chosen": stored.get("chosen", {}),
    }


def choose(tx: Tx, tenant_id: str, chosen: Json, default: TenantLimits) -> None:
    """Set the tenant's own, lower limits; `{}` removes them. Invalid: not limits. Forbidden: higher than granted."""
    checked = _check(chosen)
    stored = _read(tx, tenant_id)
    ceiling = _effective({"granted": stored.get("granted", {})}, default)
    above = [name for name, value in checked.items() if value > getattr(ceiling, name)]
    if above:
        raise Forbidden(
            f"Above what the operator allows: {', '.join(f'{n} (at most {getattr(ceiling, n)})' for n in above)}. "
            "The operator raises limits with `imprint tenant limits`."
        )
    settings_rows.write(tx, tenant_id, SETTING, {**stored, "chosen": checked})


def grant(tx: Tx, tenant_id: str, granted: Json) -> None:
    """Set what the operator grants to the tenant in place of the installation's defaults. Invalid: not limits."""
    settings_rows.write(tx, tenant_id, SETTING, {**_read(tx, tenant_id), "granted": _check(granted)})


def _effective(stored: Json, default: TenantLimits) -> TenantLimits:
    ceiling = default.model_dump() | stored.get("granted", {})
    chosen = stored.get("chosen", {})
    return TenantLimits(**{name: min(value, chosen.get(name, value)) for name, value in ceiling.items()})


def _check(values: Json) -> Json:
    try:
        return TenantLimits.model_validate(values, strict=True).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise Invalid([Problem(f"/{'/'.join(map(str, e['loc']))}", e["msg"]) for e in error.errors()]) from None


def _read(tx: Tx, tenant_id: str) -> dict[str, Any]:
    return dict(settings_rows.read(tx, tenant_id, SETTING) or {})
