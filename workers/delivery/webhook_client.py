"""Posts JSON to other services, signed as Standard Webhooks describes; the ledger retries, over hours."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import httpx
from standardwebhooks import Webhook

from core import metrics, tracing
from core.config import Settings
from core.errors import Later, Never
from core.inference.retry_after import retry_after
from core.settings.secret_names import MASK
from core.types import Json
from workers.delivery import address_guard, endpoint_health
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

RETRIABLE: Final = frozenset({408, 425, 429})
"""Temporary refusals, beside all statuses from 500 on."""

RESERVED_HEADERS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers that a rule may not set, like all that begin with `webhook-`: they decide on receiver and signature."""

CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters not allowed in the value of a header (RFC 9110 §5.5)."""

HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Name of a header (RFC 9110 §5.6.2)."""

REFUSAL_CHARACTERS: Final = 300
"""Characters of a refusal's body that are kept."""

INVALID_REQUESTS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL)
"""Errors of requests that httpx refuses to send."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request to another service.

    `who`: the receiver in words, without secrets. `address`: its name in `endpoints`. `signing`: keys that sign the
    request, separated by spaces; None: it is not signed. `secrets`: headers whose values must not be shown.
    """

    who: str
    address: str
    url: httpx.URL
    content: Any
    headers: Mapping[str, Any]
    signing: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)


for _outcome in ("delivered", "retried", "refused"):
    metrics.WEBHOOK_DELIVERIES.labels(_outcome)  # From zero on: a share needs both numbers.


def deliver(tools: Tools, job: Job, parcel: WebhookRequest, result: Json) -> Outcome:
    """Post it. Later: it failed, with a pause. Never: it is refused for good, or disabled after failing for days."""
    return endpoint_health.call_endpoint(
        tools, job, parcel.address, lambda: {"status": _counted(tools.settings, job, parcel)}, result
    )


def message_id(job: Job) -> str:
    """Return the `webhook-id`, the same at every attempt: tenant and dispatch. The signature covers it.

    No tenant's name contains a colon, so the tenant ends at the first one.
    """
    return f"{job.tenant_id}:{job.id}"


def idempotency_key(job: Job) -> str:
    """Return the `idempotency-key`: the same for the same event, rule and action, whatever the dispatch.

    After a restore to an earlier time the router decides again on events, with new dispatches: a receiver knows by this
    what it has got already.
    """
    parts = (job.tenant_id, job.event.source, job.event.id, job.author.rule, job.params)
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def signatures(secrets: str, message_id: str, at: datetime, body: bytes) -> str:
    """Return the `webhook-signature` of Standard Webhooks: one per secret, so that secrets can be rotated."""
    return " ".join(Webhook(_key(secret)).sign(message_id, at, body.decode()) for secret in secrets.split())


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise Never(
            "The signing secret is not base64. Set it (for the tenant `default` IMPRINT_WEBHOOK_SECRET) to `whsec_` "
            "and 32 random bytes in base64."
        ) from error


def _counted(settings: Settings, job: Job, parcel: WebhookRequest) -> int:
    """Post the request, and count what became of it."""
    outcome = "refused"
    with metrics.WEBHOOK.time():
        try:
            status = _post(settings, job, parcel)
            outcome = "delivered"
        except Later:
            outcome = "retried"
            raise
        finally:
            metrics.WEBHOOK_DELIVERIES.labels(outcome).inc()
    return status


