"""Notifiers of other packages: a channel with the address `sms:+351…` uses the notifier `sms`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from core import plugins
from core.config import Settings


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification and the configured address of its channel.

    `id` is the same at every attempt, so that a receiver can drop the repeat. `subject` may be empty.
    """

    id: UUID
    tenant_id: str
    address: str
    subject: str
    text: str


class Notifier(Protocol):
    """Delivers notices to addresses of one scheme."""

    def send(self, notice: Notice) -> None:
        """Deliver a notice. Later: try again. Never: it is refused for good."""


Open = Callable[[Settings], Notifier]
"""Makes a notifier from the settings; entry points of the group `imprint.notifiers` name one."""


def of_address(settings: Settings, address: str) -> Notifier | None:
    """Return the notifier for `address`; None: the service delivers itself. Misconfigured: it cannot be loaded."""
    scheme = address.partition(":")[0].lower()
    if scheme in plugins.OWN[plugins.NOTIFIERS]:
        return None
    notifier: Notifier = plugins.load(plugins.NOTIFIERS, scheme)(settings)
    return notifier
