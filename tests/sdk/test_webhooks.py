"""The check of signatures, against the library that signs."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime

import pytest
from imprint_client import SignatureError
from imprint_client.webhooks import verify
from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"o" * 32).decode()
BODY = b'{"order": 7}'


def signed(secret: str = SECRET, tenant: str = "acme") -> dict[str, str]:
    now = datetime.now(UTC)
    signature = Webhook(secret).sign(f"{tenant}:d1", now, BODY.decode())
    stamp = str(int(now.timestamp()))
    return {"Webhook-Id": f"{tenant}:d1", "Webhook-Timestamp": stamp, "Webhook-Signature": signature}


def test_what_the_tenant_signed_is_read() -> None:
    assert verify(BODY, signed(), SECRET, tenant="acme") == {"order": 7}


def test_either_secret_holds_while_one_is_rotated() -> None:
    assert verify(BODY, signed(), f"{OTHER} {SECRET}", tenant="acme") == {"order": 7}


@pytest.mark.parametrize(
    ("body", "headers", "later"),
    [
        (b'{"order": 8}', signed(), 0),
        (BODY, signed(OTHER), 0),
        (BODY, signed(tenant="globex"), 0),
        (BODY, signed(), 3600),
        (BODY, {}, 0),
    ],
    ids=["changed body", "other secret", "other tenant", "too old", "unsigned"],
)
def test_anything_else_is_refused(body: bytes, headers: dict[str, str], later: float) -> None:
    with pytest.raises(SignatureError):
        verify(body, headers, SECRET, tenant="acme", now=time.time() + later)
