"""Flow control, pure: the stages that a match passes before it acts, in one order for every rule.

    debounce → count → concurrency → cooldown → throttle → acts

The first two collect matches and pass them on together. The others pass or drop a match. There is no clock and no
database: `now` and the states are arguments, so that a router (rows), a backtest (a dictionary, on event time) and
a test behave alike. The caller passes on what is due (`StageState.due_at`) before a later match; a match that
arrives earlier is added to it. Time never decreases within a key: a `now` before the latest one recorded counts as
that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from rules.document.timing import Concurrency, Cooldown, Count, Debounce, Flow, Throttle

STAGES: Final = ("debounce", "count", "concurrency", "cooldown", "throttle")
"""Stages in order; `sample` comes before them, because it needs no state."""

MAX_GATHERED: Final = 10_000
"""Default `max_events` of a debounce: everything it collects is passed to one action."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Matches that continue together: their positions in the log, and the first event of their chains."""

    seqs: tuple[int, ...]
    root_seq: int


@dataclass(frozen=True, slots=True)
class StageState:
    """State of one stage of one rule for one key.

    debounce: the collected matches, in `times` the time of the last, and in `due_at` when they are released. count: the
    collected matches, each with its time. concurrency: in `open` the number of unfinished actions of the key. cooldown,
    throttle: in `times` when it acted. `expires_at`: from then on the state is obsolete.
    """

    opened_at: datetime
    seqs: tuple[int, ...] = ()
    times: tuple[datetime, ...] = ()
    root_seq: int = 0
    due_at: datetime | None = None
    expires_at: datetime | None = None
    open: int = 0


States = MutableMapping[tuple[str, str], StageState | None]
"""State by (stage, key); None: no state."""


@dataclass(frozen=True, slots=True)
class StageResult:
    """Progress of a burst: it acts, or it was gathered or held back by `stage`, or it has come to `stage` as asked."""

    outcome: Literal["acts", "gathered", "held", "comes"]
    stage: str | None
    burst: Burst


def push(
    flow: Flow,
    keys: Mapping[str, str],
    burst: Burst,
    now: datetime,
    states: States,
    *,
    after: str | None = None,
    before: str | None = None,
) -> StageResult:
    """Send a burst through the stages of a rule; `states` is updated.

    It starts after the stage `after`, and stops before the stage `before`, or else acts. A cooldown or a throttle
    records the action only if every stage lets it pass.
    """
    first, end = (
        0 if after is None else STAGES.index(after) + 1,
        len(STAGES) if before is None else STAGES.index(before),
    )
    for stage in STAGES[first:end]:
        part = getattr(flow, stage)
        if part is None:
            continue
        state_key = stage, keys[stage]
        step = _GATHER.get(stage)
        if step is not None:
            states[state_key], released = step(part, states.get(state_key), burst, now)
            if released is None:
                return StageResult("gathered", stage, burst)
            burst = released
        elif not _ADMIT[stage](part, states.get(state_key), now):
            return StageResult("held", stage, burst)
    if before is not None:
        return StageResult("comes", before, burst)
    _note(flow, keys, now, states)
    return StageResult("acts", None, burst)


def release(state: StageState) -> Burst:
    """Return everything that a collecting stage holds, in the order of the log."""
    return Burst(tuple(sorted(state.seqs)), state.root_seq)


def _debounce(
    part: Debounce, held: StageState | None, burst: Burst, now: datetime
) -> tuple[StageState | None, Burst | None]:
    now = _not_before(held, now)
    state = _add(held, burst, now, (now,))
    if len(state.seqs) >= (part.max_events or MAX_GATHERED):
        return None, release(state)
    if held is not None and held.due_at is not None and held.due_at <= now:
        return replace(state, due_at=held.due_at), None
    due_at = now + timedelta(seconds=part.seconds)
    if part.max_wait_seconds is not None:
        due_at = min(due_at, state.opened_at + timedelta(seconds=part.max_wait_seconds))
    return replace(state, due_at=due_at), None


def _count(part: Count, held: StageState | None, burst: Burst, now: datetime) -> tuple[StageState | None, Burst | None]:
    now, window = _not_before(held, now), None
    if part.within_seconds is not None:
        window = timedelta(seconds=part.within_seconds)
        held = _recent(held, now - window)
    times = (held.times if held else ()) + (now,) * len(burst.seqs)
    state = replace(_add(held, burst, now, times), expires_at=now + window if window else None)
    return (None, release(state)) if len(state.seqs) >= part.threshold else (state, None)


def _recent(held: StageState | None, since: datetime) -> StageState | None:
    """Return the part of the state that arrived after `since`."""
    if held is None:
        return None
    kept = [(seq, time) for seq, time in zip(held.seqs, held.times, strict=True) if time > since]
    if not kept:
        return None
    return replace(
        held, seqs=tuple(seq for seq, _ in kept), times=tuple(time for _, time in kept), opened_at=kept[0][1]
    )


def _add(held: StageState | None, burst: Burst, now: datetime, times: tuple[datetime, ...]) -> StageState:
    if held is None:
        return StageState(now, burst.seqs, times, burst.root_seq)
    return StageState(held.opened_at, held.seqs + burst.seqs, times, min(held.root_seq, burst.root_seq))


def _not_before(state: StageState | None, now: datetime) -> datetime:
    """Return `now`, but never before the recorded time: a router that waited may have an older clock."""
    return max(now, state.times[-1]) if state is not None and state.times else now


def _has_room(part: Concurrency, state: StageState | None, _now: datetime) -> bool:
    """Return whether there is room; `queue` and `latest` always pass, and the ledger makes them wait."""
    return part.on_conflict != "skip" or state is None or state.open < part.limit


def _has_cooled(part: Cooldown, state: StageState | None, now: datetime) -> bool:
    return state is None or now >= state.times[-1] + timedelta(seconds=part.seconds)


def _may_again(part: Throttle, state: StageState | None, now: datetime) -> bool:
    """Return when the next action is allowed: at most `limit` in any `per_seconds`."""
    since = _not_before(state, now) - timedelta(seconds=part.per_seconds)
    return state is None or sum(time > since for time in state.times) < part.limit


def _note(flow: Flow, keys: Mapping[str, str], now: datetime, states: States) -> None:
    if flow.concurrency is not None:
        state_key = "concurrency", keys["concurrency"]
        lane = states.get(state_key) or StageState(now)
        states[state_key] = replace(lane, open=lane.open + 1)
    if flow.cooldown is not None:
        rest = timedelta(seconds=flow.cooldown.seconds)
        states["cooldown", keys["cooldown"]] = StageState(now, times=(now,), expires_at=now + rest)
    if flow.throttle is not None:
        state_key = "throttle", keys["throttle"]
        states[state_key] = _count_action(flow.throttle, states.get(state_key), now)


def _count_action(part: Throttle, before: StageState | None, now: datetime) -> StageState:
    now, window = _not_before(before, now), timedelta(seconds=part.per_seconds)
    times = (*(time for time in (before.times if before else ()) if time > now - window), now)
    return StageState(times[0], times=times, expires_at=now + window)


_GATHER: Final[
    Mapping[str, Callable[[Any, StageState | None, Burst, datetime], tuple[StageState | None, Burst | None]]]
] = {"debounce": _debounce, "count": _count}

_ADMIT: Final[Mapping[str, Callable[[Any, StageState | None, datetime], bool]]] = {
    "concurrency": _has_room,
    "cooldown": _has_cooled,
    "throttle": _may_again,
}
