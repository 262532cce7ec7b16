"""Agent that notifies people: at once, outside quiet hours, or in digests; in the log, by e-mail, or in a chat."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from zoneinfo import ZoneInfo

import httpx
import structlog
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.errors import Misconfigured, Never
from core.events.pending import Effect, Reported
from core.events.publishing import Author
from core.storage.db import Tx
from core.tenancy import destinations
from core.types import Json
from rules.registry.limits import LOG
from workers.delivery import endpoint_health, mail, notifiers, webhook_client
from workers.delivery.notifiers import Notice, Notifier
from workers.delivery.webhook_client import WebhookRequest, as_text
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

log = structlog.get_logger()

NOTICES = 200
"""Notices listed in one digest; further ones are only counted."""


def notify(tools: Tools, job: Job) -> Outcome:
    """Send a notice now, or store it until the rule wants it sent, together with others due then."""
    if "due" in job.params:
        return _send_stored(tools, job)
    template, now = job.params["template"], datetime.now(UTC)
    body = "" if template is None else as_text(template)  # A single field that the event lacks.
    due = due_at(now, job.params.get("quiet"), job.params.get("digest"))
    return _store(tools, job, body, due) if due > now else _send(tools, job, [body])


def due_at(now: datetime, quiet: Json | None, digest: Json | None) -> datetime:
    """Return when a notice of `now` is to be sent.

    `quiet` {from, to, timezone}: not within these hours of the day. `digest` {every_seconds} or {at, timezone}: at the
    end of the period, or at that time of day.
    """
    due = now
    if digest and "every_seconds" in digest:
        every = float(digest["every_seconds"])
        due = datetime.fromtimestamp((now.timestamp() // every + 1) * every, UTC)
    elif digest:
        due = _next(now, digest["at"], digest.get("timezone", "UTC"))
    return _after(due, quiet) if quiet else due


def _after(due: datetime, quiet: Json) -> datetime:
    zone = quiet.get("timezone", "UTC")
    clock = due.astimezone(ZoneInfo(zone)).time()
    begins, ends = time.fromisoformat(quiet["from"]), time.fromisoformat(quiet["to"])
    within = begins <= clock < ends if begins <= ends else clock >= begins or clock < ends
    return _next(due, quiet["to"], zone) if within else due


def _next(now: datetime, clock: str, zone: str) -> datetime:
    """Return the next time after `now` at which clocks of that zone show `clock`."""
    local = now.astimezone(ZoneInfo(zone))
    # In an hour that occurs twice, the current one; in UTC, because times of one zone compare by the clock.
    wall_time = time.fromisoformat(clock).replace(fold=local.fold)
    at = datetime.combine(local.date(), wall_time, local.tzinfo).astimezone(UTC)
    if at <= now:
        at = datetime.combine(local.date() + timedelta(days=1), time.fromisoformat(clock), local.tzinfo).astimezone(UTC)
    return at


def _store(tools: Tools, job: Job, body: str, due: datetime) -> Outcome:
    """Store a notice, and have it sent when it is due by a dispatch of its own, which can be cancelled."""
    _require_channel(tools, job)
    kind = {"channel": job.params["channel"], "digest": f"{job.author.rule}\n{job.params['channel']}"}
    row = {**kind, "tenant": job.tenant_id, "id": uuid7(), "text": body, "due": due, "event": job.event.id}
    sending = {**kind, "due": due.isoformat(), "subject": job.params.get("subject"), "notice": str(row["id"])}

    def write(tx: Tx, _author: Author) -> Json:
        tx.execute(_STORE_NOTICE, row | {"user": job.event.user_id})
        return {"channel": row["channel"], "due_at": due.isoformat()}

    return Outcome(Effect(write), [(job.target, sending)], at=due)


def _send_stored(tools: Tools, job: Job) -> Outcome:
    """Send the stored notices of one kind that are due, together. Each has a dispatch: the first one takes all of them.

    So an id that a receiver knows always meant the same notices, and a failing one is not called once per notice.
    """
    kind = {"channel": job.params["channel"], "mine": f"dispatch:{job.id}"}
    due = {"digest": job.params["digest"], "due": datetime.fromisoformat(job.params["due"])}
    with tools.db.tenant(job.tenant_id) as tx:
        tx.execute(_TAKE, kind | due)
        rows = tx.execute(_TAKEN, kind).all()
    if not rows:
        return Outcome(Reported({"channel": job.params["channel"], "delivered": 0}))
    sent = _send(tools, job, [row.text for row in rows])

    def write(tx: Tx, author: Author) -> Json:
        tx.execute(_SENT, {"ids": [row.id for row in rows]})
        return sent.pending.write(tx, author)

    return Outcome(Effect(write))


def _send(tools: Tools, job: Job, texts: Sequence[str]) -> Outcome:
    """Send texts to the channel: the log, a mailbox, a plug-in, or an address that accepts `{"text": …}` (Slack)."""
    channel, body = job.params["channel"], _digest_text(texts)
    address, signing = _require_channel(tools, job)
    result: Json = {"channel": channel, "delivered": len(texts)}
    if address is None:
        log.info("notification", channel=channel, text=body)
        return Outcome(Reported(result))
    if address.startswith("mailto:"):
        to, subject = _mailbox(address, job.params.get("subject"), body)
        send = partial(mail.send, tools.settings, job.id, to, subject, body)
        return endpoint_health.call_endpoint(tools, job, channel, send, result)
    carrier = _carrier(tools, address)
    if carrier is not None:
        notice = Notice(job.id, job.tenant_id, address, as_text(job.params.get("subject") or ""), body)

        def hand_over() -> None:
            carrier.send(notice)  # A notifier of another package may return something, which is no result.

        return endpoint_health.call_endpoint(tools, job, channel, hand_over, result)
    content = {"text": body, "channel": channel, "event_id": job.event.id}
    parcel = WebhookRequest(f"The channel {channel!r}", channel, httpx.URL(address), content, {}, signing)
    return webhook_client.deliver(tools, job, parcel, result)


def _carrier(tools: Tools, address: str) -> Notifier | None:
    """Return the plug-in for `address`; None: none is needed. Never: it cannot be loaded."""
    try:
        return notifiers.of_address(tools.settings, address)
    except Misconfigured as error:
        raise Never(str(error)) from error


def _require_channel(tools: Tools, job: Job) -> tuple[str | None, str | None]:
    """Return the address of a channel (None: the log) and its signing keys. Never: the tenant has no such channel."""
    name = job.params["channel"]
    if name == LOG:
        return None, None
    with tools.db.tenant(job.tenant_id) as tx:
        address = destinations.channel(tx, tools.settings, job.tenant_id, name)
        signing = destinations.signing_keys(tx, tools.settings, job.tenant_id)
    if address is None:
        raise Never(
            f"There is no channel {name!r} in this tenant, or its address is no longer allowed by "
            f"IMPRINT_WEBHOOK_HOSTS. An admin sets it by `PUT /v1/tenant/webhooks`; for the tenant `default` "
            f"IMPRINT_NOTIFY_CHANNELS does."
        )
    return address, signing


def _mailbox(address: str, subject: Any, body: str) -> tuple[str, str]:
    """Return the recipient, and the subject: the rule's, the channel's, or the first line."""
    parts = urlsplit(address)
    of_channel = parse_qs(parts.query).get("subject", [None])[0]
    first = next(iter(body.splitlines()), "")
    return unquote(parts.path), as_text(subject or "") or of_channel or first


def _digest_text(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    listed = "\n".join(f"• {notice}" for notice in texts[:NOTICES])
    more = f"\n… and {len(texts) - NOTICES} more" if len(texts) > NOTICES else ""
    return f"{len(texts)} notices\n{listed}{more}"


_STORE_NOTICE = text("""
    INSERT INTO notices (tenant_id, id, channel, digest, text, user_id, event_id, due_at)
    VALUES (:tenant, :id, :channel, :digest, :text, :user, :event, :due)
""")

_TAKE = text("""
    UPDATE notices n SET digest = :mine
    WHERE n.channel = :channel AND n.digest = :digest AND n.due_at <= :due AND NOT EXISTS (
        SELECT FROM events e JOIN dispatches d ON d.event_seq = e.seq
        WHERE e.id = n.event_id AND d.status = 'cancelled' AND d.params ->> 'notice' = n.id::text)
""")
"""Without cancelled ones. A concurrent run waits for the lock, and finds them taken."""

_TAKEN = text("SELECT id, text FROM notices WHERE channel = :channel AND digest = :mine ORDER BY at, id")

_SENT = text("DELETE FROM notices WHERE id = ANY(:ids)")
"""Notices stored meanwhile wait for their own dispatch."""
