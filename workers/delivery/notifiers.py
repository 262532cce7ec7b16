"""Channels that other packages carry: `sms:+351…` goes through the notifier that is called `sms`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from core import plugins
from core.config import Settings


@dataclass(frozen=True, slots=True)
class Notice:
    """What is to be told, and where: the channel's address as it is set.

    `id` is the same at every attempt: a receiver that knows it drops the repeat. `subject` may be empty.
    """

    id: UUID
    tenant_id: str
    address: str
    subject: str
    text: str


class Notifier(Protocol):
    """Carries notices to the addresses of one scheme."""

    def send(self, notice: Notice) -> None:
        """Hand it over. Raises Later: try again; Never: it is refused for good."""


Open = Callable[[Settings], Notifier]
"""Makes a notifier of the settings; what a package names under the entry points `imprint.notifiers`."""


def of_address(settings: Settings, address: str) -> Notifier | None:
    """Who carries notices to `address`; None: the service itself. Raises Misconfigured."""
    scheme = address.partition(":")[0].lower()
    if scheme in plugins.OWN[plugins.NOTIFIERS]:
        return None
    notifier: Notifier = plugins.named(plugins.NOTIFIERS, scheme)(settings)
    return notifier
