"""The position that lets a replica of the service show what this client has written."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping

HEADER = "Imprint-Position"

_FORM = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")


class LastPosition:
    """The furthest position that answers had; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the next request."""
        return {HEADER: self._text} if self._text else {}

    def note(self, sent: Mapping[str, str], received: Mapping[str, str]) -> None:
        """Note the position of an answer, by the headers of its request and its own.

        An answer behind what was sent comes from a log that begins anew, such as that of a restored database.
        """
        answered, before = received.get(HEADER, ""), _bytes(sent.get(HEADER, ""))
        with self._lock:
            known, reached = _bytes(self._text), _bytes(answered)
            if reached > known or 0 < reached < before <= known:
                self._text = answered


def _bytes(position: str) -> int:
    match = _FORM.fullmatch(position)
    return (int(match[1], 16) << 32) + int(match[2], 16) if match else 0
