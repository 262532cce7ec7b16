"""Keys derived by every process of an installation, for data that only the service may sign or recognize."""

from __future__ import annotations

import hashlib
import hmac

from core.config import Settings
from core.storage import db


def derive(settings: Settings, purpose: str) -> bytes:
    """Derive 32 bytes for one purpose from the password of the application's role, which clients never see.

    If the role has no password (peer authentication), its URL is used: such a key separates tenants by mistake only, so
    give the role a password wherever others may guess that URL.
    """
    url = db.app_url(settings)
    secret = url.password or url.render_as_string(hide_password=False)
    return hmac.digest(str(secret).encode(), f"imprint {purpose}".encode(), hashlib.sha256)
