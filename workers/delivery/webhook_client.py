"""Posting JSON to other services: signed as Standard Webhooks describes it, retried over hours, never inside."""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import httpx
from standardwebhooks import Webhook

from core.config import Settings
from core.errors import Later, Never
from core.inference.retry_after import retry_after
from core.settings.secret_names import MASK
from core.types import Json
from workers.delivery import address_guard, endpoint_health
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

RETRIABLE: Final = frozenset({408, 425, 429})
"""Refusals that speak of the moment and not of what was sent, beside all from 500 on."""

OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers that a rule may not set, with all that begin with `webhook-`: they decide who gets it and who vouches."""

CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What may not stand in the value of a header (RFC 9110 §5.5)."""

HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name of a header (RFC 9110 §5.6.2)."""

SAID_CHARACTERS: Final = 300
"""How much of a refusal's text is kept."""

NEVER_RIGHT = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL)
"""What httpx refuses to send."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What goes where.

    `who`: the receiver in words, without what may be secret. `address`: its name in `endpoints`. `signing`: the keys
    that sign it, with spaces between; None: it is not signed. `secrets`: headers whose values nobody may be shown.
    """

    who: str
    address: str
    url: httpx.URL
    content: Any
    headers: Mapping[str, Any]
    signing: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)


def deliver(tools: Tools, job: Job, parcel: Parcel, result: Json) -> Outcome:
    """Post it. Later: not now, with when. Never: refused for good, or given up after failing for days."""
    return endpoint_health.reached(
        tools, job, parcel.address, lambda: {**result, "status": _post(tools.settings, message_id(job), parcel)}
    )


def message_id(job: Job) -> str:
    """The `webhook-id`, the same at every attempt: the tenant and the dispatch. It is signed, as all of this header is.

    No name of a tenant holds a colon, so what stands before the first one is the tenant.
    """
    return f"{job.tenant_id}:{job.id}"


def signatures(secrets: str, message_id: str, at: datetime, body: bytes) -> str:
    """The `webhook-signature` of Standard Webhooks: one for each secret, so that a receiver may know old or new."""
    return " ".join(Webhook(_key(secret)).sign(message_id, at, body.decode()) for secret in secrets.split())


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise Never(
            "The signing secret is not base64. Set it (for the tenant `default` IMPRINT_WEBHOOK_SECRET) to `whsec_` "
            "and 32 random bytes in base64."
        ) from error


def _post(settings: Settings, message: str, parcel: Parcel) -> int:
    """The status of what was delivered. No failure names the whole address or a secret."""
    body = json.dumps(parcel.content, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {**_theirs(parcel), **_signed(parcel.signing, message, body)}
    timeout = settings.webhook_timeout_seconds
    try:
        with (
            address_guard.client(settings.webhook_private_networks, timeout) as client,
            client.stream("POST", parcel.url, content=body, headers=list(headers.items())) as answer,
        ):
            if answer.is_success:
                return answer.status_code
            raise _refusal(parcel.who, answer, _beginning(answer, timeout, parcel.secrets.values()))
    except NEVER_RIGHT as error:
        raise Never(f"{parcel.who} cannot be called: {error}") from error
    except httpx.TransportError as error:
        raise Later(f"{parcel.who} cannot be reached: {type(error).__name__} {error}".rstrip()) from error


def _theirs(parcel: Parcel) -> dict[bytes, bytes]:
    """The rule's headers, with the values of the secrets it names; one whose template found nothing is left out."""
    headers = {b"content-type": b"application/json", b"user-agent": b"imprint"}
    for name, value in {**parcel.headers, **parcel.secrets}.items():
        lower = name.lower()
        if not HEADER.fullmatch(name) or lower in OURS or lower.startswith("webhook-"):
            raise Never(f"A rule may not set the header {name!r}. Take it out of the rule.")
        if value is not None:
            headers[lower.encode()] = _header_value(name, as_text(value))
    return headers


def _header_value(name: str, value: str) -> bytes:
    """The value as it is sent; checked here, for what would refuse it later would repeat it in its error."""
    if CONTROL.search(value):
        raise Never(f"The value of the header {name!r} holds a line break or another control character.")
    return value.encode()


def _signed(signing: str | None, message: str, body: bytes) -> dict[bytes, bytes]:
    """What Standard Webhooks asks for: the same id at every attempt, the time of this one, and who vouches for it."""
    at = datetime.now(UTC)
    headers = {"webhook-id": message, "webhook-timestamp": str(int(at.timestamp()))}
    if signing is not None:
        headers["webhook-signature"] = signatures(signing, message, at, body)
    return {name.encode(): value.encode() for name, value in headers.items()}


def _beginning(answer: httpx.Response, seconds: float, secrets: Collection[str]) -> str:
    """The first of what a refusal says; who says it slowly is not listened to for longer than `seconds`.

    A receiver may repeat what it was sent: secrets are masked before anything is cut off, so that no half of one stays.
    """
    until, said = time.monotonic() + seconds, b""
    enough = SAID_CHARACTERS + max((len(secret) for secret in secrets), default=0)
    for part in answer.iter_raw():
        said += part
        if len(said) >= enough or time.monotonic() > until:
            break
    words = said[:enough].decode(errors="replace")
    for secret in secrets:
        # Without its scheme as well: who refuses `Bearer x` often says that it does not know `x`.
        for shown in (secret, secret.rpartition(" ")[2]):
            words = words.replace(shown, MASK)
    return " ".join(words.split())[:SAID_CHARACTERS]


def _refusal(who: str, answer: httpx.Response, said: str) -> Later | Never:
    detail = f"{who} answered {answer.status_code}: {said}".rstrip(": ")
    if answer.status_code in RETRIABLE or answer.is_server_error:
        return Later(detail, after=retry_after(answer.headers))
    if answer.is_redirect:
        return Never(f"{detail}. Redirects are not followed; give the address it leads to.")
    return Never(detail)


def as_text(value: Any) -> str:
    """A template that was nothing but one field took the type of that field."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
