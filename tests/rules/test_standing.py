"""What an installation and a tenant allow their rules."""

from __future__ import annotations

from typing import Any

import pytest

from core.config import Settings
from core.types import Json
from rules.schema import parse
from rules.standing import Allowed, may_post, refusals
from tests.rules.samples import RUN, a_leaf, a_rule

OPEN = Allowed(hosts=["hooks.example.org", "*.example.com"], queues=["billing"], channels=["ops"], high_risk=True)


def refused(allowed: Allowed, **fields: Any) -> dict[str, str]:
    return {problem.pointer: problem.detail for problem in refusals(a_rule(**fields), allowed)}


def webhook(url: str) -> Json:
    return {"action_type": "webhook", "url": url}


def shout(channel: str) -> Json:
    return {"action_type": "notify", "channel": channel, "template": "x"}


def task(queue: str) -> Json:
    return {"action_type": "celery", "task": "t", "queue": queue}


@pytest.mark.parametrize(
    ("action", "pointer", "setting"),
    [
        (webhook("https://hooks.example.org/x"), "/actions/1/url", "IMPRINT_WEBHOOK_HOSTS"),
        (task("billing"), "/actions/1/queue", "IMPRINT_CELERY_QUEUES"),
        (shout("ops"), "/actions/1/channel", "IMPRINT_NOTIFY_CHANNELS"),
    ],
)
def test_what_leaves_the_house_goes_only_where_the_settings_allow(action: Json, pointer: str, setting: str) -> None:
    found = refused(Allowed(), actions=[RUN, action])
    assert list(found) == [pointer]
    assert setting in found[pointer]
    assert refused(OPEN, actions=[RUN, action]) == {}


def test_what_is_allowed_instead_is_named() -> None:
    assert (
        "allowed are: `*.example.com`, `hooks.example.org`"
        in refused(OPEN, actions=[webhook("https://a.org")])["/actions/0/url"]
    )
    assert "allowed are: `log`, `ops`" in refused(OPEN, actions=[shout("nowhere")])["/actions/0/channel"]


def test_the_log_is_a_channel_everywhere() -> None:
    assert refused(Allowed(), actions=[shout("log")]) == {}


def test_every_flow_and_mode_is_carried_out() -> None:
    flow = {
        "debounce": {"seconds": 1},
        "count": {"threshold": 2},
        "cooldown": {"seconds": 1},
        "throttle": {"limit": 1, "per_seconds": 1},
        "concurrency": {"limit": 1},
        "sample": {"ratio": 0.5},
    }
    means = a_leaf("means", "moving house")
    assert refused(Allowed(), flow=flow, conditions=means, action_mode="approve", risk_level="high") == {}
    assert refused(Allowed(), conditions=a_leaf(">", 3, field="budget.cost_today")) == {}
    nightly = parse({"name": "nightly", "schedule": {"cron": "0 3 * * *"}, "actions": [RUN]})
    assert list(refusals(nightly, Allowed())) == []


@pytest.mark.parametrize(("mode", "is_refused"), [("auto", True), ("approve", False), ("shadow", False)])
def test_high_risk_runs_unasked_only_where_the_tenant_allows_it(mode: str, is_refused: bool) -> None:
    found = refused(Allowed(), risk_level="high", action_mode=mode)
    assert list(found) == (["/risk_level"] if is_refused else [])
    assert all("allow-high-risk" in detail for detail in found.values())
    assert refused(OPEN, risk_level="high", action_mode=mode) == {}


def test_a_rule_above_the_limit_of_cost_is_refused_with_its_dearest_parts() -> None:
    leaves = [a_leaf("exists"), a_leaf("matches", "[ab]*a[ab]{400}c"), a_leaf("matches", "[ab]*a[ab]{300}c")]
    found = refused(Allowed(), conditions={"any": leaves})
    assert "/conditions/any/1 (`matches`)" in found["/conditions"]
    assert "IMPRINT_RULE_COST" in found["/conditions"]
    assert refused(Allowed(cost=1_000_000), conditions={"any": leaves}) == {}


def test_a_rule_that_copies_the_event_a_thousand_times_is_refused() -> None:
    emit = {"action_type": "emit", "event_type": "x", "payload": {"a": ["{{payload}}"] * 1_000}}
    assert "templates" in refused(Allowed(), actions=[emit])["/actions"]


def test_the_settings_say_what_is_allowed(settings: Settings) -> None:
    given = settings.model_copy(
        update={"webhook_hosts": ["a.org"], "celery_queues": ["q"], "rule_cost": 7, "rules_per_tenant": 8}
    )
    allowed = Allowed.of(given, high_risk=True)
    assert (list(allowed.hosts), list(allowed.queues), allowed.high_risk) == (["a.org"], ["q"], True)
    assert (allowed.cost, allowed.rules) == (7, 8)


@pytest.mark.parametrize(
    ("url", "hosts", "may"),
    [
        ("https://a.org/x", ["a.org"], True),
        ("https://A.ORG:8443/x?y#z", ["a.org"], True),
        ("https://a.org./x", ["a.org"], True),
        ("https://b.a.org/", ["a.org"], False),
        ("https://b.a.org/", ["*.a.org"], True),
        ("https://c.b.a.org/", ["*.A.org"], True),
        ("https://a.org/", ["*.a.org"], False),
        ("https://nota.org/", ["*.a.org", "a.org"], False),
        ("https://a.org.evil.com/", ["a.org", "*.a.org"], False),
        ("http://[::1]:80/", ["::1"], True),
        ("http://127.0.0.1/", [], False),
    ],
)
def test_a_host_is_allowed_by_its_whole_name_or_as_a_subdomain(url: str, hosts: list[str], may: bool) -> None:
    assert may_post(url, hosts) is may
