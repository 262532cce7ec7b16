"""Makes dispatches of a rule's actions: in order, held for approval, in their lane."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import structlog

from core.agents import FOR_ACTION
from core.dispatches import dispatches as stored_dispatches
from core.storage.db import Tx
from core.types import DispatchStatus, Event, Json
from rules.document import masking
from rules.document.schema import Action, CeleryTask, Emit, Notify, Rule, RunAgent, Webhook
from rules.expressions import templates
from rules.registry import defaults
from workers.dispatch import sweep
from workers.dispatch.model import NewDispatch, lists_others
from workers.routing import event_spans

log = structlog.get_logger()

Mode = Literal["auto", "approve", "shadow"]


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """Limits of actions: the queue of each agent, the exclusive agents, the time to wait for an approval.

    `characters`: largest size of an action's values as JSON, once its templates are rendered.
    """

    queues: Mapping[str, str]
    alone: Collection[str]
    approval_s: float
    characters: int


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule that acts on an event, with its version and mode, and all events that a flow has gathered.

    `lane`: rule and key by which its `concurrency` is counted. `replay_id`: the replay that has decided it.
    """

    rule: Rule
    version: int
    mode: Mode
    event: Event
    gathered: Sequence[Event] = ()
    lane: str | None = None
    replay_id: UUID | None = None


def gathered_rule(
    rule: Rule, version: int, mode: Mode, events: Sequence[Event], *, root_seq: int, lane_key: str | None
) -> FiredRule:
    """Return a rule that acts on the last of these events, with the highest hop and the lineage of all of them.

    `root_seq`: where their chains begin. `lane_key`: the key of its `concurrency`, if it has any.
    """
    last = replace(
        event_spans.gathering(f"gather {defaults.public_name(rule.name)}", events),
        root_seq=root_seq,
        hop=max(event.hop for event in events),
        lineage=tuple(dict.fromkeys(name for event in events for name in event.lineage)),
    )
    gathers = rule.flow.debounce is not None or rule.flow.count is not None
    gathered = events if gathers else ()
    lane = f"{rule.name}\n{lane_key}" if rule.flow.concurrency and lane_key is not None else None
    return FiredRule(rule, version, mode, last, gathered, lane)


def mode_of(rule: Rule, *, allows_high_risk: bool) -> Mode:
    """Return the mode of a rule: a high-risk one waits for approval unless its tenant lets it run as `auto`."""
    if rule.risk_level == "high" and rule.action_mode == "auto" and not allows_high_risk:
        return "approve"
    return rule.action_mode


def dispatches(shop: ActionLimits, occasion: FiredRule, now: datetime) -> list[NewDispatch]:
    """Return a dispatch per action, with its templates rendered; each waits for the one before.

    Invalid: the rendered values are larger than an action may be.
    """
    made: list[NewDispatch] = []
    for action in occasion.rule.actions:
        made.append(_dispatch(shop, occasion, action, now, made[-1] if made else None))
    return made


def _dispatch(
    shop: ActionLimits, occasion: FiredRule, action: Action, now: datetime, before: NewDispatch | None
) -> NewDispatch:
    rule, event = occasion.rule, occasion.event
    target, values = _agent_and_params(action)
    params = _render(shop, values, event)
    if occasion.gathered:
        # After rendering: ids of events are given by others, and are no templates of this rule.
        params |= {"gathered": [gathered.id for gathered in occasion.gathered]}
    concurrency = rule.flow.concurrency
    dispatch = NewDispatch.on(
        event,
        action.action_type,
        target,
        shop.queues[target],
        params,
        rule=rule.name,
        rule_version=occasion.version,
        alone=f"session:{event.session_id}" if target in shop.alone and event.session_id else None,
        lineage=(*event.lineage, rule.name),
        lane=occasion.lane,
        lane_limit=concurrency.limit if concurrency and occasion.lane is not None else None,
        replay_id=occasion.replay_id,
        lists_others=lists_others(params, event, occasion.gathered),
    )
    return _hold(shop, occasion, dispatch, now, before)


def _render(shop: ActionLimits, values: Json, event: Event) -> Json:
    """Render the values; bounded, because an emitted event may be copied by the next rule many times."""
    params: Json = templates.render(values, event, shop.characters)
    return params


def _hold(
    shop: ActionLimits, occasion: FiredRule, dispatch: NewDispatch, now: datetime, before: NewDispatch | None
) -> NewDispatch:
    """Hold the dispatch for shadow mode, the action before it, or an approval."""
    if occasion.mode == "shadow":
        return replace(dispatch, status=DispatchStatus.SHADOW, lane=None, lane_limit=None)
    if before is not None:
        return replace(dispatch, status=DispatchStatus.HELD, hold="turn", after=before.id)
    if occasion.mode == "approve":
        expires_at = now + timedelta(seconds=shop.approval_s)
        return replace(dispatch, status=DispatchStatus.HELD, hold="approval", expires_at=expires_at)
    return dispatch


def _agent_and_params(action: Action) -> tuple[str, Json]:
    """Return the agent that carries an action out, and its parameters."""
    match action:
        case RunAgent():
            return action.target, dict(action.params)
        case Emit():
            params: Json = {"event_type": action.event_type, "payload": action.payload}
        case Notify():
            params = action.model_dump(exclude={"action_type"}, exclude_none=True, by_alias=True)
        case Webhook():
            params = _webhook(action)
        case CeleryTask():
            params = {"task": action.task, "queue": action.queue, "kwargs": action.kwargs}
    return FOR_ACTION[action.action_type], params


def _webhook(action: Webhook) -> Json:
    """Return the parameters of a webhook, with names of secrets apart: a rendered template must not name one."""
    plain = {name: value for name, value in action.headers.items() if isinstance(value, str)}
    secret = {name: value.secret for name, value in action.headers.items() if not isinstance(value, str)}
    return {"url": action.url, "headers": plain, **({"secrets": secret} if secret else {}), "payload": action.payload}


def dead_letter(event: Event, error: Exception, occasion: FiredRule | None = None) -> NewDispatch:
    """Return the dead letter of an event on which the rules fail, or of a rule that cannot act on it."""
    log.error("router.parked", event_id=event.id, tenant=event.tenant_id, exc_info=error)
    return NewDispatch.on(
        event,
        "decide",
        "rules",
        "io",
        {},
        rule=occasion.rule.name if occasion else None,
        rule_version=occasion.version if occasion else None,
        status=DispatchStatus.DEAD,
        replay_id=occasion.replay_id if occasion else None,
        error=f"The rules could not decide on this event: {type(error).__name__}: {error}",
    )


def ask_for_approval(tx: Tx, made: Sequence[tuple[NewDispatch, Event]]) -> None:
    """Emit `approval.requested` for dispatches that wait for an approval."""
    for dispatch, event in made:
        if dispatch.hold == "approval":
            mine = replace(event, lineage=dispatch.lineage)
            stored_dispatches.ask_for_approval(tx, dispatch, mine, masking.action(dispatch.params))


def clear_lanes(tx: Tx, occasions: Sequence[tuple[FiredRule, Sequence[NewDispatch]]]) -> None:
    """Cancel dispatches that wait in a lane whose rule keeps only the latest, after that one was written."""
    for occasion, made in occasions:
        concurrency = occasion.rule.flow.concurrency
        if concurrency is None or concurrency.on_conflict != "latest" or occasion.lane is None:
            continue
        reason = f"A newer one took its place: {made[0].id}."
        sweep.cancel_waiting(tx, occasion.event.tenant_id, occasion.lane, concurrency.limit, reason)
