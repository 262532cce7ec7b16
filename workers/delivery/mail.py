"""E-mail over SMTP."""

from __future__ import annotations

import smtplib
from email.message import EmailMessage
from typing import Final
from uuid import UUID

from core import smtp
from core.config import Settings
from core.errors import Later, Never

REFUSED_FROM: Final = 500
"""SMTP codes from here on are refusals for good (RFC 5321 §4.2.1)."""


def send(settings: Settings, dispatch_id: UUID, to: str, subject: str, body: str) -> None:
    """Send a message. Later: the server cannot be reached, or refuses for now. Never: it refuses for good."""
    if settings.smtp_url is None:
        raise Never("No mail server is configured. The operator sets IMPRINT_SMTP_URL.")
    try:
        with smtp.log_in(settings.smtp_url.get_secret_value(), settings.webhook_timeout_seconds) as server:
            server.send_message(_message(settings, dispatch_id, to, subject, body))
    except (smtplib.SMTPException, OSError) as error:
        raise _refusal(error) from error


def _message(settings: Settings, dispatch_id: UUID, to: str, subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = settings.smtp_from, to
    # A line break in a subject would begin another header.
    message["Subject"] = " ".join(subject.split())[:200]
    # The same at every attempt, so that a receiver can drop the repeat.
    message["Message-ID"] = f"<{dispatch_id}@imprint>"
    message.set_content(body)
    return message


def _refusal(error: Exception) -> Later | Never:
    """Classify an SMTP error as temporary or permanent."""
    codes = [code for code, _ in error.recipients.values()] if isinstance(error, smtplib.SMTPRecipientsRefused) else []
    codes += [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []
    detail = f"The mail server did not accept the message: {error}"[:300]
    return Never(detail) if codes and min(codes) >= REFUSED_FROM else Later(detail)
