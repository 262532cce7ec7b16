"""Checks signed webhooks (Standard Webhooks, HMAC-SHA256)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from imprint_client.errors import SignatureError

TOLERANCE = 300
"""Seconds by which the clocks of sender and receiver may differ."""


def verify(body: bytes, headers: Mapping[str, str], secret: str, *, tenant: str, now: float | None = None) -> Any:
    """Return the content of a webhook that this tenant has sent; SignatureError for any other.

    `secret` may be several, separated by spaces, while a secret is rotated.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, stamp, signatures = (sent[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = (time.time() if now is None else now) - int(stamp)
    except (KeyError, ValueError):
        raise SignatureError("The headers webhook-id, webhook-timestamp and webhook-signature are needed") from None
    if abs(age) > TOLERANCE:
        raise SignatureError("The webhook is too old, or the clocks differ")
    if not identifier.startswith(f"{tenant}:"):
        raise SignatureError("Another tenant has sent this")
    content = f"{identifier}.{stamp}.".encode() + body
    expected = [_sign(content, one) for one in secret.split()]
    given = [one.removeprefix("v1,") for one in signatures.split() if one.startswith("v1,")]
    if not any(hmac.compare_digest(mine.encode(), theirs.encode()) for mine in expected for theirs in given):
        raise SignatureError("The signature is wrong")
    return json.loads(body)


def _sign(content: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
