"""Checks of what leaves the service: mail and the mirror."""

from __future__ import annotations

import os
import smtplib
from typing import Final
from urllib.parse import urlsplit

from api.cli.commands.host.checks.installation import Installation
from core import smtp
from core.errors import Misconfigured

SECONDS: Final = 5.0


def has_mail(installation: Installation) -> bool:
    return installation.settings.smtp_url is not None


def mail(installation: Installation) -> str:
    """Log in to the mail server without sending anything."""
    url = installation.settings.smtp_url.get_secret_value() if installation.settings.smtp_url else ""
    server = urlsplit(url)
    where = f"{server.hostname}:{server.port or (465 if server.scheme == 'smtps' else 587)}"
    try:
        with smtp.log_in(url, SECONDS):
            pass
    except smtplib.SMTPAuthenticationError as error:
        raise Misconfigured(f"{where} refuses the login ({error.smtp_code})") from None
    except (smtplib.SMTPException, OSError) as error:
        raise Misconfigured(f"{where} does not answer as a mail server: {type(error).__name__}") from None
    return f"{where} lets us in"


def has_mirror(installation: Installation) -> bool:
    return installation.settings.mirror_dir is not None


def mirror(installation: Installation) -> str:
    """Check that the folder of the mirror can be written, or made."""
    folder = installation.settings.mirror_dir
    if folder is None:
        return "none"
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise Misconfigured(f"{existing} is no folder that this user may write")
    return f"{folder.absolute()} can be written"