def _post(settings: Settings, job: Job, parcel: WebhookRequest) -> int:
    """Post the request; return the status. No error contains the whole address or a secret."""
    body = json.dumps(parcel.content, ensure_ascii=False, separators=(",", ":")).encode()
    timeout = settings.webhook_timeout_seconds
    with tracing.span("POST", "client", attributes=_attributes(parcel.url)) as span:
        # By these the receiver continues the trace; a rule may set others.
        headers = {name.encode(): value.encode() for name, value in tracing.headers().items()}
        headers |= {**_rule_headers(parcel), **_standard_headers(parcel.signing, message_id(job), body)}
        headers.setdefault(b"idempotency-key", idempotency_key(job).encode())
        try:
            with (
                address_guard.client(settings.webhook_private_networks, timeout) as client,
                client.stream("POST", parcel.url, content=body, headers=list(headers.items())) as answer,
            ):
                span.note({"http.response.status_code": answer.status_code})
                if answer.is_success:
                    return answer.status_code
                raise _refusal(parcel.who, answer, _read_refusal(answer, timeout, parcel.secrets.values()))
        except INVALID_REQUESTS as error:
            raise Never(f"{parcel.who} cannot be called: {error}") from error
        except httpx.TransportError as error:
            raise Later(f"{parcel.who} cannot be reached: {type(error).__name__} {error}".rstrip()) from error


def _attributes(url: httpx.URL) -> dict[str, tracing.Value]:
    """Return what a trace says of an address: nothing of its path, its query and its user."""
    port = url.port or (443 if url.scheme == "https" else 80)
    return {"http.request.method": "POST", "server.address": url.host, "server.port": port}


def _rule_headers(parcel: WebhookRequest) -> dict[bytes, bytes]:
    """Return the rule's headers with the values of its secrets, without those whose template found nothing."""
    headers = {b"content-type": b"application/json", b"user-agent": b"imprint"}
    for name, value in {**parcel.headers, **parcel.secrets}.items():
        lower = name.lower()
        if not HEADER.fullmatch(name) or lower in RESERVED_HEADERS or lower.startswith("webhook-"):
            raise Never(f"A rule may not set the header {name!r}. Remove it from the rule.")
        if value is not None:
            headers[lower.encode()] = _header_value(name, as_text(value))
    return headers


def _header_value(name: str, value: str) -> bytes:
    """Return the value as bytes; checked here, because a later error would quote it."""
    if CONTROL.search(value):
        raise Never(f"The value of the header {name!r} contains a line break or another control character.")
    return value.encode()


def _standard_headers(signing: str | None, message: str, body: bytes) -> dict[bytes, bytes]:
    """Return the headers of Standard Webhooks: the id, the time of this attempt, and the signatures."""
    at = datetime.now(UTC)
    headers = {"webhook-id": message, "webhook-timestamp": str(int(at.timestamp()))}
    if signing is not None:
        headers["webhook-signature"] = signatures(signing, message, at, body)
    return {name.encode(): value.encode() for name, value in headers.items()}


def _read_refusal(answer: httpx.Response, seconds: float, secrets: Collection[str]) -> str:
    """Return the beginning of a refusal's body, reading for at most `seconds`.

    A receiver may repeat the request: secrets are masked before the text is cut, so that no half of one remains.
    """
    until, body = time.monotonic() + seconds, b""
    enough = REFUSAL_CHARACTERS + max((len(secret) for secret in secrets), default=0)
    for part in answer.iter_raw():
        body += part
        if len(body) >= enough or time.monotonic() > until:
            break
    text = body[:enough].decode(errors="replace")
    for secret in secrets:
        # Without its scheme, too: a receiver that refuses `Bearer x` often answers that `x` is unknown.
        for spelling in (secret, secret.rpartition(" ")[2]):
            text = text.replace(spelling, MASK)
    return " ".join(text.split())[:REFUSAL_CHARACTERS]


def _refusal(who: str, answer: httpx.Response, body: str) -> Later | Never:
    detail = f"{who} answered {answer.status_code}: {body}".rstrip(": ")
    if answer.status_code in RETRIABLE or answer.is_server_error:
        return Later(detail, after=retry_after(answer.headers))
    if answer.is_redirect:
        return Never(f"{detail}. Redirects are not followed; use the target address.")
    return Never(detail)


def as_text(value: Any) -> str:
    """Return a rendered template as text: one that is a single field has the type of that field."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
