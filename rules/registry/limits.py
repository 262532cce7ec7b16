"""Limits of an installation and a tenant on rules: hosts, queues, channels, risk and cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Self

from core.config import Settings
from core.errors import Problem
from core.events import reserved, type_patterns
from core.screening import secret_scanner
from core.settings import hosts
from core.storage.db import Tx
from core.tenancy import destinations, tenants
from core.tenancy.destinations import Outlets
from rules.document import masking
from rules.document.actions import SecretName
from rules.document.schema import Action, CeleryTask, Emit, Notify, Rule, RunAgent, Webhook
from rules.engine import cost as engine_cost
from rules.problems import escape_step

LOG: Final = "log"
"""Name of the built-in channel: the log of the service."""

NOWHERE: Final = Outlets()


@dataclass(frozen=True, slots=True)
class Allowed:
    """Limits of a rule's reach and cost. The defaults are safe everywhere.

    `outlets`: allowed destinations of the tenant; channels are in addition to `log`. `cost`: maximum cost of one rule
    for one event, in comparisons (`rules.engine.cost`), `total`: of all rules together; `rules` and `alarms`: maximum
    in force.
    """

    outlets: Outlets = NOWHERE
    high_risk: bool = False
    cost: int = 100_000
    total: int = 1_000_000
    rules: int = 1_000
    alarms: int = 30

    @classmethod
    def of(cls, settings: Settings, outlets: Outlets, *, high_risk: bool) -> Self:
        """Return the limits from the settings, the tenant's destinations and its permission for high-risk rules."""
        return cls(
            outlets=outlets,
            high_risk=high_risk,
            cost=settings.rule_cost,
            total=settings.rules_cost,
            rules=settings.rules_per_tenant,
            alarms=settings.alarms_per_tenant,
        )

    @classmethod
    def to(cls, tx: Tx, settings: Settings, tenant_id: str) -> Self:
        """Return a tenant's limits as they are now."""
        high_risk = tenants.allows_high_risk(tx, tenant_id)
        return cls.of(settings, destinations.of(tx, settings, tenant_id), high_risk=high_risk)


def refusals(rule: Rule, allowed: Allowed) -> Iterator[Problem]:
    """Return each violation of the limits by a well-formed rule, with what to do about it."""
    for index, action in enumerate(rule.actions):
        yield from action_refusals(action, f"/actions/{index}", allowed.outlets)
    if rule.risk_level == "high" and rule.action_mode == "auto" and not allowed.high_risk:
        yield Problem(
            "/risk_level",
            "high-risk rules may not run as `auto` in this tenant; set `action_mode` to `approve` or `shadow`, or "
            "let an admin allow it: `imprint rules allow-high-risk on`",
        )
    for pointer, pattern in rule.type_patterns():
        fault = type_patterns.fault(pattern)
        if fault is not None:
            yield Problem(pointer, fault)
    spent = engine_cost.upper_bound(rule)
    if spent.units > allowed.cost:
        yield Problem(
            "/conditions" if spent.parts else "/actions",
            f"one event could cost {spent.units:,} comparisons, {allowed.cost:,} are allowed{_most(spent)}. Simplify "
            f"or split the rule; the operator can raise IMPRINT_RULE_COST",
        )


def action_refusals(action: Action, pointer: str, outlets: Outlets) -> Iterator[Problem]:
    """Return each violation of the limits by an action, which stands at `pointer`."""
    notice = action.as_notice() if isinstance(action, RunAgent) else None
    if notice is not None:
        yield from _beyond(notice, f"{pointer}/params", outlets)
    else:
        yield from _beyond(action, pointer, outlets)


def _beyond(action: Action, pointer: str, allowed: Outlets) -> Iterator[Problem]:
    if isinstance(action, Webhook):
        if not hosts.allows(allowed.hosts, action.url):
            phrase = f"posts to `{hosts.display(action.url)}`"
            yield Problem(f"{pointer}/url", _not_allowed(phrase, allowed.hosts, _HOSTS))
        if secret_scanner.find_secrets(action.url):
            yield Problem(f"{pointer}/url", f"the address holds a credential; send it in a header: {_PUT_IT_AWAY}")
        for name, value in action.headers.items():
            yield from _header(f"{pointer}/headers/{escape_step(name)}", name, value, action.url, allowed)
    elif isinstance(action, CeleryTask) and action.queue not in allowed.queues:
        yield Problem(f"{pointer}/queue", _not_allowed(f"sends to the queue `{action.queue}`", allowed.queues, _QUEUES))
    elif isinstance(action, Notify) and action.channel not in {LOG, *allowed.channels}:
        channels = [LOG, *allowed.channels]
        yield Problem(f"{pointer}/channel", _not_allowed(f"has the channel `{action.channel}`", channels, _CHANNELS))
    elif isinstance(action, Emit) and action.event_type in reserved.TYPES:
        yield Problem(f"{pointer}/event_type", reserved.refusal(action.event_type))


_PUT_IT_AWAY: Final = (
    'store it with `imprint tenant secrets set NAME` (or PUT /v1/tenant/secrets/NAME) and write {"secret": "NAME"}'
)

_BOUND: Final = "an admin of the tenant changes that (`imprint tenant secrets set NAME --host`)"


def _header(pointer: str, name: str, value: str | SecretName, url: str, allowed: Outlets) -> Iterator[Problem]:
    """Refuse a credential in a rule, because rules are read, exported, versioned and shown to approvers."""
    if isinstance(value, SecretName):
        if value.secret not in allowed.secrets:
            put = f"store it with `imprint tenant secrets set {value.secret}`"
            yield Problem(f"{pointer}/secret", f"there is no secret `{value.secret}` in this tenant; {put}")
        elif not allowed.may_send(value.secret, url):
            only = ", ".join(f"`{host}`" for host in allowed.secret_hosts[value.secret])
            yield Problem(f"{pointer}/secret", f"`{value.secret}` may be sent to {only} alone; {_BOUND}")
    elif masking.is_credential(name, value):
        yield Problem(pointer, f"a rule must not contain a credential; {_PUT_IT_AWAY} here")


def _most(spent: engine_cost.Cost) -> str:
    return f"; the dearest: {spent.dearest()}" if spent.parts else ", most of it for templates in the actions"


_HOSTS: Final = (
    "an admin of the tenant adds it (`imprint tenant webhooks set --host`), from those of IMPRINT_WEBHOOK_HOSTS; http "
    "and other ports must be part of the entry, as in `http://hooks.local:8080`"
)
_QUEUES: Final = "the operator allows queues with IMPRINT_CELERY_QUEUES"
_CHANNELS: Final = (
    "an admin of the tenant adds it (`imprint tenant webhooks set --channel`); for the tenant `default` "
    "IMPRINT_NOTIFY_CHANNELS does"
)


def _not_allowed(what: str, allowed_names: Collection[str], way_out: str) -> str:
    there = ", ".join(f"`{name}`" for name in sorted(allowed_names)) or "none"
    return f"no rule of this tenant {what}; allowed are: {there}; {way_out}"
