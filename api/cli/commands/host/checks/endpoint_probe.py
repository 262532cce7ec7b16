"""Probe of a model endpoint: one cheap request, no tokens."""

from __future__ import annotations

from typing import Final

import httpx

from core.errors import Misconfigured
from core.settings import faults
from core.settings.faults import MASK, URL_LOGIN

SECONDS: Final = 5.0


def probe(base_url: str, key: str, setting: str) -> str:
    """Request the models of an OpenAI-compatible endpoint. Misconfigured: it does not answer, or refuses the key."""
    address = URL_LOGIN.sub(f"{MASK}@", base_url)
    is_withheld = _is_from_file(setting) and not _is_from_file(_key_of(setting))
    headers = {"Authorization": f"Bearer {key}"} if key and not is_withheld else {}
    try:
        answer = httpx.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Misconfigured(
            f"{address} does not answer ({error}). Check {setting}, and whether the server is running."
        ) from None
    if key and is_withheld and answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
        return f"{address} answers; the key of the environment is not sent to an address of a file in this folder"
    if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        raise Misconfigured(f"{address} refuses the key ({answer.status_code}). Check {_key_of(setting)}.")
    if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Misconfigured(f"{address} answers {answer.status_code}. Check its log.")
    return f"{address} answers"


def _key_of(setting: str) -> str:
    return setting.replace("_BASE_URL", "_API_KEY")


def _is_from_file(setting: str) -> bool:
    """Return whether a setting stands in a file of the working folder, which may be somebody else's repository."""
    return faults.origin(setting.removeprefix(faults.PREFIX).lower()) not in {None, faults.ENVIRONMENT}
