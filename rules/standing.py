"""What an installation and a tenant allow their rules to do: hosts, queues, channels, risk and cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from core.config import Settings
from core.errors import Problem
from rules import cost
from rules.schema import Action, CeleryTask, Notify, Rule, Webhook

LOG: Final = "log"
"""The channel that is always there: the log of the service."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a rule may reach and spend. Without arguments: what is safe everywhere.

    `hosts` may hold `*.example.com`, which takes the subdomains; `channels` come beside `log`; `cost` is the bound of
    one rule for one event, in comparisons (`rules.cost`), `total` that of all rules together; `rules` how many may be
    in force.
    """

    hosts: Collection[str] = ()
    queues: Collection[str] = ()
    channels: Collection[str] = ()
    high_risk: bool = False
    cost: int = 100_000
    total: int = 1_000_000
    rules: int = 1_000

    @classmethod
    def of(cls, settings: Settings, *, high_risk: bool) -> Self:
        """What these settings allow, to a tenant that allows high risk without approval, or does not."""
        return cls(
            hosts=settings.webhook_hosts,
            queues=settings.celery_queues,
            channels=list(settings.notify_channels),
            high_risk=high_risk,
            cost=settings.rule_cost,
            total=settings.rules_cost,
            rules=settings.rules_per_tenant,
        )


def may_post(url: str, hosts: Collection[str]) -> bool:
    """Whether the host of an address is one of `hosts`, or below one that is written `*.example.com`."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    return any(_covers(allowed.lower().rstrip("."), host) for allowed in hosts)


def refusals(rule: Rule, allowed: Allowed) -> Iterator[Problem]:
    """What a well-formed rule does that is not allowed here, each with the way out."""
    for place, action in enumerate(rule.actions):
        yield from _beyond(action, f"/actions/{place}", allowed)
    if rule.risk_level == "high" and rule.action_mode == "auto" and not allowed.high_risk:
        yield Problem(
            "/risk_level",
            "a rule of high risk does not run as `auto` in this tenant; make `action_mode` `approve` or `shadow`, or "
            "let an admin allow it: `imprint rules allow-high-risk on`",
        )
    spent = cost.bound(rule)
    if spent.units > allowed.cost:
        yield Problem(
            "/conditions" if spent.parts else "/actions",
            f"one event may cost {spent.units:,} comparisons, {allowed.cost:,} are allowed{_most(spent)}. Simplify or "
            f"split the rule; whoever runs the installation raises IMPRINT_RULE_COST",
        )


def _beyond(action: Action, pointer: str, allowed: Allowed) -> Iterator[Problem]:
    if isinstance(action, Webhook) and not may_post(action.url, allowed.hosts):
        host = urlsplit(action.url).hostname
        yield Problem(f"{pointer}/url", _closed(f"posts to `{host}`", "IMPRINT_WEBHOOK_HOSTS", allowed.hosts))
    elif isinstance(action, CeleryTask) and action.queue not in allowed.queues:
        said = f"sends to the queue `{action.queue}`"
        yield Problem(f"{pointer}/queue", _closed(said, "IMPRINT_CELERY_QUEUES", allowed.queues))
    elif isinstance(action, Notify) and action.channel not in {LOG, *allowed.channels}:
        said = f"has the channel `{action.channel}`"
        known = [LOG, *allowed.channels]
        yield Problem(f"{pointer}/channel", _closed(said, "IMPRINT_NOTIFY_CHANNELS", known))


def _most(spent: cost.Cost) -> str:
    return f"; the dearest: {spent.dearest()}" if spent.parts else ", most of it for templates in the actions"


def _closed(what: str, setting: str, known: Collection[str]) -> str:
    there = ", ".join(f"`{name}`" for name in sorted(known)) or "none"
    return f"no rule of this installation {what}; allowed are: {there}. Whoever runs it adds to {setting}"


def _covers(allowed: str, host: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed
