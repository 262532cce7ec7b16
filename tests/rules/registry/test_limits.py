"""What an installation and a tenant allow their rules."""

from __future__ import annotations

from typing import Any

import pytest

from core.config import Settings
from core.errors import Invalid
from core.tenancy.destinations import Outlets
from core.types import Json
from rules.document.schema import parse
from rules.registry import store
from rules.registry.limits import Allowed, refusals
from tests.rules.samples import RUN, a_document, a_leaf, a_rule

OPEN = Allowed(Outlets(["hooks.example.org", "*.example.com"], ["ops"], ["billing"], ["crm"]), high_risk=True)


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


def test_the_settings_say_what_a_rule_may_cost(settings: Settings) -> None:
    given = settings.model_copy(update={"rule_cost": 7, "rules_per_tenant": 8})
    allowed = Allowed.of(given, Outlets(["a.org"]), high_risk=True)
    assert (list(allowed.outlets.hosts), allowed.high_risk) == (["a.org"], True)
    assert (allowed.cost, allowed.rules) == (7, 8)


TELL: Json = {"action_type": "run_agent", "target": "notifier", "params": {"channel": "log", "template": "x"}}


def test_the_notifier_may_be_run_by_its_name_with_what_notify_takes() -> None:
    assert store.check(a_document(actions=[TELL])).actions[0].model_dump()["target"] == "notifier"


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"template": "x"}, "/actions/0/params/channel"),
        ({"channel": "log"}, "/actions/0/params/template"),
        ({"channel": "log", "template": "x", "message": "y"}, "/actions/0/params/message"),
        ({"channel": "closed", "template": "x"}, "/actions/0/params/channel"),
        ({"channel": "{{payload.channel}}", "template": "x"}, "/actions/0/params/channel"),
        ({}, "/actions/0/params/channel"),
    ],
)
def test_what_the_notifier_cannot_tell_is_refused_as_for_notify(params: Json, pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        store.check(a_document(actions=[TELL | {"params": params}]))
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_a_pattern_with_many_stars_is_refused_where_it_stands() -> None:
    many, waits = "*a" * 6, {"debounce": {"seconds": 9, "flush_on": ["session.ended", "*a" * 7]}}
    found = refused(OPEN, event_type=["order.*", many], flow=waits)
    assert list(found) == ["/event_type/1", "/flow/debounce/flush_on/1"]
    assert "has 6 `*`, 5 are allowed" in found["/event_type/1"]
    assert refused(OPEN, event_type="*a*a*a*a*") == {}
